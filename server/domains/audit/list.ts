import { z } from 'zod';
import type { Context, Principal } from '../../operation/context.ts';
import { cutPage, decodeCursor } from '../../operation/cursor.ts';
import { Id } from '../../operation/wire.ts';
import type { Scope } from '../../orchestrator/ports/authority.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { type CsvColumn, writeCsv } from '../../platform/csv.ts';
import { type NameReader, readNames } from './names-store.ts';
import { settleAudit } from './record.ts';
import type { AuditEntry, ExportAuditInput, ListAuditInput, ListAuditOutput } from './schemas.ts';
import { readSessions, type Session } from './session-store.ts';
import { type AuditFilter, listAuditEntries, type NamedAuditEntry, pagesOfAuditEntries } from './store.ts';

const AuditCursor = z.tuple([Id]);

/**
 * GET /v1/audit-log: the operations in the workspace, newest first. The saves of an editing session are one entry
 * unless each is requested. The log itself has an entry for every save: no entry is ever changed, whichever processes
 * write the saves.
 */
export async function listAudit(
  { principal, services }: Context,
  { limit, cursor, saves, ...filters }: z.output<typeof ListAuditInput>,
): Promise<z.input<typeof ListAuditOutput>> {
  const { tenantId } = principal;
  const after = decodeCursor(AuditCursor, cursor)?.[0] ?? null;
  await settleAudit(services);
  const sessions = saves === 'sessions';
  const filter = { ...toFilter(filters), sessions };
  const found = await listAuditEntries(services.pool, tenantId, filter, { after, limit: limit + 1 });
  const page = cutPage(found, limit, ({ id }) => [id]);
  const ids = page.rows.map(({ id }) => id);
  const [joined, names] = await Promise.all([
    sessions ? readSessions(services.pool, tenantId, ids, filter.from) : new Map<string, Session>(),
    readNames(
      services.pool,
      readerOf(principal),
      page.rows.flatMap(({ target }) => Object.values(target)),
    ),
  ]);
  return {
    entries: page.rows.map(entry => ({ ...toWire(entry, names), session: toSession(joined.get(entry.id)) })),
    next_cursor: page.next_cursor,
  };
}

/** Returns the reader of the log: a token gets no name of a thing that it may not read. */
function readerOf({ tenantId, projectId, userId, credential }: Principal): NameReader {
  const hasScope = (scope: Scope) => credential.kind === 'session' || credential.scopes.includes(scope);
  const may = { read: hasScope('workflow:read'), chat: hasScope('ai:use'), memory: hasScope('memory:use') };
  return { tenantId, projectId, userId, may };
}

function toSession(session: Session | undefined): z.input<typeof AuditEntry>['session'] {
  // A single save is an entry like any other.
  if (session === undefined || session.saves < 2) return null;
  const first = session.firstRevision;
  return {
    saves: session.saves,
    first_at: isoTimestamp(session.firstAt.getTime()),
    from_revision: first === null ? null : first - 1,
    to_revision: session.lastRevision,
  };
}

/** GET /v1/audit-log/export: the same as CSV. Throws AppError 422 `too_many_rows`. */
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

const toWire = (
  entry: NamedAuditEntry,
  names: ReadonlyMap<string, string>,
): Omit<z.input<typeof AuditEntry>, 'session'> => ({
  id: entry.id,
  at: isoTimestamp(entry.at.getTime()),
  user: { id: entry.userId, name: entry.userName, email: entry.userEmail },
  token: entry.patId === null ? null : { id: entry.patId, name: entry.patName },
  surface: entry.surface,
  operation: entry.operation,
  action: entry.action,
  target: entry.target,
  names: Object.fromEntries(
    Object.entries(entry.target).flatMap(([key, id]) => {
      const name = names.get(id);
      return name === undefined ? [] : [[key, name]];
    }),
  ),
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
