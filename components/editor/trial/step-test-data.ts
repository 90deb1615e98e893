import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import type { GraphEdge } from '../../graph/layout.ts';
import type { Outputs } from '../../trpc/provider.tsx';

type RunContext = Outputs['runs_get_context'];
type RunEvent = Outputs['runs_list_events']['events'][number];

/** Returns the ids of all steps before a step, the nearest first. */
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

/** Returns the results that a test of a step begins with: null for each step that it directly follows. */
export function emptyResults(edges: readonly GraphEdge[], step: string): JsonObject {
  return Object.fromEntries(edges.filter(({ to }) => to === step).map(({ from }) => [from, null]));
}

/** Returns a run's results of the steps before the one under test, and the ids of those that are too large to show. */
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

/** Reads a text as an object by step id. Empty text is an empty object. */
export function readResults(text: string, before: readonly string[]): { results: JsonObject } | { problem: string } {
  if (text.trim() === '') return { results: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return { problem: 'Enter an object with the ids of steps as its keys.' };
    const unknown = Object.keys(value).find(id => !before.includes(id));
    if (unknown !== undefined) return { problem: `“${unknown}” is not a step before this one.` };
    return { results: value };
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
