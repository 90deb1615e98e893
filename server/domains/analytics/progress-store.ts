import { toMicrocredits } from '../../orchestrator/ports/microcredits.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';

/**
 * How far usage is aggregated into the rollups, and which of their sources still exist. Instants in ms since the epoch.
 */
export type Progress = {
  /** Every row of usage up to this number is in the rollups. */
  seq: number;
  /** The last time at which the rollups contained all usage. */
  asOf: number;
  /** No figures are returned before this number is aggregated; null: older runs are not backfilled yet. */
  readySeq: number | null;
  /** Retention has purged usage before this; null: none. The first instant of a month (UTC). */
  usageFrom: number | null;
  /** Retention has purged runs that ended before this; null: none. */
  runsFrom: number | null;
};

type Row = { seq: string; as_of: Date; ready_seq: string | null; usage_from: Date | null; runs_from: Date | null };

const COLUMNS = 'seq, as_of, ready_seq, usage_from, runs_from';

function toProgress(row: Row): Progress {
  return {
    seq: toMicrocredits(row.seq),
    asOf: row.as_of.getTime(),
    readySeq: row.ready_seq === null ? null : toMicrocredits(row.ready_seq),
    usageFrom: row.usage_from?.getTime() ?? null,
    runsFrom: row.runs_from?.getTime() ?? null,
  };
}

/** Returns the progress of the rollups, and the time of the first row of usage that they lack; null if they lack none. */
export async function readProgress(db: Queryable): Promise<Progress & { pendingSince: number | null }> {
  const { rows } = await db.query<Row & { pending_since: Date | null }>({
    name: 'analytics_progress',
    text: `SELECT ${COLUMNS}, (SELECT created_at FROM run_usage u WHERE u.seq > p.seq ORDER BY u.seq LIMIT 1) AS pending_since
           FROM analytics_progress p`,
  });
  const row = rows[0];
  if (!row) throw new Error('analytics_progress has lost its row');
  return { ...toProgress(row), pendingSince: row.pending_since?.getTime() ?? null };
}

/**
 * Returns the progress, locked until the end of the transaction: only the holder of the lock changes the rollups. Null
 * if another session holds the lock, unless `wait`.
 */
export async function lockProgress(db: Queryable, { wait }: { wait: boolean }): Promise<Progress | null> {
  const { rows } = await db.query<Row>(
    `SELECT ${COLUMNS} FROM analytics_progress FOR UPDATE ${wait ? '' : 'SKIP LOCKED'}`,
  );
  return rows[0] ? toProgress(rows[0]) : null;
}

/** Stores the number up to which usage is in the rollups, and the last time at which they contained all of it (null: unchanged). */
export async function saveProgress(db: Queryable, seq: number, asOf: number | null): Promise<void> {
  await db.query('UPDATE analytics_progress SET seq = $1, as_of = coalesce(to_timestamp($2::float8 / 1000), as_of)', [
    seq,
    asOf,
  ]);
}
