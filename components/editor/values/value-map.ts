import { isObject } from '@/server/platform/json.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';

/**
 * A table of names and values. A value is a text that may contain templates, or any other JSON, which cannot be edited.
 */
export type ValueMap = readonly (readonly [name: string, value: Json])[];

/** Returns an object as a table; null for JSON that is not an object. An absent value is an empty table. */
export function readMap(value: Json | undefined): ValueMap | null {
  if (value === undefined) return [];
  return isObject(value) ? (Object.entries(value) as [string, Json][]) : null;
}

/** Returns a table as an object; undefined for an empty table. */
export function writeMap(map: ValueMap): { [name: string]: Json } | undefined {
  return map.length === 0 ? undefined : Object.fromEntries(map);
}

/** Returns the reason why an entry cannot have a name; null if it can. */
export function entryProblem(name: string, others: readonly string[]): string | null {
  if (name.trim() === '') return 'Enter a name.';
  return others.includes(name) ? 'Another value has this name.' : null;
}

/** Returns the name for a value picked for an unnamed entry: the last name of its path. */
export function nameOfPath(path: readonly (string | number)[]): string {
  const name = path.findLast(part => typeof part === 'string' && part !== 'result');
  return String(name ?? 'value');
}
