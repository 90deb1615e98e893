import { expect, test } from 'vitest';
import { StoredValue } from '../../core/index.ts';
import { ResultsTooLarge, StoredResults } from './stored-results.ts';

const LOADING_BYTES = 100;

function load(...sizes: number[]) {
  const limits = { runBytes: 0, liveBytes: 0, liveBytesPerTenant: 0, uncommittedResultBytes: 0, cacheBytes: 0 };
  const read = async (_: string, ids: readonly string[]) => new Map(ids.map(id => [id, JSON.stringify(id)]));
  const stored = new StoredResults(read, { ...limits, loadingBytes: LOADING_BYTES });
  const results = new Map(sizes.map((bytes, index) => [`s${index}`, new StoredValue(`id-${index}`, bytes)]));
  return stored.load({ runId: 'run', tenantId: 'tenant', results }, new AbortController().signal);
}

test('results that have as many bytes as may be loaded at a time are loaded', async () => {
  for (const size of [LOADING_BYTES - 61, LOADING_BYTES - 60]) {
    const loaded = await load(60, size);
    expect([loaded.value('s0'), loaded.value('s1')]).toEqual(['id-0', 'id-1']);
  }
});

test('results that have more can never be loaded', async () => {
  await expect(load(60, LOADING_BYTES - 59)).rejects.toThrow(ResultsTooLarge);
});
