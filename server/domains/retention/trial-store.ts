import type { ClientBase } from 'pg';

/** The maximum number of workflows that one statement deletes. */
const BATCH = 500;

/**
 * SQL: the hidden workflows of trials that nothing needs any more: their runs have been deleted, and their proposals
 * are closed, so no other trial starts.
 */
const unusedTrials = `
  SELECT w.id FROM workflows w
   WHERE w.kind = 'trial' AND w.created_at < to_timestamp($1::float8 / 1000)
     AND NOT EXISTS (SELECT FROM runs r WHERE r.workflow_id = w.id)
     AND NOT EXISTS (SELECT FROM autopilot_proposals p
                      WHERE p.trial_workflow_id = w.id AND p.status IN ('building', 'ready', 'needs_input'))
   LIMIT ${BATCH}`;

/** Deletes one batch of the workflows of trials from before `cutoff` (ms since the epoch). Returns how many. */
export async function deleteTrials(client: ClientBase, cutoff: number): Promise<number> {
  // Deletes the snapshots first, in a separate statement: a workflow with snapshots cannot be deleted.
  await client.query(`DELETE FROM workflow_versions WHERE workflow_id IN (${unusedTrials})`, [cutoff]);
  const { rowCount } = await client.query(
    `DELETE FROM workflows w WHERE w.id IN (${unusedTrials})
        AND NOT EXISTS (SELECT FROM workflow_versions v WHERE v.workflow_id = w.id)`,
    [cutoff],
  );
  return rowCount ?? 0;
}
