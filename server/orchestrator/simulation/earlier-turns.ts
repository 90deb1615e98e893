import {
  addedId,
  callId,
  type Graph,
  type JsonMap,
  type JsonValue,
  type RunStartedData,
  turnId,
} from '../core/index.ts';
import type { AgentScript } from './agents.ts';
import type { StepPlan } from './plans.ts';

/**
 * Makes a run continue from the first turn of an agent in another run, in which some calls completed, some failed, and
 * some were not made. Not drawn, so that it changes nothing else of a seed.
 */
export function addEarlierTurns(data: RunStartedData, graph: Graph, plans: ReadonlyMap<string, StepPlan>): void {
  for (const { id } of graph.steps) {
    const script = plans.get(id)?.agent ?? null;
    const [calls] = script?.turns ?? [];
    if (script === null || calls === undefined || script.plan.max_turns % 2 === 0) continue;
    data.earlier_turns = { agent: id, steps: stepsOf(id, script) };
    return;
  }
}

function stepsOf(agent: string, { plan, turns }: AgentScript): JsonMap {
  const turn = turnId(agent, 1);
  // Some starts are large enough to be stored externally.
  const text = plan.on_limit === 'fail' ? 'e'.repeat(17_000) : 'earlier';
  const ends: [string, JsonValue][] = [[turn, { result: { text } }]];
  for (const number of (turns[0] ?? []).keys()) {
    const id = callId(turn, number + 1);
    if (number === 0) ends.push([id, { result: { found: 'earlier' } }]);
    if (number === 1) ends.push([id, { error: { code: 'earlier', message: 'It had failed.' } }]);
  }
  return Object.fromEntries(ends);
}

/** Returns how a step ended in the run from which this run continues; null for a step that is to be executed. */
export function earlierEnd({ earlier_turns: earlier }: RunStartedData, step: string): JsonValue {
  if (earlier === undefined || addedId(step)?.parent !== earlier.agent) return null;
  return Object.entries(earlier.steps).find(([id]) => id === step)?.[1] ?? null;
}
