import { itemsNamed } from './loop-place.ts';

/** How many items of a loop its timeline shows at a time: as many as one request reads. */
export const WINDOW = 100;

/** A loop whose items the timeline shows, and the first one of them. */
export type UnfoldedLoop = { id: string; from: number };

/** Returns the unfolded loops that an address names: `each,lines@200`. */
export function readUnfolded(text: string): UnfoldedLoop[] {
  return text
    .split(',')
    .filter(each => each !== '')
    .map(each => {
      const [id = '', from = ''] = each.split('@');
      return { id, from: /^\d{1,9}$/.test(from) ? windowOf(Number(from)) : 0 };
    });
}

export const writeUnfolded = (loops: readonly UnfoldedLoop[]): string =>
  loops.map(({ id, from }) => (from === 0 ? id : `${id}@${from}`)).join(',');

/** Returns the first of the items that are shown together with one. */
export const windowOf = (item: number): number => item - (item % WINDOW);

/** Returns the unfolded loops with the items shown among which a selected one is. */
export function showing(loops: readonly UnfoldedLoop[], selected: string | null): UnfoldedLoop[] {
  const items = itemsNamed(selected ?? '');
  return loops.map(({ id, from }) => ({ id, from: windowOf(items.get(id) ?? from) }));
}

/** Returns the row of what is selected: its own, else that of the item or of the loop around it. Null if there is none. */
export function rowOf(rows: readonly { id: string }[], selected: string | null): string | null {
  const ids = new Set(rows.map(({ id }) => id));
  let id = selected ?? '';
  while (id !== '' && !ids.has(id)) id = id.slice(0, Math.max(0, id.lastIndexOf('.')));
  return id === '' ? null : id;
}
