import { nodeSize, type Point } from './layout.ts';
import type { Size } from './notes.ts';

export type Box = Point & Size;
type Places = ReadonlyMap<string, Point>;
type Sizes = ReadonlyMap<string, Size>;

/** The room of an open loop around its steps: its head, and below them the “+” of its last step. */
export const CONTAINER = { top: nodeSize.height + 24, side: 24, bottom: 40 };
/** The body of a loop that has no steps yet, where the first one is added. */
const EMPTY_BODY: Size = { width: nodeSize.width, height: 40 };

/** Returns the size of an open loop around the box of its steps; null: it has none. */
export function containerSize(box: Box | null): Size {
  const { width, height } = box ?? EMPTY_BODY;
  return {
    width: Math.max(width, nodeSize.width) + 2 * CONTAINER.side,
    height: height + CONTAINER.top + CONTAINER.bottom,
  };
}

/**
 * Returns where the steps are drawn while some of them are open loops of these `sizes`: what is below an open loop moves down, what is beside
 * it moves aside. The layout knows nothing of open loops, so that opening one lays out nothing again and closing it restores each place.
 */
export function makeRoom(places: Places, sizes: Sizes): Places {
  if (sizes.size === 0) return places;
  const loops = [...sizes].flatMap(([id, size]) => {
    const at = places.get(id);
    return at === undefined
      ? []
      : [{ ...at, taller: size.height - nodeSize.height, wider: size.width - nodeSize.width }];
  });
  loops.sort((a, b) => a.y - b.y);
  // By how much what begins below each loop moves down; loops beside each other do not add up.
  const below: { y: number; by: number }[] = [];
  const downAt = (y: number) => below.reduce((most, each) => (each.y <= y ? Math.max(most, each.by) : most), 0);
  for (const { y, taller } of loops) below.push({ y: y + nodeSize.height, by: downAt(y) + taller });
  return new Map(
    [...places].map(([id, { x, y }]) => {
      const own = sizes.get(id);
      let aside = own === undefined ? 0 : (nodeSize.width - own.width) / 2;
      for (const loop of loops) {
        if (Math.abs(loop.y - y) >= nodeSize.height || loop.x === x) continue;
        aside += (x > loop.x ? loop.wider : -loop.wider) / 2;
      }
      return [id, { x: x + aside, y: y + downAt(y) }];
    }),
  );
}

/** Returns the box around steps as they are drawn; null around none. */
export function boxAround(drawn: Places, sizes: Sizes): Box | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [id, { x, y }] of drawn) {
    const { width, height } = sizes.get(id) ?? nodeSize;
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return left === Infinity ? null : { x: left, y: top, width: right - left, height: bottom - top };
}
