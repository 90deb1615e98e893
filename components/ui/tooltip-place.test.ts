import { expect, test } from 'vitest';
import { isAround, placeBubble } from './tooltip-place.ts';

const window = { width: 400, height: 300 };
const bubble = { width: 100, height: 20 };
const boxAt = (left: number, top: number, size = 30) => ({ left, top, right: left + size, bottom: top + size });

test('a bubble is centered beside its trigger, 6 px away', () => {
  const trigger = boxAt(200, 100);
  expect(placeBubble(trigger, bubble, 'top', window)).toEqual({ x: 165, y: 74 });
  expect(placeBubble(trigger, bubble, 'bottom', window)).toEqual({ x: 165, y: 136 });
  expect(placeBubble(trigger, bubble, 'left', window)).toEqual({ x: 94, y: 105 });
  expect(placeBubble(trigger, bubble, 'right', window)).toEqual({ x: 236, y: 105 });
});

test('a bubble that does not fit moves to the other side, if it fits there, and into the window', () => {
  expect(placeBubble(boxAt(200, 10), bubble, 'top', window)).toEqual({ x: 165, y: 46 });
  expect(placeBubble(boxAt(200, 265), bubble, 'bottom', window)).toEqual({ x: 165, y: 239 });
  expect(placeBubble(boxAt(300, 100), bubble, 'right', window)).toEqual({ x: 194, y: 105 });
  expect(placeBubble(boxAt(2, 100), bubble, 'top', window)).toEqual({ x: 8, y: 74 });
  expect(placeBubble(boxAt(368, 100), bubble, 'top', window)).toEqual({ x: 292, y: 74 });
  // Fits on neither side.
  expect(placeBubble(boxAt(200, 0, 300), bubble, 'top', window)).toEqual({ x: 292, y: -26 });
});

test('a point counts as around two boxes on either box and in the gap between them', () => {
  const boxes = [boxAt(200, 100), { left: 165, top: 74, right: 265, bottom: 94 }];
  expect(isAround({ x: 210, y: 110 }, boxes)).toBe(true);
  expect(isAround({ x: 210, y: 97 }, boxes)).toBe(true);
  expect(isAround({ x: 170, y: 80 }, boxes)).toBe(true);
  expect(isAround({ x: 170, y: 120 }, boxes)).toBe(false);
  expect(isAround({ x: 210, y: 140 }, boxes)).toBe(false);
});
