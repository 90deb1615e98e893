import type { Pool } from 'pg';
import { allSteps, type GraphStep } from '../../../orchestrator/core/index.ts';
import type { CheckScope } from '../../../orchestrator/ports/step-type.ts';
import { isObject } from '../../../platform/json.ts';
import { findStartable } from '../start/startable-store.ts';
import { findGraph } from '../store.ts';

/** The number of workflows that are checked for a cycle; a longer cycle is found at run time. */
const MAX_LOOKED_AT = 100;

/**
 * Returns whether a version calls the workflow that is checked, directly or through the latest versions of others: by a step, by an agent
 * that a step names, or as a tool of an agent. Templates are not followed.
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
  for (let next = waiting.shift(); next !== undefined && seen.size <= MAX_LOOKED_AT; next = waiting.shift()) {
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

/** Returns the workflows of which a step may start a run, and the agent that it names. */
function calledBy({ type, workflow_id, version, agent_id, tools }: GraphStep): Callee[] {
  if (type === 'call_workflow')
    return idsIn(workflow_id).map(id => (typeof version === 'number' ? { ...id, version } : id));
  if (type !== 'agent') return [];
  const entries = Array.isArray(tools) ? tools.filter(isObject) : [];
  const ofTools = entries.flatMap(entry => {
    if (entry.type === 'workflow') return idsIn(entry.workflow_ids);
    return entry.type === 'agent' ? idsIn(entry.agent_id) : [];
  });
  return [...idsIn(agent_id), ...ofTools];
}

const idsIn = (value: unknown): Callee[] =>
  [value].flat().flatMap(id => (typeof id === 'string' ? [{ workflowId: id.toLowerCase() }] : []));
