import { expect, test } from 'vitest';
import type { LogReader } from '../../log/index.ts';
import type { CreditMeter } from './credit-meter.ts';
import type { GraphCache } from './graph-cache.ts';
import { LoadSuspects } from './load-suspects.ts';
import { Loader } from './loader.ts';
import type { RunResources } from './run-resources.ts';

/** A loader of a database that holds no runs. */
function emptyLoader(): { loader: Loader; reads: () => number } {
  let reads = 0;
  const reader = {
    readRuns: async () => {
      reads += 1;
      return { runs: new Map(), left: [] };
    },
  } as unknown as LogReader;
  const loader = new Loader(
    { reader, graphs: {} as GraphCache },
    {
      meter: {} as CreditMeter,
      resources: { memory: { hasRoom: true } } as Pick<RunResources, 'memory'>,
      suspects: new LoadSuspects(undefined),
    },
  );
  return { loader, reads: () => reads };
}

test.each([['for a caller', true] as const, ['in the background', false] as const])(
  'what is asked for %s once nothing is loaded any more is refused',
  async (_, isUrgent) => {
    const { loader, reads } = emptyLoader();
    expect(await loader.load('run', isUrgent)).toBe(null);
    const cause = new Error('the session of the leader ended');
    loader.abandon(cause);
    await expect(loader.load('run', isUrgent)).rejects.toBe(cause);
    expect(reads()).toBe(1);
  },
);
