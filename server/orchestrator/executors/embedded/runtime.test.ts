import { expect, test } from 'vitest';
import { ManualClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logger.ts';
import { decodeEvent } from '../../log/decode.ts';
import type { LogEntry, LoggedRun, LogReader } from '../../log/index.ts';
import { GraphCache } from './graph-cache.ts';
import { Hub } from './hub.ts';
import { Runtime } from './runtime.ts';
import { chain, DEFAULT_CONFIG, Gate, ManualTime, startRun } from './testing.ts';

/** A log in memory, whose reads come back when the test says so. */
function memoryLog() {
  const runs = new Map<string, LoggedRun>();
  const reads: (() => void)[] = [];
  const reader: LogReader = {
    readRuns: runIds =>
      new Promise(resolve => {
        reads.push(() => resolve(new Map(runIds.flatMap(id => [...runs].filter(([runId]) => runId === id)))));
      }),
    countActiveRuns: async () => ({ byTenant: new Map(), byStatus: new Map() }),
    movingRuns: async () => [],
    wakes: async () => [],
  };
  const commit = async (batch: readonly LogEntry[]) => {
    for (const { runId, rows, owner } of batch) {
      const run = runs.get(runId) ?? { runId, ...owner, version: 1, events: [] };
      for (const { seq, type, step, attempt, json, at } of rows) {
        const row = { seq, event_type: type, step_id: step, attempt, data: JSON.parse(json), created_at: new Date(at) };
        run.events.push(decodeEvent(row));
      }
      runs.set(runId, run);
    }
  };
  return { reader, reads, session: { commit } };
}

test('a start waits for a read of the log that asks for the same run: the run would be in memory twice', async () => {
  const { reader, reads, session } = memoryLog();
  const gate = new Gate();
  const logger = createLogger('silent');
  const services = {
    reader,
    clock: new ManualClock(),
    alarm: new ManualTime().alarm,
    logger,
    leader: { term: 1, survived: new Set([1]) },
    stepTypes: new Map([gate.type]),
    config: DEFAULT_CONFIG,
    random: () => 0.5,
    defer: setImmediate,
    graphs: new GraphCache(async () => chain(1, 'gate')),
    hub: new Hub(logger),
  };
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
