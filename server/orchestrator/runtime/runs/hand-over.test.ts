import { expect, test } from 'vitest';
import { createLogger } from '../../../platform/logger.ts';
import { chain, DEFAULT_CONFIG, Gate, ManualTime, startRun } from '../../../testing/engine/runtime.ts';
import type { LogReader } from '../../log/index.ts';
import { shardOf } from '../../shards/slot.ts';
import { EventBroadcaster } from '../event-broadcaster.ts';
import { Runtime } from '../runtime.ts';
import { GraphCache } from './graph-cache.ts';

const SHARDS = 2;
const tenantIn = (shard: number) => ['a', 'b', 'c', 'd', 'e', 'f'].find(id => shardOf(id, SHARDS) === shard) ?? '';
const NOW = new AbortController().signal;

/** A runtime that leads both shards, whose commits succeed at once. */
function begin() {
  const gate = new Gate();
  const time = new ManualTime();
  const logger = createLogger('silent');
  const reader = {
    readRuns: async () => ({ runs: new Map(), left: [] }),
    childRuns: async () => [],
  } as Partial<LogReader> as LogReader;
  const services = {
    reader,
    shards: SHARDS,
    clock: time.clock,
    alarm: time.alarm,
    logger,
    leader: { term: 1, survived: new Set([1]) },
    stepTypes: new Map([gate.type]),
    config: DEFAULT_CONFIG,
    random: () => 0.5,
    defer: setImmediate,
    graphs: new GraphCache(async () => chain(2, 'gate')),
    broadcaster: new EventBroadcaster(logger),
  };
  const runtime = new Runtime(services, { commit: async () => undefined }, () => undefined);
  runtime.take([0, 1], new Map());
  const start = (shard: number) => startRun({ tenantId: tenantIn(shard), projectId: 'p', workflowId: 'w' });
  /** Passes time until the promise settles. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false;
    void promise.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      time.advance(20);
      await new Promise(setImmediate);
    }
    return promise;
  };
  return { runtime, gate, start, settled };
}

test('a shard waits for its attempts, begins none, and leaves nothing behind', async () => {
  const { runtime, gate, start, settled } = begin();
  const [mine, other] = [start(0), start(1)];
  await Promise.all([runtime.start(mine), runtime.start(other)]);
  await gate.arrived(2);
  const given = runtime.give(0, NOW);
  await expect(runtime.start(start(0))).rejects.toMatchObject({ status: 503, code: 'not_leading' });
  await expect(runtime.command(mine, { type: 'pause', by: 'ann' })).rejects.toMatchObject({ code: 'not_leading' });
  expect(runtime.executes(mine.tenantId)).toBe(true);
  const first = gate.waiting.find(({ attempt }) => attempt.run.id === mine.runId);
  first?.settle({ kind: 'completed', result: 1 });
  expect(await settled(given)).toBe(true);
  expect([runtime.executes(mine.tenantId), runtime.executes(other.tenantId)]).toEqual([false, true]);
  expect([runtime.liveRuns, gate.waiting.length, first?.signal.aborted]).toEqual([1, 2, false]);
  await expect(runtime.start(start(0))).rejects.toMatchObject({ code: 'not_leading' });
  await runtime.command(other, { type: 'pause', by: 'ann' });
  runtime.abandon(new Error('over'));
});

test('a shard whose attempt does not end in two seconds stays, and its runs go on', async () => {
  const { runtime, gate, start, settled } = begin();
  const mine = start(0);
  await runtime.start(mine);
  await gate.arrived(1);
  expect(await settled(runtime.give(0, NOW))).toBe(false);
  expect(gate.waiting[0]?.signal.aborted).toBe(false);
  gate.waiting[0]?.settle({ kind: 'completed', result: 1 });
  await gate.arrived(2);
  await runtime.start(start(0));
  runtime.abandon(new Error('over'));
});
