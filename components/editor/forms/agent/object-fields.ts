import { isObject } from '@/server/platform/json.ts';
import type { Fields, Json } from '../../../../server/domains/workflows/edits/index.ts';

/** Returns a value with one field of it changed; undefined where no field is left, so that it is left out. */
export function withField(value: Json | undefined, name: string, next: Json | undefined): Json | undefined {
  const fields = isObject(value) ? Object.entries(value as Fields) : [];
  const has = fields.some(([key]) => key === name);
  const changed = fields.flatMap((entry): [string, Json][] => {
    if (entry[0] !== name) return [entry];
    return next === undefined ? [] : [[name, next]];
  });
  if (!has && next !== undefined) changed.push([name, next]);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** Whether a value can be shown as these fields: there is none, or it is an object with no other ones. */
export const hasOnly = (value: Json | undefined, names: readonly string[]): boolean =>
  value === undefined || (isObject(value) && Object.keys(value).every(key => names.includes(key)));

const SCOPES = ['private', 'project', 'workspace'] as const;
export type MemoryScope = (typeof SCOPES)[number];
export type Memory = { read: readonly MemoryScope[]; write?: string };

/** Reads the memory of an agent; null for what the form cannot show. */
export function readMemory(value: Json | undefined): Memory | null {
  if (value === undefined) return { read: [] };
  if (!isObject(value) || !hasOnly(value as Json, ['read', 'write'])) return null;
  const { read, write } = value;
  const isScope = (scope: unknown): scope is MemoryScope => SCOPES.some(each => each === scope);
  if (!Array.isArray(read) || !read.every(isScope)) return null;
  if (write !== undefined && typeof write !== 'string') return null;
  return { read, ...(write !== undefined && { write }) };
}

/** Returns the memory with a scope read or not; undefined where none is read any more, since there is nothing to write to then. */
export function withScope(memory: Memory, scope: MemoryScope, on: boolean): Json | undefined {
  const read = SCOPES.filter(each => (each === scope ? on : memory.read.includes(each)));
  return read.length === 0 ? undefined : { ...memory, read };
}
