import { expect, test } from 'vitest';
import type { Graph } from '../../core/index.ts';
import { GraphCache, type VersionRef } from './graph-cache.ts';

/** A graph with one step, whose script of this many characters takes about two bytes for each. */
const graphOf = (version: number): Graph => ({
  steps: [{ id: 'a', type: 'lua_script', script: 'x'.repeat(version * 1_000) }],
});
const ref = (version: number): VersionRef => ({ tenantId: 't', workflowId: 'w', version });

test('the cache is limited in bytes: it keeps the last graphs used, and none larger than half of it', async () => {
  const loads: number[] = [];
  const cache = new GraphCache(async ({ version }) => {
    loads.push(version);
    return graphOf(version);
  }, 200_000);
  // 50 is about 101 KB, more than half; 48 is 99 KB, less than half.
  for (const version of [50, 50, 48, 48]) await cache.get(ref(version));
  expect(loads).toEqual([50, 50, 48]);
  expect(cache.bytes).toBeGreaterThan(96_000);

  loads.length = 0;
  for (const version of [20, 21, 20, 21]) await cache.get(ref(version));
  expect(loads).toEqual([20, 21]);
  // Others evict the oldest; 20 is used in between and stays.
  for (const version of [22, 20, 23, 20, 24, 20]) await cache.get(ref(version));
  expect(loads).toEqual([20, 21, 22, 23, 24]);
  await cache.get(ref(48));
  expect(loads.at(-1)).toBe(48);
  expect(cache.bytes).toBeLessThanOrEqual(200_000);
});

test('many steps count for more than their texts', async () => {
  const steps = Array.from({ length: 2_000 }, (_, n) => ({ id: `s${n}`, type: 'x' }));
  const cache = new GraphCache(async () => ({ steps }));
  await cache.get(ref(1));
  expect(cache.bytes).toBeGreaterThan(1_500_000);
});
