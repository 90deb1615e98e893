import { describe, expect, test } from 'vitest';
import { firstView, LEGIBLE_ZOOM, MARGIN } from './first-view.ts';
import { nodeSize, type Point } from './layout.ts';

const ROOM = { width: 800, height: 600, top: 56 };
const column = (count: number): Point[] => Array.from({ length: count }, (_, at) => ({ x: 0, y: at * 116 }));
const row = (count: number): Point[] => Array.from({ length: count }, (_, at) => ({ x: at * 248, y: 0 }));
/** Returns the position of a step on the screen. */
const positionOf = ({ x, y, zoom }: Point & { zoom: number }, place: Point) => ({
  left: place.x * zoom + x,
  right: (place.x + nodeSize.width) * zoom + x,
  top: place.y * zoom + y,
  bottom: (place.y + nodeSize.height) * zoom + y,
});

describe('a graph is opened', () => {
  test.each([1, 3, 4])('whole, where %i steps below each other can be read', count => {
    const places = column(count);
    const view = firstView(places, ROOM);
    expect(view.zoom).toBeGreaterThanOrEqual(LEGIBLE_ZOOM);
    for (const place of places) {
      const box = positionOf(view, place);
      expect(box.top).toBeGreaterThanOrEqual(ROOM.top - 1);
      expect(box.bottom).toBeLessThanOrEqual(ROOM.height - MARGIN + 1);
      expect((box.left + box.right) / 2).toBeCloseTo(ROOM.width / 2);
    }
  });

  test('never larger than it is', () => expect(firstView(column(1), ROOM).zoom).toBe(1));

  test('at its beginning, where it is too high', () => {
    const view = firstView(column(40), ROOM);
    expect(view.zoom).toBe(LEGIBLE_ZOOM);
    expect(positionOf(view, { x: 0, y: 0 }).top).toBeCloseTo(ROOM.top);
  });

  test('with its first step in the middle, where it is too wide', () => {
    const view = firstView(row(40), ROOM);
    expect(view.zoom).toBe(LEGIBLE_ZOOM);
    const { left, right } = positionOf(view, { x: 0, y: 0 });
    expect((left + right) / 2).toBeCloseTo(ROOM.width / 2);
  });

  test('at the step that is asked for, where not all of it can be read', () => {
    const at = { x: 0, y: 30 * 116 };
    const { top, bottom } = positionOf(firstView(column(40), ROOM, { at }), at);
    expect((top + bottom) / 2).toBeCloseTo((ROOM.height + ROOM.top - MARGIN) / 2);
    expect(firstView(column(3), ROOM, { at })).toEqual(firstView(column(3), ROOM));
  });

  test('whole down to the smallest zoom that is asked for', () => {
    const smallest = firstView(column(9), ROOM, { smallest: 0.1 }).zoom;
    expect(smallest).toBeLessThan(LEGIBLE_ZOOM);
    expect(firstView(column(9), ROOM, { smallest }).zoom).toBe(smallest);
    expect(firstView(column(9), ROOM, { smallest: smallest + 0.001 }).zoom).toBe(LEGIBLE_ZOOM);
  });

  test('anyhow, where it has no steps', () => expect(firstView([], ROOM)).toEqual({ x: 0, y: 0, zoom: 1 }));
});
