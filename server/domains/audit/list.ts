import { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { cutPage, decodeCursor } from '../../contract/cursor.ts';
import { Id } from '../../contract/wire.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { type CsvColumn, writeCsv } from '../../platform/csv.ts';
import { settleAudit } from './record.ts';
import type { AuditEntry, ExportAuditInput, ListAuditInput, ListAuditOutput } from './schemas.ts';
import { type AuditFilter, listAuditEntries, type NamedAuditEntry, pagesOfAuditEntries } from './store.ts';

const AuditCursor = z.tuple([Id]);

/** GET /v1/audit-log: the operations in the workspace, newest first. */
export async function listAudit(
  { principal, services }: Context,
  { limit, cursor, ...filters }: z.output<typeof ListAuditInput>,
): Promise<z.input<typeof ListAuditOutput>> {
  const after = decodeCursor(AuditCursor, cursor)?.[0] ?? null;
  await settleAudit(services);
  const found = await listAuditEntries(services.pool, principal.tenantId, toFilter(filters), {
    after,
    limit: limit + 1,
  });
  const page = cutPage(found, limit, ({ id }) => [id]);
  return { entries: page.rows.map(toWire), next_cursor: page.next_cursor };
}

/** GET /v1/audit-log/export: the same as CSV. AppError 422 `too_many_rows`. */
export async function exportAudit(
  { principal, services }: Context,
  filters: z.output<typeof ExportAuditInput>,
): Promise<string> {
  await settleAudit(services);
  return writeCsv(columns, pagesOfAuditEntries(services.pool, principal.tenantId, toFilter(filters)));
}

function toFilter(input: z.output<typeof ExportAuditInput>): AuditFilter {
  const time = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  const { user_id: user, operation, target, outcome } = input;
  return { from: time(input.from), to: time(input.to), user, operation, target, outcome };
}

const toWire = (entry: NamedAuditEntry): z.input<typeof AuditEntry> => ({
  id: entry.id,
  at: isoTimestamp(entry.at.getTime()),
  user: { id: entry.userId, name: entry.userName, email: entry.userEmail },
  token: entry.patId === null ? null : { id: entry.patId, name: entry.patName },
  surface: entry.surface,
  operation: entry.operation,
  action: entry.action,
  target: entry.target,
  outcome: entry.outcome,
  project_id: entry.projectId,
  request_id: entry.requestId,
  client_address: entry.clientAddress,
});

const columns: CsvColumn<NamedAuditEntry>[] = [
  ['at', entry => isoTimestamp(entry.at.getTime())],
  ['user_email', entry => entry.userEmail],
  ['user_id', entry => entry.userId],
  ['token', entry => entry.patName],
  ['token_id', entry => entry.patId],
  ['surface', entry => entry.surface],
  ['operation', entry => entry.operation],
  ['action', entry => entry.action],
  ['target', entry => JSON.stringify(entry.target)],
  ['outcome', entry => entry.outcome],
  ['project_id', entry => entry.projectId],
  ['request_id', entry => entry.requestId],
  ['client_address', entry => entry.clientAddress],
  ['id', entry => entry.id],
];
