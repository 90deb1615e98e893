import type { Pool } from 'pg';
import { type Clock, systemAlarm } from '../clock.ts';
import { pause } from '../deadlines.ts';
import type { Logger } from '../logger.ts';

/** The tables that are read by number, with the sequences of their numbers, which must have CACHE 1. */
const SEQUENCES = { run_usage: 'run_usage_seq_seq', human_tasks: 'human_tasks_seq_seq' } as const;
export type NumberedTable = keyof typeof SEQUENCES;

export type HorizonOptions = {
  logger?: Pick<Logger, 'warn'>;
  /** The maximum wait of one call, in ms. */
  waitMs?: number;
  /** Measures how long transactions have been in the way. */
  clock?: Clock;
};

/** Statements take milliseconds. A job that waits longer tries again in its next pass, so that it can be closed. */
const WAIT_MS = 2_000;
const LONGEST_PAUSE_MS = 50;
/** A transaction that holds its numbers for this long is logged, once. */
const LATE_MS = 10_000;

type Late = { readonly since: number; isLogged: boolean };
/** The transactions that calls gave up waiting for, by pool and name. */
const LATE = new WeakMap<Pool, Map<string, Late>>();

/**
 * Returns a number up to which every row of the table is visible or never will be; null where a transaction that may
 * still add one does not end in time. Only a reader that stops there may resume from the last number that it has read.
 *
 * Several sessions write at once, so numbers become visible in any order. But a statement locks the table before it draws
 * a number, and keeps that lock until its rows are visible. So after those that hold the lock now have ended, no number
 * that was drawn before can appear. Where one process leads, this waits for nothing but its own statement.
 *
 * Call this before the transaction that reads: it waits, and rows up to the number do not change.
 */
export async function readHorizon(
  pool: Pool,
  table: NumberedTable,
  { logger, waitMs = WAIT_MS, clock = performance }: HorizonOptions = {},
): Promise<number | null> {
  const { rows } = await pool.query<{ last: string }>(
    // A sequence that was never used has the value 1 too.
    `SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END AS last FROM ${SEQUENCES[table]}`,
  );
  const last = Number(rows[0]?.last);
  const until = performance.now() + waitMs;
  // In a separate statement, after the number was read: a later writer draws greater numbers.
  let writers = await writersOf(pool, table, null);
  for (let ms = 1; writers.length > 0 && performance.now() < until; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    await pause(systemAlarm, ms, NEVER);
    writers = await writersOf(pool, table, writers);
  }
  noteLate(pool, table, writers, { logger, now: clock.now() });
  return writers.length > 0 ? null : last;
}

const NEVER = new AbortController().signal;

type Writer = { transaction: string; pid: number | null };

/** Returns the transactions that may have drawn numbers of the table and have not ended: all, or those of `among`. */
async function writersOf(pool: Pool, table: NumberedTable, among: readonly Writer[] | null): Promise<Writer[]> {
  const { rows } = await pool.query<Writer>({
    name: 'horizon_writers',
    text: `SELECT DISTINCT virtualtransaction AS transaction, pid FROM pg_locks
           WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND relation = ANY(ARRAY(SELECT $1::regclass::oid UNION SELECT relid FROM pg_partition_tree($1::regclass)))
             AND ($2::text[] IS NULL OR virtualtransaction = ANY($2))`,
    values: [table, among?.map(({ transaction }) => transaction) ?? null],
  });
  return rows;
}

/** Records the blocking transactions, and logs those that have blocked for long. */
function noteLate(
  pool: Pool,
  table: NumberedTable,
  writers: readonly Writer[],
  { logger, now }: { logger: HorizonOptions['logger']; now: number },
): void {
  const known = LATE.get(pool);
  if (writers.length === 0 && known === undefined) return;
  const late = new Map<string, Late>();
  for (const [name, each] of known ?? []) if (!name.startsWith(`${table} `)) late.set(name, each);
  for (const { transaction, pid } of writers) {
    const name = `${table} ${transaction}`;
    const each = known?.get(name) ?? { since: now, isLogged: false };
    late.set(name, each);
    if (each.isLogged || now - each.since < LATE_MS || logger === undefined) continue;
    each.isLogged = true;
    logger.warn({ pid, table }, 'a transaction holds its numbers for long; what is aggregated from the table is late');
  }
  LATE.set(pool, late);
}
