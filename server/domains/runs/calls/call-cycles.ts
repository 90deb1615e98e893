import type { Pool } from 'pg';
import { allSteps, type GraphStep } from '../../../orchestrator/core/index.ts';
import type { CheckScope } from '../../../orchestrator/ports/step-type.ts';
import { namedBy } from '../../../orchestrator/steps/references.ts';
import { findStartable } from '../start/startable-store.ts';
import { findGraph } from '../store.ts';

/** The maximum number of workflows that are checked for a cycle; a longer cycle is found at run time. */
const MAX_CHECKED_WORKFLOWS = 100;

/**
 * Returns whether a version calls the workflow that is checked, directly or through the latest versions of others: by a
 * step, by an agent that a step names, or as a tool of an agent. A workflow id that is a template is ignored.
 */
export async function isCalledBy(
  pool: Pool,
  { tenantId, projectId, workflowId: target }: CheckScope,
  from: { workflowId: string; version: number },
): Promise<boolean> {
  if (target === undefined) return false;
  // Keyed by version: another version of a workflow may call others.
  const seen = new Set([`${from.workflowId} ${from.version}`]);
  const waiting = [from];
  for (let next = waiting.shift(); next !== undefined && seen.size <= MAX_CHECKED_WORKFLOWS; next = waiting.shift()) {
    const graph = await findGraph(pool, { tenantId, ...next });
    for (const { workflowId, version } of graph === null ? [] : [...allSteps(graph)].flatMap(calledBy)) {
      if (workflowId === target) return true;
      if (workflowId.includes('{')) continue;
      const found = await findStartable(pool, { tenantId, projectId, workflowId });
      const latest = version ?? found?.latest_version;
      const key = `${workflowId} ${latest}`;
      if (found === null || latest == null || seen.has(key)) continue;
      seen.add(key);
      waiting.push({ workflowId, version: latest });
    }
  }
  return false;
}

type Callee = { workflowId: string; version?: number };

/** Returns the workflows of which a step may start a run, and the agents that it names. */
function calledBy(step: GraphStep): Callee[] {
  const named = [...namedBy(step, 'agents'), ...namedBy(step, 'workflows')];
  return named.map(({ id, ...version }) => ({ workflowId: id.toLowerCase(), ...version }));
}
