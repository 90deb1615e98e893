import type { Pool } from 'pg';

/** Runs for which callers wait are loaded in addition to those loaded in the background. */
export type LoadLane = 'urgent' | 'background';

/**
 * Records which runs this process is loading, so that the next process knows what an earlier one died of. Only a
 * process that died leaves its entry behind.
 */
export type LoadJournal = {
  /**
   * Counts the entries of processes that no longer live, and returns the runs during whose loading processes died, each
   * with the number of deaths. `open`: the lanes in which this process is loading; its other entries are left from an
   * earlier term, and are no deaths.
   */
  deaths(open: ReadonlySet<LoadLane>): Promise<Map<string, number>>;
  /** Records that exactly these runs are being loaded in this lane from now on. */
  begin(lane: LoadLane, runIds: readonly string[]): Promise<void>;
  /** Records that nothing is being loaded in this lane any more. */
  end(lane: LoadLane): Promise<void>;
  /** Clears a run that was loaded without a death of the process, or that has ended. */
  forget(runId: string): Promise<void>;
};

/** The halves of `processLock`, as pg_locks shows them. */
const LOCK_HALF = (from: number) =>
  `('x' || substr(replace(l.process_id::text, '-', ''), ${from}, 8))::bit(32)::bigint::oid`;
/** Whether a session of the process of entry `l` holds its lock. */
const LIVES = `EXISTS (SELECT FROM pg_locks k WHERE k.locktype = 'advisory' AND k.granted AND k.objsubid = 1
  AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
  AND k.classid = ${LOCK_HALF(17)} AND k.objid = ${LOCK_HALF(25)})`;

/**
 * A journal in PostgreSQL. `processId` is a UUID that identifies this process for as long as it lives, however often it
 * leads; the session that writes the log holds its `processLock`. Several processes may load at the same time: the
 * entries of those that live stay untouched.
 */
export function createLoadJournal(pool: Pool, processId: string): LoadJournal {
  return {
    async deaths(open) {
      await pool.query(
        `WITH left_behind AS (
                DELETE FROM run_loads l WHERE CASE WHEN l.process_id = $1 THEN l.lane <> ALL($2) ELSE NOT ${LIVES} END
                RETURNING process_id, run_ids),
              counted AS (SELECT u.run_id, count(*)::int AS deaths
                          FROM left_behind l, unnest(l.run_ids) AS u(run_id) WHERE l.process_id <> $1 GROUP BY u.run_id)
         INSERT INTO run_load_deaths AS d (run_id, deaths) SELECT run_id, deaths FROM counted ORDER BY run_id
         ON CONFLICT (run_id) DO UPDATE SET deaths = d.deaths + excluded.deaths`,
        [processId, [...open]],
      );
      const { rows } = await pool.query<{ run_id: string; deaths: number }>(
        'SELECT run_id, deaths FROM run_load_deaths',
      );
      return new Map(rows.map(({ run_id, deaths }) => [run_id, deaths]));
    },
    async begin(lane, runIds) {
      await pool.query({
        name: 'log_loads_begin',
        text: `INSERT INTO run_loads (process_id, lane, run_ids) VALUES ($1, $2, $3::uuid[])
               ON CONFLICT (process_id, lane) DO UPDATE SET run_ids = excluded.run_ids`,
        values: [processId, lane, runIds],
      });
    },
    async end(lane) {
      const text = 'DELETE FROM run_loads WHERE process_id = $1 AND lane = $2';
      await pool.query({ name: 'log_loads_end', text, values: [processId, lane] });
    },
    async forget(runId) {
      await pool.query('DELETE FROM run_load_deaths WHERE run_id = $1', [runId]);
    },
  };
}
