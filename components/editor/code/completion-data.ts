import type { JsonValue } from '@/server/orchestrator/core/index.ts';
import { stepPreview } from '@/server/orchestrator/steps/step-previews.ts';
import { isObject } from '@/server/platform/json.ts';
import type { Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import { type CompletionData, type CompletionStep, exampleAt, plainPath } from './example-values.ts';
import type { Readable } from './readable.ts';

/** The input and the results of a past run. */
export type RunValues = { input: Json; results: ReadonlyMap<string, Json> };

const MAX_SCHEMA_DEPTH = 6;

/** Returns an example of a JSON Schema; null if the schema says too little. */
export function exampleOf(schema: unknown, depth = 0): JsonValue {
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

/** Merges two examples. If both have a value that is not an object, the second value wins. */
export function mergeExamples(one: Json, other: Json): Json {
  if (other === null) return one;
  if (!isObject(one) || !isObject(other)) return other;
  const result = new Map<string, Json>(Object.entries(one));
  for (const [key, value] of Object.entries(other)) result.set(key, mergeExamples(result.get(key) ?? null, value));
  return Object.fromEntries(result);
}

/** Examples of the values that steps read. */
export type Examples = {
  inputs: readonly unknown[];
  run: RunValues | null;
  /** The outputs of the workflows that steps call, by step id. */
  outputs: ReadonlyMap<string, Json>;
};

/**
 * Returns the values that past runs have read, without declared examples: the reader would mistake the empty text of an example for a
 * value.
 */
export function sampleData(readable: Readable, { inputs, run }: Pick<Examples, 'inputs' | 'run'>): CompletionData {
  const steps = readable.before.map((step): CompletionStep => {
    return { id: step.id, name: nameOf(step), result: run?.results.get(step.id) ?? null };
  });
  return withItems(readable, { input: inputOf(inputs, run), steps, loop: null });
}

const nameOf = ({ name, type }: Step) => (typeof name === 'string' && name !== '' ? name : type);

const inputOf = (inputs: readonly unknown[], run: RunValues | null): Json =>
  [...(inputs.filter(isObject) as Json[]), ...(run ? [run.input] : [])].reduce(mergeExamples, {});

/** Returns the data that the code of a step can read, with the keys of all known inputs and results. */
export function completionData(readable: Readable, { inputs, run, outputs }: Examples): CompletionData {
  const steps = readable.before.map((step): CompletionStep => {
    const declared = mergeExamples(
      stepPreview(step.type).result?.(step, exampleOf) ?? null,
      outputs.get(step.id) ?? null,
    );
    return { id: step.id, name: nameOf(step), result: mergeExamples(declared, run?.results.get(step.id) ?? null) };
  });
  return withItems(readable, { input: inputOf(inputs, run), steps, loop: null });
}

function withItems({ loops }: Readable, data: CompletionData): CompletionData {
  let loop: CompletionData['loop'] = null;
  // The list of an inner loop may be a field of the item of the outer loop.
  for (const { items } of loops) loop = { item: itemOf(items, { ...data, loop }) };
  return { ...data, loop };
}

/** The number of list items whose keys are collected. */
const MAX_ITEMS = 10;

/** Returns an example of the items that a loop reads from a path; null if an expression computes the items, or if they are unknown. */
function itemOf(items: Json | undefined, data: CompletionData): Json {
  const path = typeof items === 'string' ? plainPath(items) : null;
  const list = path === null ? null : exampleAt(path, data);
  return Array.isArray(list) ? list.slice(0, MAX_ITEMS).reduce(mergeExamples, null) : null;
}

/** Returns an example of a workflow's `output` by its keys; the value of a template is unknown. */
export function exampleOfOutput(output: Json): Json {
  if (!isObject(output)) return null;
  return Object.fromEntries(Object.entries(output).map(([key, value]) => [key, exampleOfOutput(value as Json)]));
}
