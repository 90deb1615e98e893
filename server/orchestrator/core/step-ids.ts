import type { CompiledGraph, CompiledStep } from './compile.ts';

/**
 * The parts of an added step's id. `each.3.fetch` is the step `fetch` of item 3 of its parent `each`. `research.2` is the
 * second turn of the agent `research` (without a name), `research.2.1` the first call of that turn, and `research.2.1.ok`
 * its approval. `research.c1` is the first compaction of its
 * conversation, under a name that no authored step has.
 */
export type AddedId = { readonly parent: string; readonly index: number; readonly name: string };

/** Authored ids contain no dot (docs/specification/steps.md#step-ids). */
const SEPARATOR = '.';
/** Ends the id of an approval. */
const APPROVAL = 'ok';
/** Begins the last part of the id of a compaction. */
const COMPACTION = 'c';
/** The name of a compaction. */
const COMPACTION_NAME = '.c';

/** Returns the prefix of the ids of all steps of an item. */
export function itemPrefix(parent: string, index: number): string {
  return `${parent}${SEPARATOR}${index}${SEPARATOR}`;
}

/** Turns are counted from 1. */
export function turnId(agent: string, turn: number): string {
  return `${agent}${SEPARATOR}${turn}`;
}

/** Calls are counted from 1. */
export function callId(turn: string, call: number): string {
  return `${turn}${SEPARATOR}${call}`;
}

export function approvalId(call: string): string {
  return `${call}${SEPARATOR}${APPROVAL}`;
}

/** Compactions are counted from 1. */
export function compactionId(agent: string, compaction: number): string {
  return `${agent}${SEPARATOR}${COMPACTION}${compaction}`;
}

/** Parses the id of an added step; null for an authored step. */
export function addedId(step: string): AddedId | null {
  const last = step.lastIndexOf(SEPARATOR);
  if (last < 0) return null;
  const before = step.lastIndexOf(SEPARATOR, last - 1);
  if (isNumber(step, last)) {
    const isCall = before >= 0 && isNumber(step, before);
    if (isCall) return parts(step, before, last);
    return { parent: step.slice(0, last), index: Number(step.slice(last + 1)), name: '' };
  }
  // A name follows the number of an item; a compaction's name follows the name of its agent.
  if (before < 0 || !isNumber(step, before)) return compaction(step, last);
  const first = step.lastIndexOf(SEPARATOR, before - 1);
  return first >= 0 && isNumber(step, first) ? parts(step, first, before) : parts(step, before, last);
}

/** Returns the type of a step under an agent, which its id determines; null for any other step. */
export function agentStepType(
  step: string,
): 'agent_turn' | 'agent_tool' | 'agent_approval' | 'agent_compaction' | null {
  const id = addedId(step);
  if (id === null) return null;
  if (id.name === '') return 'agent_turn';
  if (id.name === COMPACTION_NAME) return 'agent_compaction';
  if (!isDigit(id.name.charCodeAt(0))) return null;
  return id.name.includes(SEPARATOR) ? 'agent_approval' : 'agent_tool';
}

function compaction(step: string, last: number): AddedId | null {
  const number = Number(step.slice(last + 2));
  if (step[last + 1] !== COMPACTION || !Number.isInteger(number) || number < 1) return null;
  return { parent: step.slice(0, last), index: number, name: COMPACTION_NAME };
}

function parts(step: string, first: number, second: number): AddedId {
  return { parent: step.slice(0, first), index: Number(step.slice(first + 1, second)), name: step.slice(second + 1) };
}

/** Whether a number follows the separator: authored ids do not begin with a digit. */
const isNumber = (step: string, separator: number): boolean => isDigit(step.charCodeAt(separator + 1));
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Returns the authored step under which a step was added; for an authored step, the step itself. */
export function rootOf(step: string): string {
  const end = step.indexOf(SEPARATOR);
  return end < 0 ? step : step.slice(0, end);
}

/** Returns the number of parents above a step: 0 for an authored one. */
export function depthOf(step: string): number {
  return Math.floor((step.split(SEPARATOR).length - 1) / 2);
}

/**
 * Returns the step of the published graph that an id names, at any depth. The ids in the result are relative to the
 * graph that contains it.
 */
export function templateStep(graph: CompiledGraph, step: string): CompiledStep | undefined {
  const id = addedId(step);
  if (id === null) return graph.steps.get(step);
  return templateStep(graph, id.parent)?.inner?.steps.get(id.name);
}

/** Returns the type of the step that an id names in runs of the graph, in memory or not; undefined for an impossible id. */
export function typeOfStep(graph: CompiledGraph, step: string): string | undefined {
  const type = agentStepType(step);
  if (type === null) return templateStep(graph, step)?.spec.type;
  const parent = addedId(step)?.parent ?? step;
  return templateStep(graph, parent)?.spec.type === 'agent' ? type : undefined;
}
