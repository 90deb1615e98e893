import { itemsNamed } from './loop-place.ts';

/** The number of items of a loop that the timeline shows at a time: as many as one request reads. */
export const WINDOW = 100;

/** A loop whose items the timeline shows. `from` is the index of the first shown item. */
export type UnfoldedLoop = { id: string; from: number };

/** Parses the unfolded loops in the URL: `each,lines@200`. */
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

/** Returns the first item of the window that contains an item. */
export const windowOf = (item: number): number => item - (item % WINDOW);

/** Returns the unfolded loops, each with the window that contains the selected step. */
export function windowsAround(loops: readonly UnfoldedLoop[], selected: string | null): UnfoldedLoop[] {
  const items = itemsNamed(selected ?? '');
  return loops.map(({ id, from }) => ({ id, from: windowOf(items.get(id) ?? from) }));
}

/**
 * Returns the id of the row that shows the selected step: its own row, else the row of the item or loop around it; null
 * if there is no row.
 */
export function rowOf(rows: readonly { id: string }[], selected: string | null): string | null {
  const ids = new Set(rows.map(({ id }) => id));
  let id = selected ?? '';
  while (id !== '' && !ids.has(id)) id = id.slice(0, Math.max(0, id.lastIndexOf('.')));
  return id === '' ? null : id;
}
