import { nodeSize, type Point } from '../../graph/layout.ts';
import type { Places } from '../editor-actions.ts';

/** An arrangement of the selected steps: aligned by an edge or their middles, or distributed at equal distances. */
export type Alignment = 'left' | 'center' | 'right' | 'top' | 'middle' | 'bottom' | 'across' | 'down';

/** Returns the fewest steps that an alignment changes. */
export const minimumFor = (alignment: Alignment): number => (alignment === 'across' || alignment === 'down' ? 3 : 2);

/** Returns the positions of all steps after an alignment, including unchanged positions. All steps have the same size. */
export function align(places: Places, alignment: Alignment): Places {
  if (places.size < minimumFor(alignment)) return places;
  const [xs, ys] = [[...places.values()].map(({ x }) => x), [...places.values()].map(({ y }) => y)];
  const all = (point: (at: Point) => Point) => new Map([...places].map(([id, at]) => [id, point(at)]));
  switch (alignment) {
    case 'left':
      return all(({ y }) => ({ x: Math.min(...xs), y }));
    case 'center':
      return all(({ y }) => ({ x: middle(xs), y }));
    case 'right':
      return all(({ y }) => ({ x: Math.max(...xs), y }));
    case 'top':
      return all(({ x }) => ({ x, y: Math.min(...ys) }));
    case 'middle':
      return all(({ x }) => ({ x, y: middle(ys) }));
    case 'bottom':
      return all(({ x }) => ({ x, y: Math.max(...ys) }));
    case 'across':
      return distribute(places, 'x', nodeSize.width);
    case 'down':
      return distribute(places, 'y', nodeSize.height);
  }
}

const middle = (values: readonly number[]) => Math.round((Math.min(...values) + Math.max(...values)) / 2);

/** Keeps the first and the last step in place if the steps fit between them; otherwise moves the later steps further along the axis. */
function distribute(places: Places, axis: 'x' | 'y', size: number): Places {
  const sorted = [...places].sort(([, a], [, b]) => a[axis] - b[axis]);
  const [start, end] = [sorted[0]?.[1][axis] ?? 0, sorted.at(-1)?.[1][axis] ?? 0];
  const step = Math.max((end - start) / (sorted.length - 1), size + 16);
  return new Map(sorted.map(([id, at], n) => [id, { ...at, [axis]: Math.round(start + n * step) }]));
}
