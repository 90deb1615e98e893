import type { Pool } from 'pg';
import type { Context } from '../../operation/context.ts';
import { camelCased } from '../../platform/postgres/rows.ts';
import { isSave, ofSameSession, PAUSE } from './session-store.ts';

/** One operation that may have changed something. */
export type AuditEntry = {
  tenantId: string;
  id: string;
  at: Date;
  projectId: string | null;
  userId: string;
  /** The token that was used; null: a session. */
  patId: string | null;
  surface: Context['surface'];
  operation: string;
  /** The command of an operation that has several (start, stop, …). */
  action: string | null;
  /** Ids by the names of the parameters. */
  target: Record<string, string>;
  /** `ok`, or the code of the error. */
  outcome: string;
  requestId: string;
  clientAddress: string | null;
};

/** An entry with the present names of its ids; null if they no longer exist. */
export type NamedAuditEntry = AuditEntry & {
  userName: string | null;
  userEmail: string | null;
  patName: string | null;
};

/** Restricts a list; times are ms since the epoch, `from` inclusive, `to` exclusive. */
export type AuditFilter = {
  from?: number | undefined;
  to?: number | undefined;
  user?: string | undefined;
  operation?: string | undefined;
  /** An id that the target contains. */
  target?: string | undefined;
  outcome?: 'ok' | 'refused' | undefined;
  /** Only the last save of each editing session of a draft. */
  sessions?: boolean;
};

/**
 * Inserts entries, of any tenants. The commit does not wait for the disk: it survives the death of any
 * process, and a machine that fails loses at most the entries of its last second. Waiting would add a flush to
 * every request that writes.
 */
export async function insertAuditEntries(pool: Pool, entries: readonly AuditEntry[]): Promise<void> {
  const column = <K extends keyof AuditEntry>(key: K) => entries.map(entry => entry[key]);
  await pool.query({
    name: 'insert_audit_entries',
    text: `WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true) AS done)
           INSERT INTO audit_entries (tenant_id, id, at, project_id, user_id, pat_id, surface, operation, action, target, outcome,
             request_id, client_address)
           SELECT e.* FROM relaxed, unnest($1::text[], $2::uuid[], $3::timestamptz[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[],
             $8::text[], $9::text[], $10::json[], $11::text[], $12::text[], $13::text[]) e
           WHERE relaxed.done IS NOT NULL`,
    values: [
      column('tenantId'),
      column('id'),
      column('at'),
      column('projectId'),
      column('userId'),
      column('patId'),
      column('surface'),
      column('operation'),
      column('action'),
      entries.map(({ target }) => JSON.stringify(target)),
      column('outcome'),
      column('requestId'),
      column('clientAddress'),
    ],
  });
}

/** Returns entries of a workspace, newest first, from `after` (an id) on. */
export async function listAuditEntries(
  pool: Pool,
  tenantId: string,
  filter: AuditFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<NamedAuditEntry[]> {
  const values: unknown[] = [tenantId];
  const where = ['e.tenant_id = $1'];
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined && value !== null) where.push(condition(`$${values.push(value)}`));
  };
  add(p => `e.id < ${p}::uuid`, after);
  add(p => `e.at >= ${p}::timestamptz`, filter.from === undefined ? undefined : new Date(filter.from));
  add(p => `e.at < ${p}::timestamptz`, filter.to === undefined ? undefined : new Date(filter.to));
  add(p => `e.user_id = ${p}::uuid`, filter.user);
  add(p => `e.operation = ${p}`, filter.operation);
  add(p => `EXISTS (SELECT FROM json_each_text(e.target) t WHERE t.value = ${p})`, filter.target);
  if (filter.outcome !== undefined) where.push(`e.outcome ${filter.outcome === 'ok' ? '=' : '<>'} 'ok'`);
  if (filter.sessions) {
    const end = filter.to === undefined ? '' : `AND n.at < $${values.push(new Date(filter.to))}::timestamptz`;
    where.push(`NOT (${isSave('e')} AND EXISTS (
      SELECT FROM audit_entries n WHERE ${ofSameSession('n', 'e')} AND n.id > e.id AND n.at <= e.at + ${PAUSE} ${end}))`);
  }
  const { rows } = await pool.query(
    `SELECT e.*, u.name AS user_name, u.email AS user_email, p.display_name AS pat_name
     FROM (SELECT * FROM audit_entries e WHERE ${where.join(' AND ')} ORDER BY e.id DESC LIMIT $${values.push(limit)}) e
     LEFT JOIN users u ON u.id = e.user_id
     LEFT JOIN pats p ON p.id = e.pat_id AND p.tenant_id = e.tenant_id
     ORDER BY e.id DESC`,
    values,
  );
  return camelCased<NamedAuditEntry>(rows);
}

/** Yields all matching entries, in pages of `size`. */
export async function* pagesOfAuditEntries(
  pool: Pool,
  tenantId: string,
  filter: AuditFilter,
  size = 5_000,
): AsyncGenerator<NamedAuditEntry[]> {
  for (let after: string | null = null; ; ) {
    const page: NamedAuditEntry[] = await listAuditEntries(pool, tenantId, filter, { after, limit: size });
    if (page.length > 0) yield page;
    if (page.length < size) return;
    after = page.at(-1)?.id ?? null;
  }
}
