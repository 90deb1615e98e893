import type { ClientBase } from 'pg';

/** Deletes one batch of the counts of rounds that did not change since `cutoff` (ms since the epoch). Returns how many. */
export async function deleteRounds(client: ClientBase, cutoff: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM autopilot_rounds WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM autopilot_rounds WHERE updated_at < to_timestamp($1::float8 / 1000) LIMIT 5000))`,
    [cutoff],
  );
  return rowCount ?? 0;
}

/** The proposals that one statement deletes: each holds a workflow several times. */
const BATCH = 500;

/**
 * Deletes one batch of the proposals that were closed, and not changed since `cutoff` (ms since the epoch). Open
 * proposals stay, regardless of their age. Returns how many.
 */
export async function deleteClosedProposals(client: ClientBase, cutoff: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM autopilot_proposals WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM autopilot_proposals
        WHERE status IN ('applied', 'undone', 'discarded', 'superseded') AND updated_at < to_timestamp($1::float8 / 1000)
        LIMIT ${BATCH}))`,
    [cutoff],
  );
  return rowCount ?? 0;
}
