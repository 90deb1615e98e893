import { expect, test } from 'vitest';
import type { LoadJournal, LogReader } from '../../log/index.ts';
import type { CreditMeter } from '../credits/credit-meter.ts';
import type { RunResources } from '../memory/run-resources.ts';
import type { GraphCache } from './graph-cache.ts';
import { LoadSuspects } from './load-suspects.ts';
import { Loader } from './loader.ts';

/** A loader on a database without runs, which suspects one run of having ended processes. */
async function emptyLoader(suspect = 'suspect') {
  let reads = 0;
  const batches: (readonly string[])[] = [];
  const reader = {
    readRuns: async (runIds: readonly string[]) => {
      reads += 1;
      batches.push(runIds);
      return { runs: new Map(), left: [] };
    },
  } as unknown as LogReader;
  const journal: LoadJournal = {
    deaths: async () => new Map([[suspect, 1]]),
    begin: async () => {},
    end: async () => {},
    forget: async () => {},
  };
  const suspects = new LoadSuspects(journal);
  await suspects.recall();
  const rooms: (() => void)[] = [];
  const memory = { hasRoom: true, onRoom: (act: () => void) => void rooms.push(act) };
  const loader = new Loader(
    { reader, graphs: {} as GraphCache },
    {
      meter: {} as CreditMeter,
      resources: { memory, ownTurn: () => new Promise(setImmediate) } as unknown as RunResources,
      suspects,
    },
  );
  const makeRoom = () => {
    memory.hasRoom = true;
    for (const act of rooms.splice(0)) act();
  };
  return { loader, memory, makeRoom, reads: () => reads, batches };
}

const run = (runId: string) => ({ runId, tenantId: 'tenant' });

test.each([['for a caller', true] as const, ['in the background', false] as const])(
  'what is asked for %s once nothing is loaded any more is refused',
  async (_, isUrgent) => {
    const { loader, reads } = await emptyLoader();
    expect(await loader.load(run('run'), isUrgent)).toBe(null);
    const cause = new Error('the session of the leader ended');
    loader.abandon(cause);
    await expect(loader.load(run('run'), isUrgent)).rejects.toBe(cause);
    expect(reads()).toBe(1);
  },
);

test.each([['callers wait', true] as const, ['timers have rung', false] as const])(
  'a run for which %s is read with the next ones, however many of another tenant wait',
  async (_, isUrgent) => {
    const { loader, batches } = await emptyLoader();
    const flood = Array.from({ length: 1_000 }, (_, index) =>
      loader.load({ runId: `flood-${index}`, tenantId: 'hostile' }, isUrgent),
    );
    const honest = loader.load({ runId: 'honest', tenantId: 'honest' }, isUrgent);
    expect(await honest).toBe(null);
    expect(batches).toHaveLength(1);
    expect(batches[0]?.slice(0, 3)).toEqual(['flood-0', 'honest', 'flood-1']);
    await Promise.all(flood);
    expect(batches.flat().filter(runId => runId !== 'honest')).toEqual(flood.map((_, index) => `flood-${index}`));
  },
);

test('while memory is used up no caller waits for a run that processes may have died of', async () => {
  const { loader, memory, makeRoom, reads } = await emptyLoader();
  memory.hasRoom = false;
  await expect(loader.load(run('suspect'), true)).rejects.toThrow('no memory');
  const recovered = loader.load(run('suspect'), false);
  const other = loader.load(run('other'), false);
  loader.prioritize('suspect');
  await expect(recovered).rejects.toThrow('no memory');
  expect(reads()).toBe(0);
  makeRoom();
  expect(await other).toBe(null);
  expect(await loader.load(run('suspect'), true)).toBe(null);
});

test('a caller is also refused if memory is used up after it began to wait', async () => {
  const { loader, memory } = await emptyLoader();
  const found = loader.load(run('suspect'), true);
  memory.hasRoom = false;
  await expect(found).rejects.toThrow('no memory');
});
