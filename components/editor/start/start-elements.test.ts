import { expect, test } from 'vitest';
import { drawAtOnce } from '../../graph/layout.ts';
import { boxesOf, levelsOf } from '../../graph/levels.ts';
import { startBox, startLines } from './start-elements.ts';

const levelsWith = (count: number) => {
  const steps = Array.from({ length: count }, (_, n) => ({ id: `s${n}`, type: 'lua_script' }));
  return levelsOf(drawAtOnce(steps), () => false, new Map());
};
const middle = ({ x, width }: { x: number; width: number }) => x + width / 2;

test('the start is centered above a few first steps, but above the first one of many', () => {
  const few = levelsWith(2);
  const boxes = boxesOf(few);
  const [a, b] = [boxes.get('s0'), boxes.get('s1')];
  const start = startBox(few, boxes);
  if (!a || !b || !start) throw new Error('not drawn');
  expect(middle(start)).toBe((middle(a) + middle(b)) / 2);
  expect(start.y + start.height).toBeLessThan(a.y);
  const many = levelsWith(400);
  const first = boxesOf(many).get('s0');
  const above = startBox(many, boxesOf(many));
  expect(above && first && middle(above) - middle(first)).toBe(0);
});

test('the start has lines to a few first steps, but not to many', () => {
  expect(startLines(levelsWith(2)).map(({ target }) => target)).toEqual(['s0', 's1']);
  expect(startLines(levelsWith(400))).toEqual([]);
  expect(startBox(levelsWith(0), new Map())).toBeNull();
});
