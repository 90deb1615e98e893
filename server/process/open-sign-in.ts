import { recordAudit } from '../domains/audit/record.ts';
import { type ConsoleIdentity, createConsoleIdentity } from '../domains/identity/console.ts';
import type { IdentityKeys } from '../domains/identity/keys.ts';
import type { RecordSignOn } from '../domains/identity/sign-on/parts.ts';
import { startLeaderJob } from '../operation/leader-job.ts';
import type { Services } from '../operation/services.ts';
import { type Alarm, MINUTE_MS } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';

/** Creates what the console signs in with, and starts the job that asks the issuer about people who signed in there. */
export function openSignIn(services: Services, keys: IdentityKeys, alarm: Alarm): ConsoleIdentity {
  const identity = createConsoleIdentity(services, keys, createSignOnRecorder(services));
  const { signOn } = identity;
  if (signOn === null) return identity;
  const { logger, orchestrator } = services;
  const late = 'the people of single sign-on were not checked; trying again in a minute';
  const job = startLeaderJob(
    {
      alarm,
      logger,
      late,
      level: 'warn',
      leading: () => orchestrator.leadsJobs(),
      everyMs: MINUTE_MS,
      retryMs: MINUTE_MS,
    },
    async closing => {
      await signOn.recheck(closing);
      return undefined;
    },
  );
  const close = async () => {
    await job.close();
    await signOn.close();
  };
  return { ...identity, signOn: { ...signOn, close } };
}

/** Returns what writes sign-ins and sign-outs of OpenID Connect into the audit log, which is another domain than identity. */
function createSignOnRecorder(services: Services): RecordSignOn {
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
