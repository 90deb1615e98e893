import { isObject } from '@/server/platform/json.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';

/** Examples of the values that the code of a step can read. Completion offers their keys. */
export type CompletionData = {
  input: Json;
  steps: readonly CompletionStep[];
  /** The item of the loop around the step; null outside of loops. */
  loop: { item: Json } | null;
};
export type CompletionStep = { id: string; name: string; result: Json };

/** `steps.a.result["odd name"][0]` → ['steps', 'a', 'result', 'odd name', '0']. */
export function segmentsOf(path: string): string[] {
  return [...path.matchAll(/\["([^"\]]*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, name]) =>
    String(quoted ?? index ?? name),
  );
}

/** Returns the value at a path. Any index of a list returns the first entry: the entries are alike, and Lua counts from 1. */
export function valueAt(value: Json, path: readonly string[]): Json {
  let current: Json = value;
  for (const segment of path) {
    if (Array.isArray(current)) current = /^\d+$/.test(segment) ? ((current[0] as Json | undefined) ?? null) : null;
    else current = isObject(current) && Object.hasOwn(current, segment) ? (current[segment] ?? null) : null;
  }
  return current;
}

/** Returns the example at a path such as ['steps', 'order', 'result', 'lines']; null if it is unknown. */
export function exampleAt([root, ...rest]: readonly string[], { input, steps, loop }: CompletionData): Json {
  if (root === 'input') return valueAt(input, rest);
  if (root === 'item') return valueAt(loop?.item ?? null, rest);
  const [id, part, ...path] = rest;
  const step = root === 'steps' && part === 'result' ? steps.find(each => each.id === id) : undefined;
  return valueAt(step?.result ?? null, path);
}

const PLAIN_PATH =
  /^\s*(?:\{\{)?\s*((?:input|steps|item)(?:\.[A-Za-z_][\w-]*|\[\d+\]|\["[^"\]]*"\])*)\s*(?:\?\?[^}]*)?(?:\}\})?\s*$/;

/** Returns the segments of a text that consists of one path or of one template with a path; null for any other text. */
export function plainPath(text: string): string[] | null {
  const path = PLAIN_PATH.exec(text)?.[1];
  return path === undefined ? null : segmentsOf(path);
}
