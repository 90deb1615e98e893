import type { Pool } from 'pg';
import { MAX_MICROCREDITS, toMicrocredits } from '../../../orchestrator/ports/microcredits.ts';
import { type HorizonOptions, readHorizon } from '../../../platform/postgres/horizon.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';

/**
 * The usage that the engine commits is the charge. It is counted into `charged` of its workspace's account in batches,
 * so that the commit of runs neither updates nor waits for an account; readers add the usage that is not counted yet.
 *
 * Counting never passes the horizon: every row up to it is visible or never will be (docs/adr/0038-several-writers.md).
 * The number of a single workspace may be beyond the horizon: only one session at a time writes a workspace's usage, so
 * its numbers become visible in order.
 */

/** Rows of usage that are counted in one transaction. */
const BATCH_ROWS = 20_000;
const PRICED = 'u.microcredits > 0';
/**
 * Excludes the starts and ends of runs, which other sessions may also write (server/domains/analytics/backfill-store.ts).
 * They cost nothing.
 */
const NO_STARTS_OR_ENDS = `u.action NOT IN ('run_started', 'run_ended')`;

/** A workspace, and the number up to which its usage is counted. */
export type Counted = { tenantId: string; counted: number };
/** The total of the usage after a number, and the number of its last row. */
export type Uncounted = { microcredits: number; upTo: number };

/**
 * Returns the uncounted usage of the workspaces: all that was committed before this query, and at most what an account
 * can hold. The caller read the accounts before, here or in another session, so usage that is counted meanwhile is
 * included too. Numbers are passed as values and not as a subquery, so that the planner sees how few rows follow them.
 */
export async function readUncounted(db: Queryable, accounts: readonly Counted[]): Promise<Map<string, Uncounted>> {
  if (accounts.length === 0) return new Map();
  const lowest = Math.min(...accounts.map(({ counted }) => counted));
  const { rows } = await db.query<{ tenant_id: string; microcredits: string; upto: string }>(
    `SELECT u.tenant_id, least(sum(u.microcredits), ${MAX_MICROCREDITS}) AS microcredits, max(u.seq) AS upto
     FROM unnest($1::text[], $2::int8[]) a(tenant_id, counted)
     JOIN run_usage u ON u.tenant_id = a.tenant_id AND u.seq > a.counted
     WHERE u.seq > $3 AND ${PRICED} GROUP BY 1`,
    [accounts.map(({ tenantId }) => tenantId), accounts.map(({ counted }) => counted), lowest],
  );
  return new Map(
    rows.map(row => [
      row.tenant_id,
      { microcredits: toMicrocredits(row.microcredits), upTo: toMicrocredits(row.upto) },
    ]),
  );
}

/**
 * SQL for the number up to which the usage of a workspace `a` is counted: its own number or that of all workspaces,
 * whichever is greater.
 */
export const COUNTED = 'greatest(a.counted, (SELECT p.seq FROM credit_progress p))';

/**
 * The result of counting one batch.
 * - `counted`: a batch was counted, and there may be more.
 * - `done`: all usage is counted.
 * - `busy`: another session is counting, or a transaction that writes usage does not end.
 */
export type CountResult = 'counted' | 'done' | 'busy';

/**
 * Counts the next batch of usage: adds each workspace's usage to its account, creating it if necessary, and advances
 * the number. Locks accounts before it reads how far each is counted, because a grant may have counted some usage
 * meanwhile. A full account stays full, and the audit reports it.
 */
export async function countCharges(
  pool: Pool,
  now: number,
  batchRows = BATCH_ROWS,
  options: HorizonOptions = {},
): Promise<CountResult> {
  const seen = await pool.query<{ more: boolean }>({
    name: 'credit_progress',
    // Forces the index on numbers, against the planner's estimate.
    text: `SELECT EXISTS (SELECT FROM (SELECT FROM run_usage u WHERE u.seq > p.seq AND ${NO_STARTS_OR_ENDS} ORDER BY u.seq LIMIT 1) next) AS more
           FROM credit_progress p`,
  });
  // Checked without a lock first, so that an idle service writes nothing.
  if (!seen.rows[0]?.more) return 'done';
  const horizon = await readHorizon(pool, 'run_usage', options);
  if (horizon === null) return 'busy';
  return await transact(pool, db => countNext(db, now, { batchRows, horizon }));
}

/** Counts the next batch up to the horizon in the caller's transaction, which should end right after it. */
export async function countNext(
  db: Queryable,
  now: number,
  { batchRows, horizon }: { batchRows: number; horizon: number },
): Promise<CountResult> {
  const locked = await db.query<{ seq: string }>('SELECT seq FROM credit_progress FOR UPDATE SKIP LOCKED');
  if (locked.rows[0] === undefined) return 'busy';
  const after = toMicrocredits(locked.rows[0].seq);
  const { rows } = await db.query<{ seq: string; tenant_id: string; priced: boolean }>(
    `SELECT tenant_id, max(seq) AS seq, bool_or(priced) AS priced FROM (
       SELECT u.tenant_id, u.seq, ${PRICED} AS priced FROM run_usage u WHERE u.seq > $1 AND u.seq <= $3 AND ${NO_STARTS_OR_ENDS} ORDER BY u.seq LIMIT $2) next
     GROUP BY 1`,
    [after, batchRows, horizon],
  );
  if (rows.length === 0) return 'done';
  const upTo = Math.max(...rows.map(({ seq }) => toMicrocredits(seq)));
  const tenants = rows.filter(({ priced }) => priced).map(({ tenant_id }) => tenant_id);
  await addToAccounts(db, tenants, { after, upTo, now });
  await db.query('UPDATE credit_progress SET seq = $1', [upTo]);
  return 'counted';
}

async function addToAccounts(
  db: Queryable,
  tenants: readonly string[],
  { after, upTo, now }: { after: number; upTo: number; now: number },
): Promise<void> {
  await db.query(
    `INSERT INTO credit_accounts (tenant_id, created_at) SELECT t, $2 FROM unnest($1::text[]) t
     WHERE NOT EXISTS (SELECT FROM credit_accounts a WHERE a.tenant_id = t) ON CONFLICT DO NOTHING`,
    [tenants, new Date(now)],
  );
  await db.query('SELECT FROM credit_accounts WHERE tenant_id = ANY($1) ORDER BY tenant_id FOR NO KEY UPDATE', [
    tenants,
  ]);
  await db.query(
    `UPDATE credit_accounts a SET charged = least(a.charged + n.microcredits, ${MAX_MICROCREDITS}), counted = $3
     FROM (SELECT u.tenant_id, sum(u.microcredits) AS microcredits
           FROM run_usage u JOIN credit_accounts c ON c.tenant_id = u.tenant_id
           WHERE u.seq > $2 AND u.seq <= $3 AND u.seq > c.counted AND ${PRICED} AND u.tenant_id = ANY($1) GROUP BY 1) n
     WHERE a.tenant_id = n.tenant_id`,
    [tenants, after, upTo],
  );
}
