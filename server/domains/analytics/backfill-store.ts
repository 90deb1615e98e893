import type { Logger } from '../../platform/logger.ts';
import { inOwnSession } from '../../platform/postgres/own-session.ts';
import { type Queryable, transactOn } from '../../platform/postgres/transaction.ts';
import { lockProgress } from './progress-store.ts';
import { SESSION } from './session.ts';

/** The number of lines in one row of usage, as a busy commit writes them. */
const LINES = 1_000;

/**
 * Returns SQL that inserts a row of usage for all runs of a workflow, quarter, person and `word`, with a line for each.
 * `action`, the time and the line are SQL.
 */
const insertLines = (action: string, at: string, word: 'subject' | 'outcome', value: string, line: string) => `
  INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, attempts, created_at, ${word}, started_by)
  SELECT gen_random_uuid(), tenant_id, project_id, workflow_id, '${action}', count(*), json_agg(line ORDER BY id), quarter, word, started_by
  FROM (SELECT m.*, (row_number() OVER (PARTITION BY tenant_id, project_id, workflow_id, quarter, word, started_by ORDER BY id) - 1)
                      / ${LINES} AS part
        FROM (SELECT id, tenant_id, project_id, workflow_id, started_by, ${value} AS word, ${line} AS line,
                     date_bin('15 minutes', ${at}, to_timestamp(0)) AS quarter
              FROM runs r WHERE ${at} IS NOT NULL
                AND NOT EXISTS (SELECT FROM counted c WHERE c.action = '${action}' AND c.run_id = r.id)) m) there
  GROUP BY tenant_id, project_id, workflow_id, quarter, word, started_by, part
  ORDER BY quarter`;

const duration = 'greatest(0, (extract(epoch FROM ended_at - started_at) * 1000)::bigint)';
const STARTED = insertLines('run_started', 'started_at', 'subject', 'trigger_type', 'json_build_array(id)');
const ENDED = insertLines('run_ended', 'ended_at', 'outcome', 'status', `json_build_array(id, ${duration})`);

/**
 * Records the starts and ends of runs from before migration 0009, once: writes the rows of usage that their commits
 * would have written, which are then like all others. Each line names its run, so that runs which the engine has
 * recorded are skipped. One transaction under the lock of the progress, in the process that leads: aggregation waits,
 * the leader's commits do not. Returns false if it was done before.
 */
export function backfill(url: string, logger: Logger, signal?: AbortSignal): Promise<boolean> {
  return inOwnSession(url, { name: SESSION, signal }, client =>
    transactOn(client, 'snapshot', db => backfillIn(db, logger)),
  );
}

async function backfillIn(db: Queryable, logger: Logger): Promise<boolean> {
  const progress = await lockProgress(db, { wait: true });
  if (progress === null || progress.readySeq !== null) return false;
  await db.query(
    `CREATE TEMP TABLE counted ON COMMIT DROP AS
     SELECT action, (line->>0)::uuid AS run_id FROM run_usage CROSS JOIN LATERAL json_array_elements(attempts) line
     WHERE action IN ('run_started', 'run_ended')`,
  );
  await db.query('ANALYZE counted');
  const started = await db.query(STARTED);
  const ended = await db.query(ENDED);
  await db.query('UPDATE analytics_progress SET ready_seq = (SELECT coalesce(max(seq), 0) FROM run_usage)');
  logger.info({ started: started.rowCount, ended: ended.rowCount }, 'runs of before are counted for analytics');
  return true;
}
