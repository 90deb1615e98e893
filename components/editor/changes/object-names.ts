import type { DraftDiff } from '../../../server/domains/workflows/edits/index.ts';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The names of objects by id. */
export type Names = ReadonlyMap<string, string>;
type Thing = { id: string; name: string };

/** Returns whether the changes may contain the id of an object that has a name. */
export const hasIds = (diff: DraftDiff): boolean => JSON.stringify(diff).search(UUID) >= 0;

/** Returns the names of objects. A name that several objects share gets the beginning of the id as a suffix. */
export function namesOf(things: readonly Thing[]): Names {
  const shared = new Set(things.filter(({ id, name }) => things.some(each => each.name === name && each.id !== id)));
  return new Map(
    things.map(thing => [thing.id, shared.has(thing) ? `${thing.name} (${thing.id.slice(-8)})` : thing.name]),
  );
}

/** A part of a text. If `id` is set, the part is the name of the object with this id. */
export type TextPart = { at: number; text: string; id: string | null };

/** Splits a text and replaces ids by names. An id without a name stays. */
export function partsWithNames(text: string, names: Names): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: id, index } of text.matchAll(UUID)) {
    const name = names.get(id);
    if (name === undefined) continue;
    if (index > end) parts.push({ at: end, text: text.slice(end, index), id: null });
    parts.push({ at: index, text: name, id });
    end = index + id.length;
  }
  if (end < text.length) parts.push({ at: end, text: text.slice(end), id: null });
  return parts;
}

/** The fields of a step that refer to other steps. */
const STEP_LISTS: ReadonlySet<string> = new Set(['depends_on', 'then', 'else']);

/** Returns a value with step ids replaced by names, if the field refers to steps. */
export function withStepNames<V>(field: string, value: V, nameOf: (id: string) => string): V | string[] {
  if (!STEP_LISTS.has(field) || !Array.isArray(value)) return value;
  return value.map(each => (typeof each === 'string' ? nameOf(each) : String(each)));
}
