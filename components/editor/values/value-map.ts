import { isObject } from '@/server/platform/json.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';

/** A table of names, each with a text that may hold templates, or with any other JSON, which stays as it is. */
export type ValueMap = readonly (readonly [name: string, value: Json])[];

/** Returns an object as a table; null for JSON that is none. Left out, it is an empty one. */
export function readMap(value: Json | undefined): ValueMap | null {
  if (value === undefined) return [];
  return isObject(value) ? (Object.entries(value) as [string, Json][]) : null;
}

/** Returns a table as an object; undefined: left out, because it is empty. */
export function writeMap(map: ValueMap): { [name: string]: Json } | undefined {
  return map.length === 0 ? undefined : Object.fromEntries(map);
}

/** Returns why an entry cannot have a name; null: it can. */
export function entryProblem(name: string, others: readonly string[]): string | null {
  if (name.trim() === '') return 'Enter a name.';
  return others.includes(name) ? 'Another value has this name.' : null;
}

/** Returns what a value is called that is picked for an entry without a name of its own: the last name of its path. */
export function nameOfPath(path: readonly (string | number)[]): string {
  const name = path.findLast(part => typeof part === 'string' && part !== 'result');
  return String(name ?? 'value');
}
