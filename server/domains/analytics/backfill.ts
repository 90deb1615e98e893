import type { Logger } from '../../platform/logger.ts';
import { lockProgress } from './progress.ts';
import { inOwnSession, type OwnSession } from './session.ts';
import { QUARTER_OF_ROW } from './sums-sql.ts';

/** Lines of one row of usage: what a busy commit writes. */
const LINES = 1_000;

/**
 * Runs that began before usage counted beginnings. Of runs of the same workflow, trigger, person and quarter there are as
 * many to add as there are more of them than were counted: the commit that writes a run's row counts it too, so that in one
 * snapshot both are there or neither.
 */
const STARTED = `
  INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, attempts, created_at, subject, started_by)
  SELECT gen_random_uuid(), tenant_id, project_id, workflow_id, 'run_started', runs - counted, '[]', quarter, subject, started_by
  FROM (SELECT tenant_id, project_id, workflow_id, trigger_type AS subject, started_by,
               date_bin('15 minutes', started_at, to_timestamp(0)) AS quarter, count(*) AS runs
        FROM runs GROUP BY 1, 2, 3, 4, 5, 6) there
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(quantity), 0) AS counted FROM counted_starts c
    WHERE (c.tenant_id, c.project_id, c.workflow_id, c.subject, c.started_by, c.quarter)
        = (there.tenant_id, there.project_id, there.workflow_id, there.subject, there.started_by, there.quarter)) c
  WHERE runs > counted`;

/** Runs that ended before usage counted ends: each line names its run. */
const ENDED = `
  INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, attempts, created_at, outcome, started_by)
  SELECT gen_random_uuid(), tenant_id, project_id, workflow_id, 'run_ended', count(*),
         json_agg(json_build_array(id, ms) ORDER BY id), quarter, status, started_by
  FROM (SELECT r.*, (extract(epoch FROM ended_at - started_at) * 1000)::bigint AS ms,
               date_bin('15 minutes', ended_at, to_timestamp(0)) AS quarter,
               (row_number() OVER (PARTITION BY tenant_id, project_id, workflow_id, status, started_by,
                                                date_bin('15 minutes', ended_at, to_timestamp(0)) ORDER BY id) - 1) / ${LINES} AS part
        FROM runs r WHERE ended_at IS NOT NULL AND NOT EXISTS (SELECT FROM counted_ends c WHERE c.run_id = r.id)) there
  GROUP BY tenant_id, project_id, workflow_id, quarter, status, started_by, part`;

/**
 * Counts the runs of before migration 0009, once: writes the rows of usage that their commits would have written, from which
 * on they are like all others. One transaction under the lock of the progress, in the process that leads: the fold waits, the
 * leader's commits do not. A million runs take some 15 s. Returns false where it was done before.
 */
export function backfill(url: string, logger: Logger, signal?: AbortSignal): Promise<boolean> {
  return inOwnSession(url, signal, session => backfillIn(session, logger));
}

async function backfillIn(session: OwnSession, logger: Logger): Promise<boolean> {
  return session.transaction('snapshot', async db => {
    const progress = await lockProgress(db, { wait: true });
    if (progress === null || progress.readySeq !== null) return false;
    await db.query(
      `CREATE TEMP TABLE counted_starts ON COMMIT DROP AS
       SELECT tenant_id, project_id, workflow_id, subject, started_by, ${QUARTER_OF_ROW} AS quarter, sum(quantity) AS quantity
       FROM run_usage WHERE action = 'run_started' GROUP BY 1, 2, 3, 4, 5, 6`,
    );
    await db.query(
      `CREATE TEMP TABLE counted_ends ON COMMIT DROP AS
       SELECT (line->>0)::uuid AS run_id FROM run_usage CROSS JOIN LATERAL json_array_elements(attempts) line
       WHERE action = 'run_ended'`,
    );
    await db.query('ANALYZE counted_starts; ANALYZE counted_ends');
    const started = await db.query(STARTED);
    const ended = await db.query(ENDED);
    await db.query('UPDATE analytics_progress SET ready_seq = (SELECT coalesce(max(seq), 0) FROM run_usage)');
    logger.info({ started: started.rowCount, ended: ended.rowCount }, 'runs of before are counted for analytics');
    return true;
  });
}
