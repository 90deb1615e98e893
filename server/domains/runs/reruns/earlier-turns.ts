import type { Pool } from 'pg';
import {
  addedId,
  agentStepType,
  approvalId,
  type Graph,
  itemPrefix,
  type JsonMap,
  type RunStartedData,
  turnId,
} from '../../../orchestrator/core/index.ts';
import { invalid } from '../../../platform/errors.ts';
import { isObject } from '../../../platform/json.ts';
import { findAddedFields, listAddedEnds } from '../steps/added-step-store.ts';
import { readRecordedValues } from '../values/recorded.ts';

/** The maximum number of bytes that the turns of one agent may take in their results. */
const BUDGET_BYTES = 16 * 1024 * 1024;

/** A turn of an agent that is an authored step, outside of loops. */
export type Turn = { agent: string; index: number };

/** Returns the turn that an id names. Returns null if the id names no turn, or a turn that the run did not add. */
export async function findTurn(pool: Pool, runId: string, graph: Graph, step: string): Promise<Turn | null> {
  const id = agentStepType(step) === 'agent_turn' ? addedId(step) : null;
  if (id === null || !graph.steps.some(each => each.id === id.parent && each.type === 'agent')) return null;
  const added = await findAddedFields(pool, runId, { parent: id.parent, step });
  return added === null ? null : { agent: id.parent, index: id.index };
}

/**
 * Returns how the steps of an agent before a turn ended; undefined for the first turn. Throws AppError 422
 * `rerun_too_large`.
 */
export async function earlierTurns(
  pool: Pool,
  runId: string,
  { agent, index }: Turn,
): Promise<RunStartedData['earlier_turns']> {
  const ends = await listAddedEnds(pool, runId, agent);
  const from = turnId(agent, index);
  const at = ends.findIndex(({ step_id }) => step_id === from || step_id.startsWith(itemPrefix(agent, index)));
  const before = at < 0 ? ends : ends.slice(0, at);
  if (before.length === 0) return undefined;
  const ids = before.map(({ step_id }) => step_id);
  const { results } = await readRecordedValues(pool, runId, BUDGET_BYTES, ids);
  const steps: JsonMap = {};
  for (const { step_id: id, error, skipped } of before) {
    if (agentStepType(id) === 'agent_approval') continue;
    const found = results.get(id);
    if (found?.ref !== undefined)
      throw invalid('The results of the old run are too large to start from.', undefined, 'rerun_too_large');
    if (error !== null) steps[id] = { error };
    else if (skipped === 'not_repeated') steps[id] = { error: NOT_REPEATED };
    else if (skipped !== null) steps[id] = { error: rejection(results.get(approvalId(id))?.value) };
    else if (found !== undefined) steps[id] = { result: found.value };
  }
  return { agent, steps };
}

/** The error of a call that was not repeated although it may have been carried out. */
const NOT_REPEATED: JsonMap = {
  code: 'not_repeated',
  message: 'the call may have been carried out; a person decided not to repeat it',
};

/** Returns the error of a call that was not approved. The model receives it as a failed call. */
function rejection(answer: unknown): JsonMap {
  const { completed_by: by, reason } = isObject(answer) ? answer : {};
  const who = typeof by === 'string' ? `${by} did not approve the call` : 'the call was not approved';
  return { code: 'not_approved', message: typeof reason === 'string' && reason !== '' ? `${who}: ${reason}` : who };
}
