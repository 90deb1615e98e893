import { expect, test } from 'vitest';
import type { Graph } from '../../../core/index.ts';
import { GraphCache, type VersionRef } from './graph-cache.ts';

/** A graph of one step with a script of so many characters takes about two bytes for each. */
const graphOf = (version: number): Graph => ({
  steps: [{ id: 'a', type: 'lua_script', script: 'x'.repeat(version * 1_000) }],
});
const ref = (version: number): VersionRef => ({ tenantId: 't', workflowId: 'w', version });

test('graphs are kept by their size: the last ones used, and never one that is larger than half of the cache', async () => {
  const loads: number[] = [];
  const cache = new GraphCache(async ({ version }) => {
    loads.push(version);
    return graphOf(version);
  }, 200_000);
  // ~ 101 KB, which is more than half; 99 KB, which is not.
  for (const version of [50, 50, 48, 48]) await cache.get(ref(version));
  expect(loads).toEqual([50, 50, 48]);
  expect(cache.bytes).toBeGreaterThan(96_000);

  loads.length = 0;
  for (const version of [20, 21, 20, 21]) await cache.get(ref(version));
  expect(loads).toEqual([20, 21]);
  // Others push the old one out; 20 is used in between and stays.
  for (const version of [22, 20, 23, 20, 24, 20]) await cache.get(ref(version));
  expect(loads).toEqual([20, 21, 22, 23, 24]);
  await cache.get(ref(48));
  expect(loads.at(-1)).toBe(48);
  expect(cache.bytes).toBeLessThanOrEqual(200_000);
});

test('many steps count more than their texts', async () => {
  const steps = Array.from({ length: 2_000 }, (_, n) => ({ id: `s${n}`, type: 'x' }));
  const cache = new GraphCache(async () => ({ steps }));
  await cache.get(ref(1));
  expect(cache.bytes).toBeGreaterThan(1_500_000);
});
