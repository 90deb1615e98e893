import type { Pool } from 'pg';
import {
  addedId,
  agentStepType,
  approvalId,
  type CompiledGraph,
  compile,
  type Graph,
  type GraphStep,
  innerSteps,
  itemPrefix,
  type JsonValue,
  templateStep,
  turnId,
} from '../../../orchestrator/core/index.ts';
import { argumentsOfCall } from '../../../orchestrator/steps/agent/tool.ts';
import { findAddedFields, findLoopItem } from './added-step-store.ts';

/** A step that was added to a run, as its graph or the log describes it. */
export type AddedStep = {
  definition: GraphStep;
  /** Returns the full id of the step that the added step reads by this name. */
  fullId(name: string): string;
  /** The item for which the step is executed; null outside of loops. */
  item: { item: JsonValue; index: number } | null;
  /** The steps whose results hold the arguments of an agent's call; null if the step is no call or approval. */
  call: { turn: string; approval: string; number: number } | null;
};

/** Returns a step that was added to a run, under a loop or an agent; null if no step with this id was added. */
export async function findAddedStep(pool: Pool, runId: string, graph: Graph, step: string): Promise<AddedStep | null> {
  const id = addedId(step);
  const added = id === null ? null : await findAddedFields(pool, runId, { parent: id.parent, step });
  if (id === null || added === null) return null;
  if (agentStepType(step) !== null) {
    const definition = { ...added.fields, id: step, type: added.type, depends_on: added.depends_on ?? [] };
    return { definition, fullId: name => name, item: null, call: callOf(step) };
  }
  const compiled = compile(graph);
  const template = templateStep(compiled, step);
  if (template === undefined) return null;
  const { spec } = template;
  return {
    definition: { ...spec, id: step },
    fullId: name => fullId(compiled, step, name),
    item: { item: await findLoopItem(pool, runId, id), index: id.index },
    call: null,
  };
}

/** Returns whether the graph, one of its loops or the run has a step with this id. */
export async function hasStep(pool: Pool, runId: string | null, graph: Graph, step: string): Promise<boolean> {
  if (isIn(graph.steps, step)) return true;
  return runId !== null && (await findAddedStep(pool, runId, graph, step)) !== null;
}

const isIn = (steps: readonly GraphStep[], id: string): boolean =>
  steps.some(step => step.id === id || isIn(innerSteps(step) ?? [], id));

/** A step in a loop reads the steps of its item, and every step that the loop may read. */
function fullId(graph: CompiledGraph, step: string, name: string): string {
  const id = addedId(step);
  if (id === null) return name;
  const isInItem = templateStep(graph, id.parent)?.inner?.steps.has(name) === true;
  return isInItem ? `${itemPrefix(id.parent, id.index)}${name}` : fullId(graph, id.parent, name);
}

function callOf(step: string): AddedStep['call'] {
  const id = addedId(step);
  const number = Number.parseInt(id?.name ?? '', 10);
  if (id === null || Number.isNaN(number)) return null;
  const turn = turnId(id.parent, id.index);
  return { turn, approval: approvalId(`${turn}.${number}`), number };
}

/**
 * Returns the arguments of an agent's call, with the changes of the person who approved the call; null if the log does
 * not contain them.
 */
export function argumentsOf(
  { turn, approval, number }: NonNullable<AddedStep['call']>,
  result: (step: string) => JsonValue,
): JsonValue {
  return argumentsOfCall(result(turn), number, result(approval));
}
