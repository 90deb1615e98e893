import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';

/** A line of a table of names and values. `key` identifies the line while other lines are added and removed. */
export type Row = { key: number; name: string; value: Json };

let lastKey = 0;
export function newRow(name = '', value: Json = ''): Row {
  lastKey += 1;
  return { key: lastKey, name, value };
}

const isFlat = (value: Json): boolean => typeof value !== 'object' || value === null;

/** Returns the lines of a map; null for a value that a table cannot show, such as nested objects. */
export function rowsOf(value: unknown): Row[] | null {
  if (value === undefined) return [];
  if (!isObject(value as Json)) return null;
  const rows: Row[] = [];
  for (const [name, each] of Object.entries(value as JsonObject)) {
    const values = Array.isArray(each) ? each : [each];
    if (!values.every(isFlat)) return null;
    rows.push(...values.map(one => newRow(name, one)));
  }
  return rows;
}

/** Returns the map for lines; a repeated name has a list as its value. undefined if there are no lines. */
export function mapOf(rows: readonly Row[]): JsonObject | undefined {
  const map = new Map<string, Json>();
  const lists = new Map<string, Json[]>();
  for (const { name, value } of rows) {
    if (name === '') continue;
    const list = [...(lists.get(name) ?? []), value];
    lists.set(name, list);
    map.set(name, list.length === 1 ? value : list);
  }
  return map.size === 0 ? undefined : Object.fromEntries(map);
}

/** Returns whether two tables have the same map. */
export function sameMap(rows: readonly Row[], others: readonly Row[]): boolean {
  return JSON.stringify(mapOf(rows)) === JSON.stringify(mapOf(others));
}

/** Returns the text of a value as its cell shows it. */
export const cellText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
