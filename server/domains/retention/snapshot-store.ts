import type { ClientBase } from 'pg';

/** The maximum number of snapshots that one statement deletes. */
const BATCH = 500;

/**
 * SQL: the snapshots of test runs that no run needs any more. The newest snapshot of each workflow is kept, because the
 * next one is numbered after it, and its number must not be given to another graph.
 */
const unusedSnapshots = `
  SELECT v.workflow_id, v.version FROM workflow_versions v
   WHERE v.version < 0 AND v.published_at < to_timestamp($1::float8 / 1000)
     AND EXISTS (SELECT FROM workflow_versions newer WHERE newer.workflow_id = v.workflow_id AND newer.version < v.version)
     AND NOT EXISTS (SELECT FROM runs r WHERE r.version < 0 AND r.workflow_id = v.workflow_id AND r.version = v.version)`;

/** Deletes one batch of the snapshots that were last used before `cutoff` and have no runs. Returns how many. */
export async function deleteSnapshots(client: ClientBase, cutoff: number): Promise<number> {
  // Compares the age again once the row is locked: a test run may use the snapshot at the same moment.
  const { rowCount } = await client.query(
    `WITH unused AS MATERIALIZED (${unusedSnapshots} LIMIT ${BATCH})
     DELETE FROM workflow_versions v USING unused u
      WHERE v.workflow_id = u.workflow_id AND v.version = u.version AND v.published_at < to_timestamp($1::float8 / 1000)`,
    [cutoff],
  );
  return rowCount ?? 0;
}
