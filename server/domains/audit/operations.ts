import { z } from 'zod';
import { operation } from '../../operation/operation.ts';
import { exportAudit, listAudit } from './list.ts';
import * as schema from './schemas.ts';

/** The operations that read the audit log; `invoke` writes it. */
export const auditOperations = [
  operation({
    name: 'audit_log_list',
    method: 'GET',
    path: '/v1/audit-log',
    status: 200,
    tag: 'Audit log',
    summary: 'List the operations that may have changed something, newest first',
    description: `Of the whole workspace: every operation that is not read-only and came with a credential, once, with its outcome.
Requests whose credential was not accepted are not in it, nor are deliveries of webhooks, which have a log of their own. Saves of a draft by the
same person or token, each at most 15 minutes after the one before, are one entry, with \`session\`; \`saves=each\` lists them all, as the export does.`,
    access: 'tenant_admin',
    scope: 'pat:manage',
    input: schema.ListAuditInput,
    output: schema.ListAuditOutput,
    run: listAudit,
  }),
  operation({
    name: 'audit_log_export',
    method: 'GET',
    path: '/v1/audit-log/export',
    status: 200,
    tag: 'Audit log',
    summary: 'Download the audit log as CSV',
    description: 'At most 100,000 entries: beyond that 422, and a shorter period will do.',
    access: 'tenant_admin',
    scope: 'pat:manage',
    input: schema.ExportAuditInput,
    output: z.string(),
    produces: 'text/csv',
    run: exportAudit,
  }),
] as const;
