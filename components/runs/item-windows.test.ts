import { expect, test } from 'vitest';
import { readUnfolded, rowOf, windowOf, windowsAround, writeUnfolded } from './item-windows.ts';

test('the URL contains the unfolded loops, each with its first shown item', () => {
  const loops = [
    { id: 'each', from: 0 },
    { id: 'each.3.lines', from: 200 },
  ];
  expect(writeUnfolded(loops)).toBe('each,each.3.lines@200');
  expect(readUnfolded('each,each.3.lines@200')).toEqual(loops);
  expect(readUnfolded('each@250,,other@x')).toEqual([
    { id: 'each', from: 200 },
    { id: 'other', from: 0 },
  ]);
  expect([0, 99, 100, 4_999].map(windowOf)).toEqual([0, 0, 100, 4_900]);
});

test('the selected step determines the shown items', () => {
  const loops = [
    { id: 'each', from: 0 },
    { id: 'each.230.lines', from: 300 },
  ];
  expect(windowsAround(loops, 'each.230.lines.17.x')).toEqual([
    { id: 'each', from: 200 },
    { id: 'each.230.lines', from: 0 },
  ]);
  expect(windowsAround(loops, 'each')).toEqual(loops);
  expect(windowsAround(loops, null)).toEqual(loops);
});

test('a selected step of a hidden item has the row of its loop', () => {
  const rows = [{ id: 'each' }, { id: 'each.3' }];
  expect(rowOf(rows, 'each.3.charge')).toBe('each.3');
  expect(rowOf(rows, 'each.4.charge')).toBe('each');
  expect(rowOf(rows, 'other')).toBeNull();
  expect(rowOf(rows, null)).toBeNull();
});
