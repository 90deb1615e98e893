import { expect, test } from 'vitest';
import { CONTAINER } from './containers.ts';
import { drawAtOnce, type GraphStepInput } from './layout.ts';
import {
  boxesOf,
  type LevelCache,
  levelAround,
  levelAt,
  levelsOf,
  placeAt,
  placeOf,
  sameStructure,
  selectionOf,
} from './levels.ts';

const inner = [
  { id: 'x', type: 'lua_script' },
  { id: 'y', type: 'for_each', depends_on: ['x'], steps: [{ id: 'deep', type: 'lua_script' }] },
];
const steps: GraphStepInput[] = [
  { id: 'a', type: 'lua_script' },
  { id: 'each', type: 'for_each', depends_on: ['a'], steps: inner },
  { id: 'b', type: 'lua_script', depends_on: ['each'] },
];
const all = () => true;
const levels = () => levelsOf(drawAtOnce(steps), all, new Map());

test('an open loop is a level of its own, behind the one around it', () => {
  expect(levels().map(({ node }) => node)).toEqual(['', 'each', 'each.y']);
  expect(levelsOf(drawAtOnce(steps), node => node === 'each', new Map()).map(({ node }) => node)).toEqual(['', 'each']);
});

test('every step is drawn within its loop, and nothing over another', () => {
  const boxes = boxesOf(levels());
  expect([...boxes.keys()].sort()).toEqual(['a', 'b', 'each', 'each.x', 'each.y', 'each.y.deep']);
  for (const [node, box] of boxes) {
    const around = boxes.get(placeOf(node).level);
    if (around === undefined) continue;
    expect(box.x).toBeGreaterThanOrEqual(around.x);
    expect(box.y).toBeGreaterThanOrEqual(around.y + CONTAINER.top);
    expect(box.x + box.width).toBeLessThanOrEqual(around.x + around.width);
    expect(box.y + box.height).toBeLessThanOrEqual(around.y + around.height);
  }
  const [each, b] = [boxes.get('each'), boxes.get('b')];
  expect(b?.y).toBeGreaterThan((each?.y ?? 0) + (each?.height ?? 0));
});

test('a node that is dropped where it is drawn keeps its place, in every level', () => {
  const drawn = levels();
  const boxes = boxesOf(drawn);
  for (const [node, box] of boxes) {
    const { level, step } = placeOf(node);
    const around = boxes.get(level) ?? { x: 0, y: 0 };
    const found = levelAt(drawn, level);
    if (found === undefined) throw new Error(level);
    const place = found.places.get(step);
    const at = placeAt(found, step, { x: box.x - around.x, y: box.y - around.y });
    expect(at.x).toBeCloseTo(place?.x ?? Number.NaN);
    expect(at.y).toBeCloseTo(place?.y ?? Number.NaN);
  }
});

test('a point of the canvas is in the innermost open loop there', () => {
  const drawn = levels();
  const boxes = boxesOf(drawn);
  const deep = boxes.get('each.y.deep');
  if (deep === undefined) throw new Error('not drawn');
  const found = levelAround(drawn, boxes, { x: deep.x + 1, y: deep.y + 1 });
  const place = levelAt(drawn, 'each.y')?.drawn.get('deep');
  expect(found.level).toBe('each.y');
  expect(found.at.x).toBeCloseTo((place?.x ?? 0) + 1);
  expect(found.at.y).toBeCloseTo((place?.y ?? 0) + 1);
  expect(levelAround(drawn, boxes, { x: -5_000, y: 0 })).toEqual({ level: '', at: { x: -5_000, y: 0 } });
});

test('a text that changes in a loop keeps all places and the other levels', () => {
  const cache: LevelCache = new Map();
  const root = drawAtOnce(steps);
  const before = levelsOf(root, all, cache);
  const renamed = steps.map(step =>
    step.id === 'each' ? { ...step, steps: [{ ...inner[0], name: 'New' }, inner[1]] } : step,
  );
  const after = levelsOf({ ...root, steps: renamed }, all, cache);
  expect(sameStructure(before, after)).toBe(true);
  expect(after[2]).toBe(before[2]);
  expect(after[1]).not.toBe(before[1]);
  expect(after[1]?.steps[0]).toHaveProperty('name', 'New');
});

test('what is selected is of one level: a loop gives way to its own steps', () => {
  const select = (...nodes: string[]) => {
    const { level, steps: ids } = selectionOf(nodes);
    return [level, ...ids];
  };
  expect(select('a', 'b')).toEqual(['', 'a', 'b']);
  expect(select('each', 'each.x', 'each.y')).toEqual(['each', 'x', 'y']);
  expect(select('each', 'each.y', 'each.y.deep')).toEqual(['each.y', 'deep']);
  expect(select('a', 'each', 'each.x')).toEqual(['', 'a', 'each']);
  expect(select('each.x', 'other.x')).toEqual(['each', 'x']);
  expect(select('note:a.b')).toEqual(['']);
  expect(select()).toEqual(['']);
});
