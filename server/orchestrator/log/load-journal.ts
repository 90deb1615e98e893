import type { Pool } from 'pg';

/** Runs for which callers wait are loaded alongside those that are loaded in the background. */
export type LoadLane = 'urgent' | 'background';

/**
 * Records which runs this process is loading, so that the next process knows what an earlier one died of. Only a
 * process that died leaves its entry behind.
 */
export type LoadJournal = {
  /** Returns the runs during whose loading processes died, each with the number of deaths. */
  deaths(): Promise<Map<string, number>>;
  /** Records that exactly these runs are being loaded in this lane from now on. */
  begin(lane: LoadLane, runIds: readonly string[]): Promise<void>;
  /** Records that nothing is being loaded in this lane any more. */
  end(lane: LoadLane): Promise<void>;
  /** Clears a run that was loaded without a death of the process, or that has ended. */
  forget(runId: string): Promise<void>;
};

/** A journal in PostgreSQL. `processId` identifies this process for as long as it lives, however often it leads. */
export function createLoadJournal(pool: Pool, processId: string): LoadJournal {
  return {
    async deaths() {
      await pool.query(
        `WITH left_behind AS (DELETE FROM run_loads RETURNING process_id, run_ids),
              counted AS (SELECT u.run_id, count(*)::int AS deaths
                          FROM left_behind l, unnest(l.run_ids) AS u(run_id) WHERE l.process_id <> $1 GROUP BY u.run_id)
         INSERT INTO run_load_deaths AS d (run_id, deaths) SELECT run_id, deaths FROM counted
         ON CONFLICT (run_id) DO UPDATE SET deaths = d.deaths + excluded.deaths`,
        [processId],
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
