import { isObject } from '@/server/platform/json.ts';
import type { Fields, Json } from '../../../../server/domains/workflows/edits/index.ts';

/** Returns a value with one field changed; undefined if no field is left, so that the value is removed. */
export function withField(value: Json | undefined, name: string, next: Json | undefined): Json | undefined {
  const fields = isObject(value) ? Object.entries(value as Fields) : [];
  const hasField = fields.some(([key]) => key === name);
  const changed = fields.flatMap((entry): [string, Json][] => {
    if (entry[0] !== name) return [entry];
    return next === undefined ? [] : [[name, next]];
  });
  if (!hasField && next !== undefined) changed.push([name, next]);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Returns whether a form with these fields can show a value: it is absent, or an object without other fields. */
export const hasOnly = (value: Json | undefined, names: readonly string[]): boolean =>
  value === undefined || (isObject(value) && Object.keys(value).every(key => names.includes(key)));

const SCOPES = ['private', 'project', 'workspace'] as const;
export type MemoryScope = (typeof SCOPES)[number];
export type Memory = { read: readonly MemoryScope[]; write?: string };

/** Reads the memory of an agent; null if the form cannot show it. */
export function readMemory(value: Json | undefined): Memory | null {
  if (value === undefined) return { read: [] };
  if (!isObject(value) || !hasOnly(value as Json, ['read', 'write'])) return null;
  const { read, write } = value;
  const isScope = (scope: unknown): scope is MemoryScope => SCOPES.some(each => each === scope);
  if (!Array.isArray(read) || !read.every(isScope)) return null;
  if (write !== undefined && typeof write !== 'string') return null;
  return { read, ...(write !== undefined && { write }) };
}

/** Returns the memory with a scope added or removed; undefined if no scope is left, because then there is no scope to write to. */
export function withScope(memory: Memory, scope: MemoryScope, on: boolean): Json | undefined {
  const read = SCOPES.filter(each => (each === scope ? on : memory.read.includes(each)));
  return read.length === 0 ? undefined : { ...memory, read };
}
