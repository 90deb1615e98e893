import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import { parseJson } from '@/server/platform/json-text.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { edgesOf, type GraphEdge, type GraphStepInput } from '../../graph/layout.ts';
import { stepsOfLoop } from '../../graph/loop-steps.ts';
import type { Outputs } from '../../trpc/provider.tsx';

type RunContext = Outputs['runs_get_context'];
type RunEvent = Outputs['runs_list_events']['events'][number];

/** Returns the ids of all steps before a step, nearest first. */
export function stepsBefore(edges: readonly GraphEdge[], step: string): string[] {
  const found = new Set<string>();
  const open = [step];
  for (let id = open.shift(); id !== undefined; id = open.shift()) {
    for (const { from, to } of edges) {
      if (to !== id || found.has(from) || from === step) continue;
      found.add(from);
      open.push(from);
    }
  }
  return [...found];
}

/** A step, or one of its outer loops, with the edges of its level. */
type Level = { edges: readonly GraphEdge[]; id: string };

/**
 * Returns the levels of a step and of its outer loops, from the inside out. `path` has their ids, from the outside in.
 */
export function levelsOf(steps: readonly Step[], path: readonly string[]): Level[] {
  const levels: Level[] = [];
  let level = steps;
  for (const id of path) {
    levels.unshift({ edges: edgesOf(level as readonly GraphStepInput[]), id });
    const loop = level.find(step => step.id === id);
    level = (loop && stepsOfLoop(loop)) ?? [];
  }
  return levels;
}

/** Returns a run's results of the steps before the tested step, and the ids of the results that are too large to show. */
export function resultsOf(context: Pick<RunContext, 'steps'>, before: readonly string[]) {
  const found = before.flatMap(id => {
    const step = Object.hasOwn(context.steps, id) ? context.steps[id] : undefined;
    return step === undefined ? [] : [{ id, ...step }];
  });
  return {
    results: Object.fromEntries(
      found.filter(step => step.result_ref === undefined).map(({ id, result }) => [id, result as Json]),
    ),
    tooLarge: found.filter(step => step.result_ref !== undefined).map(({ id }) => id),
  };
}

/** Parses a text as an object keyed by step id. Empty text is an empty object. */
export function readResults(text: string, before: readonly string[]): { results: JsonObject } | { problem: string } {
  if (text.trim() === '') return { results: {} };
  try {
    const value: unknown = parseJson(text);
    if (!isObject(value)) return { problem: 'Enter an object with step IDs as keys.' };
    const unknown = Object.keys(value).find(id => !before.includes(id));
    if (unknown !== undefined) return { problem: `“${unknown}” is not a step before this one.` };
    return { results: value };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

/** Parses a text as the item of a loop, which may be any JSON. Empty text is null. */
export function readItem(text: string): { item: Json } | { problem: string } {
  if (text.trim() === '') return { item: null };
  try {
    return { item: parseJson(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

export type TestOutcome = {
  result: Json | undefined;
  resultRef: { payload_id: string; bytes: number } | null;
  logs: string[];
};

/** Returns the result and the log of a step from its events. */
export function outcomeOf(events: readonly RunEvent[]): TestOutcome {
  const logs = events
    .filter(event => event.event_type === 'step_log')
    .flatMap(({ data }) => (Array.isArray(data.lines) ? data.lines.map(String) : []));
  const data = events.findLast(event => event.event_type === 'step_completed')?.data;
  const ref = data?.result_ref;
  const resultRef =
    isObject(ref) && typeof ref.payload_id === 'string' && typeof ref.bytes === 'number'
      ? { payload_id: ref.payload_id, bytes: ref.bytes }
      : null;
  return { result: data?.result as Json | undefined, resultRef, logs };
}
