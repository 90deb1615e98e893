import type { Pool } from 'pg';

/** A step of the graph of a version. */
export type StepOfVersion = { workflowId: string; version: number; step: string };
/** An authored step, with its inner steps if it is a loop. */
export type NamedStep = { id: string; name?: unknown; steps?: unknown };

/** Returns the authored steps of versions in the order of `wanted`, with null for a step that does not exist. */
export async function findSteps(
  pool: Pool,
  tenantId: string,
  wanted: readonly StepOfVersion[],
): Promise<(NamedStep | null)[]> {
  const { rows } = await pool.query<{ place: string; step: NamedStep | null }>(
    `SELECT k.place, (SELECT s FROM json_array_elements(v.graph_snapshot->'steps') s WHERE s->>'id' = k.step LIMIT 1) AS step
       FROM unnest($2::uuid[], $3::int[], $4::text[]) WITH ORDINALITY k(workflow_id, version, step, place)
       JOIN workflow_versions v ON v.workflow_id = k.workflow_id AND v.version = k.version AND v.tenant_id = $1`,
    [
      tenantId,
      wanted.map(({ workflowId }) => workflowId),
      wanted.map(({ version }) => version),
      wanted.map(({ step }) => step),
    ],
  );
  const found: (NamedStep | null)[] = wanted.map(() => null);
  for (const { place, step } of rows) found[Number(place) - 1] = step;
  return found;
}
