import type { Pool } from 'pg';
import { type StoredEvent, toFoldedEvent } from '../reading/folded-event.ts';
import type { FoldedEvent } from '../reading/run-state.ts';
import { EVENT_DATA } from '../reading/snapshot-store.ts';
import { ENDS, type RunScope } from '../store.ts';

/** `failed`: the numbers of the first items that failed. */
export type LoopCounts = { total: number | null; ended: number; failed_count: number; failed: number[] };

/** Matches the steps of a loop's items, without the steps that inner loops and agents add: a number and a name. */
const ITEM_STEP = String.raw`'^\d+\.[^.0-9][^.]*$'`;

type Loop = { step: string; steps: number };

/**
 * Counts the items of a loop that has `steps` steps. An item has ended once all its steps have. It has failed if one of
 * its steps has, unless that step lets the item continue. Lists at most `limit` failed items.
 */
export async function countItems(
  pool: Pool,
  { runId, tenantId }: Pick<RunScope, 'runId' | 'tenantId'>,
  { step, steps }: Loop,
  limit: number,
): Promise<LoopCounts> {
  const { rows } = await pool.query<LoopCounts>(
    `WITH ends AS (
       SELECT split_part(substr(step_id, length($3) + 2), '.', 1)::integer AS item,
              event_type = 'step_failed' AND data->'continues' IS NULL AS failed
         FROM expanded_run_events
        WHERE run_id = (SELECT id FROM runs WHERE id = $1 AND tenant_id = $2) AND starts_with(step_id, $3 || '.')
          AND event_type IN ${ENDS} AND substr(step_id, length($3) + 2) ~ ${ITEM_STEP}),
     items AS (SELECT item, count(*) AS ended, bool_or(failed) AS failed FROM ends GROUP BY item)
     SELECT (SELECT (data->'plan'->>'count')::integer FROM run_events
              WHERE run_id = $1 AND step_id = $3 AND event_type = 'step_expanded' ORDER BY seq DESC LIMIT 1) AS total,
            count(*) FILTER (WHERE ended >= $4)::integer AS ended,
            count(*) FILTER (WHERE failed)::integer AS failed_count,
            ARRAY(SELECT item FROM items WHERE failed ORDER BY item LIMIT $5) AS failed
       FROM items`,
    [runId, tenantId, step, steps, limit],
  );
  return rows[0] ?? { total: null, ended: 0, failed_count: 0, failed: [] };
}

/** Returns the events of the steps of `limit` items of a loop, from the item `from` on, oldest first and without values. */
export async function listItemEvents(
  pool: Pool,
  { runId, tenantId }: Pick<RunScope, 'runId' | 'tenantId'>,
  { step, from, limit }: { step: string; from: number; limit: number },
): Promise<FoldedEvent[]> {
  const { rows } = await pool.query<{ event: StoredEvent }>(
    `SELECT json_build_array(seq, event_type, step_id, attempt, (extract(epoch FROM created_at) * 1000)::bigint, ${EVENT_DATA}) AS event
       FROM expanded_run_events
      WHERE run_id = (SELECT id FROM runs WHERE id = $1 AND tenant_id = $2) AND starts_with(step_id, $3 || '.')
        AND event_type <> 'step_log'
        AND CASE WHEN substr(step_id, length($3) + 2) ~ ${ITEM_STEP}
                 THEN split_part(substr(step_id, length($3) + 2), '.', 1)::integer BETWEEN $4::integer AND $4::integer + $5::integer - 1
                 ELSE false END
      ORDER BY seq`,
    [runId, tenantId, step, from, limit],
  );
  return rows.map(({ event }) => toFoldedEvent(event));
}
