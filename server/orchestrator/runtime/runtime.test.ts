import { expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { chain, DEFAULT_CONFIG, Gate, ManualTime, startRun } from '../../testing/engine/runtime.ts';
import type { Graph } from '../core/index.ts';
import { expandRow } from '../log/compact-skips.ts';
import { decodeEvent } from '../log/decode.ts';
import { DEFAULT_LIMITS, type LogEntry, type LoggedRun, type LogReader, type RunRead } from '../log/index.ts';
import { EventBroadcaster } from './event-broadcaster.ts';
import { GraphCache } from './runs/graph-cache.ts';
import { Mailbox } from './runs/mailbox.ts';
import { Runtime } from './runtime.ts';
import type { RuntimeServices } from './runtime-services.ts';

/** A log in memory, whose reads are answered when the test says so. */
function memoryLog() {
  const runs = new Map<string, LoggedRun>();
  const reads: (() => void)[] = [];
  const reader: LogReader = {
    readRuns: runIds =>
      new Promise(resolve => {
        reads.push(() => {
          const found = runIds.flatMap(id => runs.get(id) ?? []);
          resolve({
            runs: new Map(
              found.map(run => [run.runId, { ok: true, run, rowSeq: run.events.length } satisfies RunRead]),
            ),
            left: [],
          });
        });
      }),
    readStored: async () => new Map(),
    countActiveRuns: async () => ({ byTenant: new Map(), byStatus: new Map() }),
    countDescendants: async () => ({ started: 0, active: 0 }),
    movingRuns: async () => [],
    wakeUpTimers: async () => [],
    childRuns: async () => [],
    idleCallers: async () => [],
  };
  const commit = async (batch: readonly LogEntry[]) => {
    for (const { runId, rows, owner } of batch) {
      const run = runs.get(runId) ?? { runId, ...owner, version: 1, events: [] };
      for (const { seq, type, step, attempt, json, at } of rows) {
        const row = { seq, event_type: type, step_id: step, attempt, data: JSON.parse(json), created_at: new Date(at) };
        run.events.push(...expandRow(row).map(decodeEvent));
      }
      runs.set(runId, run);
    }
  };
  return { reader, reads, runs, session: { commit } };
}

/** The services of a runtime whose steps end when the test says so. */
function createServices(reader: LogReader, gate: Gate, graph: Graph = chain(1, 'gate')): RuntimeServices {
  const logger = createLogger('silent');
  return {
    reader,
    clock: new ManualClock(),
    alarm: new ManualTime().alarm,
    logger,
    leader: { term: 1, survived: new Set([1]) },
    stepTypes: new Map([gate.type]),
    config: DEFAULT_CONFIG,
    random: () => 0.5,
    defer: setImmediate,
    graphs: new GraphCache(async () => graph),
    broadcaster: new EventBroadcaster(logger),
  };
}

test('a start waits for a read of the same run in progress: it would be in memory twice', async () => {
  const { reader, reads, session } = memoryLog();
  const gate = new Gate();
  const services = createServices(reader, gate);
  const runtime = new Runtime(services, session, () => undefined);
  const run = startRun({ tenantId: 'acme', projectId: 'p', workflowId: 'w' });
  const tooEarly = runtime.command(run, { type: 'pause', by: 'ann' });
  const started = runtime.start(run);
  await new Promise(setImmediate);
  for (const read of reads) read();
  await expect(tooEarly).rejects.toMatchObject({ status: 404 });
  await started;
  await gate.arrived(1);
  expect(runtime.liveRuns).toBe(1);
  runtime.abandon(new Error('over'));
  expect(gate.waiting.map(({ signal }) => signal.aborted)).toEqual([true]);
});

test('large results that arrive together are split into entries that fit into a commit', async () => {
  const { reader, session } = memoryLog();
  const gate = new Gate();
  const sizes: number[] = [];
  const commit = async (batch: readonly LogEntry[]) => {
    for (const { payloads } of batch) sizes.push(payloads.reduce((sum, { json }) => sum + json.length, 0));
    await session.commit(batch);
  };
  const batchBytes = 1_000_000;
  const twenty = { steps: Array.from({ length: 20 }, (_, n) => ({ id: `s${n}`, type: 'gate' })) };
  const services = {
    ...createServices(reader, gate, twenty),
    writerLimits: { ...DEFAULT_LIMITS, batchBytes },
  };
  const runtime = new Runtime(services, { commit }, () => undefined);
  await runtime.start(startRun({ tenantId: 'acme', projectId: 'p', workflowId: 'w' }));
  await gate.arrived(20);
  for (const { settle } of gate.waiting) settle({ kind: 'completed', result: 'x'.repeat(300_000) });
  while (runtime.liveRuns > 0) await new Promise(setImmediate);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(batchBytes);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20 * 300_002);
  runtime.abandon(new Error('over'));
});

test('a stop is written to the row of its run even if the row says `draining` already', async () => {
  const { reader, session } = memoryLog();
  const gate = new Gate();
  const phases: (string | undefined)[] = [];
  const commit = async (batch: readonly LogEntry[]) => {
    for (const { projection } of batch) phases.push(projection?.phase);
    await session.commit(batch);
  };
  const services = createServices(reader, gate);
  const runtime = new Runtime(services, { commit }, () => undefined);
  const run = startRun({ tenantId: 'acme', projectId: 'p', workflowId: 'w' });
  await runtime.start(run);
  await gate.arrived(1);
  await runtime.command(run, { type: 'pause', by: 'ann' });
  phases.length = 0;
  await runtime.command(run, { type: 'stop', mode: 'graceful', by: 'ann' });
  expect(phases).toEqual(['draining']);
  runtime.abandon(new Error('over'));
});

test('a result that does not fit into a commit is an entry of its own', () => {
  const mailbox = new Mailbox();
  const message = (bytes: number) => ({
    command: { type: 'attempt_succeeded', step: 'a', attempt: 1, result: null } as const,
    caller: null,
    large: { id: '', json: 'x'.repeat(bytes) },
  });
  for (const bytes of [101, 50, 50, 1]) mailbox.push(message(bytes));
  const taken = () => mailbox.take(100).map(({ large }) => large?.json.length);
  expect([taken(), taken(), taken(), taken()]).toEqual([[101], [50, 50], [1], []]);
});
