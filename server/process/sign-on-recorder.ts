import { recordAudit } from '../domains/audit/record.ts';
import type { RecordSignOn } from '../domains/identity/sign-on/sign-on.ts';
import type { Services } from '../operation/services.ts';
import { newId } from '../platform/ids.ts';

/** Returns what writes sign-ins and sign-outs of OpenID Connect into the audit log, which is another domain than identity. */
export function createSignOnRecorder(services: Services): RecordSignOn {
  return ({ tenantId, userId, operation, outcome, address }) =>
    recordAudit(services, {
      tenantId,
      userId,
      operation,
      outcome,
      projectId: null,
      patId: null,
      surface: 'rest',
      action: 'oidc',
      target: {},
      requestId: newId(),
      clientAddress: address,
    });
}
