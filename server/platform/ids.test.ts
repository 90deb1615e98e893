import { expect, test } from 'vitest';
import { isId, newId } from './ids.ts';

test('ids are UUIDv7 of the current time, sort by creation and never repeat', () => {
  const from = Date.now();
  const ids = Array.from({ length: 5_000 }, newId);
  const to = Date.now();
  for (const id of ids) {
    expect(isId(id)).toBe(true);
    expect(id).toMatch(/^.{8}-.{4}-7.{3}-[89ab]/);
  }
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids.map(id => id.slice(-8))).size).toBeGreaterThan(4_900);
  const time = (id = '') => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  expect(time(ids[0])).toBeGreaterThanOrEqual(from);
  expect(time(ids.at(-1))).toBeLessThanOrEqual(to);
});
