export type Side = 'top' | 'right' | 'bottom' | 'left';
type Size = { width: number; height: number };
type Box = { left: number; top: number; right: number; bottom: number };
type Point = { x: number; y: number };

/** The gap between a trigger and its bubble. */
const OFFSET = 6;
/** The distance that a bubble keeps from the edges of the window. */
const PADDING = 8;

/**
 * Returns the top left corner of a bubble beside its trigger: centered at `side`, at the opposite side if it only fits there, and moved
 * along the trigger to stay within the window.
 */
export function placeBubble(trigger: Box, bubble: Size, side: Side, window: Size): Point {
  const isVertical = side === 'top' || side === 'bottom';
  const [start, end, length, limit] = isVertical
    ? [trigger.top, trigger.bottom, bubble.height, window.height]
    : [trigger.left, trigger.right, bubble.width, window.width];
  const before = start - OFFSET - length;
  const after = end + OFFSET;
  const fits = (at: number) => at >= PADDING && at + length <= limit - PADDING;
  const [preferred, other] = side === 'top' || side === 'left' ? [before, after] : [after, before];
  const crossAt = fits(preferred) || !fits(other) ? preferred : other;
  const alongAt = isVertical
    ? within((trigger.left + trigger.right - bubble.width) / 2, window.width - bubble.width)
    : within((trigger.top + trigger.bottom - bubble.height) / 2, window.height - bubble.height);
  return isVertical
    ? { x: Math.round(alongAt), y: Math.round(crossAt) }
    : { x: Math.round(crossAt), y: Math.round(alongAt) };
}

const within = (at: number, limit: number): number => Math.max(PADDING, Math.min(at, limit - PADDING));

/** Returns whether a point is on one of the boxes, or so close that it may be moving from one to the other. */
export function isAround({ x, y }: Point, boxes: readonly Box[]): boolean {
  return boxes.some(
    box => x >= box.left - OFFSET && x <= box.right + OFFSET && y >= box.top - OFFSET && y <= box.bottom + OFFSET,
  );
}
