import { nodeSize, type Point } from './layout.ts';
import type { Size } from './notes.ts';

export type Box = Point & Size;
type Places = ReadonlyMap<string, Point>;
type Sizes = ReadonlyMap<string, Size>;

/** The padding of an open loop around its steps, for its header and for the “+” below its last step. */
export const CONTAINER = { top: nodeSize.height + 24, side: 24, bottom: 40 };
/** The size of the body of a loop without steps. People add the first step there. */
const EMPTY_BODY: Size = { width: nodeSize.width, height: 40 };

/** Returns the size of an open loop. `box` is the box around its steps; null if the loop has no steps. */
export function containerSize(box: Box | null): Size {
  const { width, height } = box ?? EMPTY_BODY;
  return {
    width: Math.max(width, nodeSize.width) + 2 * CONTAINER.side,
    height: height + CONTAINER.top + CONTAINER.bottom,
  };
}

/**
 * Returns the places of the steps while loops of these `sizes` are open: steps below an open loop move down, steps beside it move aside.
 * Open loops are not part of the layout, so that opening a loop needs no new layout and closing it restores each place.
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
  // The distance by which the steps below each loop move down. Loops beside each other do not add up.
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

/** Returns the box around drawn steps; null if there are no steps. */
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

/**
 * The visible part of a drawing, in React Flow's terms: the position of the drawing's origin on the screen, in pixels.
 */
type View = Point & { zoom: number; width: number };

/**
 * Returns the widths of the parts of an open loop's header that are out of view at its two ends. The text of the header
 * moves by that much into the view, so that it can be read even if the loop is wider than a phone; it keeps at least
 * the width of a step.
 */
export function headInsets(loop: { x: number; width: number }, view: View): { left: number; right: number } {
  if (view.width === 0) return { left: 0, right: 0 };
  const room = loop.width - nodeSize.width;
  const before = -view.x / view.zoom - loop.x;
  const after = loop.x + loop.width - (view.width - view.x) / view.zoom;
  const left = Math.round(Math.min(Math.max(before, 0), room));
  return { left, right: Math.round(Math.min(Math.max(after, 0), room - left)) };
}
