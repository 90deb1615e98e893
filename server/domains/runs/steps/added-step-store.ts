import type { Pool } from 'pg';
import type { AddedId, JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';

type AddedFields = { type: string; depends_on: string[] | null; fields: JsonMap | null };

/**
 * Returns the fields that the log has for a step that was added under `parent`; null if no step with this id was added.
 */
export async function findAddedFields(
  pool: Pool,
  runId: string,
  { parent, step }: { parent: string; step: string },
): Promise<AddedFields | null> {
  const { rows } = await pool.query<AddedFields>(
    `SELECT added->>'type' AS type, added->'depends_on' AS depends_on, added->'fields' AS fields
       FROM run_events, json_array_elements(data->'steps') added
      WHERE run_id = $1 AND event_type = 'steps_added' AND step_id = $2 AND added->>'id' = $3
      LIMIT 1`,
    [runId, parent, step],
  );
  return rows[0] ?? null;
}

/** Returns one item of a loop, wherever its items are stored; null if the log does not have it. */
export async function findLoopItem(
  pool: Pool,
  runId: string,
  { parent, index }: Pick<AddedId, 'parent' | 'index'>,
): Promise<JsonValue> {
  const { rows } = await pool.query<{ item: JsonValue }>(
    `SELECT coalesce(e.data->'items'->$3::int, p.body->$3::int) AS item
       FROM run_events e
       LEFT JOIN run_payloads p ON p.run_id = e.run_id AND p.id = (e.data->'items_ref'->>'payload_id')::uuid
      WHERE e.run_id = $1 AND e.event_type = 'step_expanded' AND e.step_id = $2`,
    [runId, parent, index],
  );
  return rows[0]?.item ?? null;
}

/** `skipped`: why the step was skipped; null if it was not skipped. */
export type AddedEnd = { step_id: string; error: JsonMap | null; skipped: string | null };

/** Returns how the steps that were added under `parent` ended, in the order of their ends. */
export async function listAddedEnds(pool: Pool, runId: string, parent: string): Promise<AddedEnd[]> {
  const { rows } = await pool.query<AddedEnd>(
    `SELECT step_id, CASE WHEN event_type <> 'step_completed' THEN coalesce(data->'error', '{"code":"cancelled","message":"It was cancelled."}') END AS error,
            CASE WHEN data->>'skipped' = 'true' THEN data->>'reason' END AS skipped
       FROM expanded_run_events
      WHERE run_id = $1 AND event_type IN ('step_completed', 'step_failed', 'step_cancelled') AND starts_with(step_id, $2)
      ORDER BY seq`,
    [runId, `${parent}.`],
  );
  return rows;
}
