import type { Services } from '../../../operation/services.ts';
import type { GraphStep, JsonValue } from '../../../orchestrator/core/index.ts';
import { findGraph } from '../../runs/store.ts';
import { readRecordedValues } from '../../runs/values/recorded.ts';
import type { ProjectScope } from '../../workflows/store.ts';
import { listCompletedRuns } from './recorded-store.ts';

/** The maximum number of runs that are searched for results. */
const MAX_RUNS = 5;
/** The maximum number of bytes of JSON that recorded results take in the graph of a trial. */
const MAX_RESULT_BYTES = 512 * 1024;

/** Returns a function that finds the latest result of a step with the same id, type, tool and instance; undefined for none. */
export async function recordedResults(
  pool: Services['pool'],
  scope: ProjectScope,
  workflowId: string | null,
): Promise<(step: GraphStep) => JsonValue | undefined> {
  const found = new Map<string, JsonValue>();
  if (workflowId === null) return () => undefined;
  let left = MAX_RESULT_BYTES;
  for (const { id, version } of await listCompletedRuns(pool, { ...scope, workflowId }, MAX_RUNS)) {
    const graph = await findGraph(pool, { tenantId: scope.tenantId, workflowId, version });
    const steps = (graph?.steps ?? []).filter(step => !found.has(keyOf(step)));
    if (steps.length === 0) continue;
    const { results } = await readRecordedValues(
      pool,
      id,
      left,
      steps.map(step => step.id),
    );
    for (const step of steps) {
      const result = results.get(step.id);
      if (result === undefined || result.ref !== undefined) continue;
      const bytes = Buffer.byteLength(JSON.stringify(result.value));
      if (bytes > left) continue;
      left -= bytes;
      found.set(keyOf(step), result.value);
    }
  }
  return step => found.get(keyOf(step));
}

const keyOf = ({ id, type, tool_name, instance_id }: GraphStep): string =>
  JSON.stringify([id, type, tool_name ?? null, instance_id ?? null]);
