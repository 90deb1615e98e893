import { isObject } from '@/server/platform/json.ts';
import type { Json, Step } from '../../../server/domains/workflows/edits/index.ts';

/** What the code of a step can read, as examples: their keys are what completion offers. */
export type CompletionData = { input: Json; steps: readonly CompletionStep[] };
export type CompletionStep = { id: string; name: string; result: Json };
/** The input and the results of a run that has taken place. */
export type RunValues = { input: Json; results: ReadonlyMap<string, Json> };

const MAX_SCHEMA_DEPTH = 6;
const USAGE = { input_tokens: 0, output_tokens: 0 };

/** Returns an example of what a JSON Schema describes; null where it says too little. */
export function exampleOf(schema: unknown, depth = 0): Json {
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return null;
  const { type, properties, items } = schema;
  if (isObject(properties)) {
    const entries = Object.entries(properties).map(([key, each]) => [key, exampleOf(each, depth + 1)] as const);
    return Object.fromEntries(entries);
  }
  if (type === 'array') return [exampleOf(items, depth + 1)];
  if (type === 'object') return {};
  if (type === 'string') return '';
  if (type === 'boolean') return false;
  return type === 'number' || type === 'integer' ? 0 : null;
}

/** Returns an example of a step's result as its type defines it (docs/specification/steps.md); null for any value. */
function resultOf(step: Step): Json {
  switch (step.type) {
    case 'condition':
      return { value: true, branch: 'then' };
    case 'human_task':
      return merged(exampleOf(step.form), { approved: true, completed_by: '', completed_at: '' });
    case 'wait':
      return { waited_until: '' };
    case 'for_each':
      return { results: [], failed: 0 };
    case 'http_request':
      return isObject(step.pagination)
        ? { status: 200, headers: {}, items: [], pages: 1, more: false }
        : { status: 200, headers: {}, body: null };
    case 'llm_call': {
      const answer = { text: '', model: '', finish_reason: '', usage: USAGE };
      return isObject(step.response_schema) ? { ...answer, object: exampleOf(step.response_schema) } : answer;
    }
    default:
      return null;
  }
}

/** Joins two examples; where both have a value that is not an object, the later one counts. */
export function merged(one: Json, other: Json): Json {
  if (other === null) return one;
  if (!isObject(one) || !isObject(other)) return other;
  const result = new Map<string, Json>(Object.entries(one));
  for (const [key, value] of Object.entries(other)) result.set(key, merged(result.get(key) ?? null, value));
  return Object.fromEntries(result);
}

/**
 * Returns what the code of a step can read: the steps before it (`before`, nearest first), and the keys of all known inputs.
 */
export function completionData(
  steps: readonly Step[],
  before: readonly string[],
  inputs: readonly unknown[],
  run: RunValues | null,
): CompletionData {
  const byId = new Map(steps.map(step => [step.id, step]));
  const known = inputs.filter(isObject) as Json[];
  return {
    input: [...known, ...(run ? [run.input] : [])].reduce(merged, {}),
    steps: before.flatMap(id => {
      const step = byId.get(id);
      if (step === undefined) return [];
      const name = typeof step.name === 'string' && step.name !== '' ? step.name : step.type;
      return [{ id, name, result: merged(resultOf(step), run?.results.get(id) ?? null) }];
    }),
  };
}
