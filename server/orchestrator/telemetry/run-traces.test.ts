import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { startTracing, type Tracing, type TracingSettings } from '../../platform/telemetry/tracing.ts';
import { createHarness, Gate, type Harness, type HarnessOptions, stepType } from '../../testing/engine/runtime.ts';
import { type Collector, startCollector } from '../../testing/otlp-collector.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import type { Graph } from '../core/index.ts';
import { createRunTraces } from './index.ts';

let db: TestDatabase;
let collector: Collector;
const open: { tracing: Tracing; harness: Harness }[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(async () => {
  for (const { harness, tracing } of open.splice(0)) {
    await harness.orchestrator.close();
    await tracing.close();
  }
  await collector.close();
});
afterAll(() => db.close());

const logger = createLogger('silent');
const settings = (): TracingSettings => ({
  url: `${collector.url}/v1/traces`,
  serviceName: 'baton-test',
  sampler: 'parentbased_always_on',
  ratio: 1,
});

/** Creates a traced orchestrator. `send` closes both, which sends the pending spans. */
async function traced(options: HarnessOptions = {}, given: Partial<TracingSettings> = {}) {
  const tracing = await startTracing({ ...settings(), ...given }, '1.2.3', logger);
  const harness = await createHarness(db, { ...options, observer: createRunTraces(tracing) });
  const both = { tracing, harness };
  open.push(both);
  const send = async () => {
    open.splice(open.indexOf(both), 1);
    await harness.orchestrator.close();
    await tracing.close();
  };
  return { harness, send };
}

const one = (type: string, more: Record<string, number> = {}): Graph => ({ steps: [{ id: 'a', type, ...more }] });
const span = (name: string) => {
  const found = collector.spans.filter(each => each.name === name);
  expect(found, `spans named ${name}`).toHaveLength(1);
  return found[0] as (typeof found)[0];
};
const traceId = (runId: string) => runId.replaceAll('-', '');

test('a run is one trace: its root and an attempt of each step under it, with the times of the events', async () => {
  const clock = new ManualClock();
  const began = clock.now();
  const gate = new Gate();
  const { harness, send } = await traced({ clock, types: [gate.type] });
  const graph: Graph = {
    steps: [
      { id: 'a', type: 'gate' },
      { id: 'b', type: 'echo', depends_on: ['a'] },
    ],
  };
  const workflow = harness.workflow(graph);
  const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const ref = await harness.start(workflow, { traceparent: caller });
  await gate.arrived(1);
  clock.advance(1_500);
  gate.waiting[0]?.settle({ kind: 'completed', result: 'PRIVATE' });
  await harness.ended(ref);
  await send();

  expect(collector.spans).toHaveLength(3);
  expect(new Set(collector.spans.map(each => each.traceId))).toEqual(new Set([traceId(ref.runId)]));
  const root = span('run');
  expect(root).toMatchObject({ parent: '', from: began, to: began + 1_500, error: null });
  expect(root.links).toEqual(['0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331']);
  expect(root.attributes).toMatchObject({
    'baton.run.id': ref.runId,
    'baton.tenant.id': 'acme',
    'baton.workflow.id': workflow.workflowId,
    'baton.run.status': 'completed',
  });
  const a = span('gate a');
  expect(a).toMatchObject({ parent: root.spanId, from: began, to: began + 1_500, error: null });
  expect(a.attributes).toMatchObject({ 'baton.step.id': 'a', 'baton.step.type': 'gate', 'baton.step.attempt': 1 });
  expect(span('echo b')).toMatchObject({ parent: root.spanId, from: began + 1_500, to: began + 1_500 });
  expect(collector.text).toContain('"baton-test"');
  expect(collector.text).not.toContain('PRIVATE');
});

test('a step type gets the context of its own attempt, which is the id of its span', async () => {
  const seen: (string | undefined)[] = [];
  const asks = stepType('asks', async attempt => {
    seen.push(attempt.traceparent);
    return { kind: 'completed', result: null };
  });
  const { harness, send } = await traced({ types: [asks] });
  const ref = await harness.start(harness.workflow(one('asks')));
  await harness.ended(ref);
  await send();
  expect(seen).toEqual([`00-${traceId(ref.runId)}-${span('asks a').spanId}-01`]);
});

test('a span contains only the code of an error, and each attempt is a span', async () => {
  const fails = stepType('fails', async ({ attempt }) => ({
    kind: 'failed',
    error: { code: 'card_declined', message: 'card 4242 of PRIVATE was declined' },
    retryable: attempt === 1,
  }));
  const { harness, send } = await traced({
    types: [fails],
    // Real-time alarms ring immediately.
    alarm: (_, ring) => {
      const timer = setImmediate(ring);
      return () => clearImmediate(timer);
    },
    clock: {
      now: (
        ms => () =>
          (ms += 1_000)
      )(Date.UTC(2026, 0, 1)),
    },
  });
  const ref = await harness.start(harness.workflow(one('fails', { retry_count: 1, retry_delay_s: 1 })));
  await harness.ended(ref);
  await send();
  const attempts = collector.spans.filter(({ name }) => name === 'fails a');
  expect(attempts.map(({ attributes, error }) => [attributes['baton.step.attempt'], error])).toEqual([
    [1, 'card_declined'],
    [2, 'card_declined'],
  ]);
  expect(new Set(attempts.map(({ spanId }) => spanId)).size).toBe(2);
  expect(span('run')).toMatchObject({ error: 'card_declined' });
  expect(span('run').attributes).toMatchObject({ 'baton.run.failed_step': 'a', 'error.type': 'card_declined' });
  expect(collector.text).not.toContain('PRIVATE');
});

test('a run that a second process continues is the same trace, which marks lost attempts as lost', async () => {
  const clock = new ManualClock();
  const began = clock.now();
  const gate = new Gate();
  const graph: Graph = {
    steps: [
      { id: 'a', type: 'echo' },
      { id: 'b', type: 'gate', depends_on: ['a'] },
    ],
  };
  const first = await traced({ clock, types: [gate.type] });
  const ref = await first.harness.start(first.harness.workflow(graph));
  await gate.arrived(1);
  await first.send();
  expect(collector.spans.map(({ name }) => name)).toEqual(['echo a']);

  clock.advance(10_000);
  const second = await traced({ clock, types: [gate.type] });
  await gate.arrived(2);
  gate.waiting[1]?.settle({ kind: 'completed', result: null });
  await second.harness.ended(ref);
  await second.send();

  expect(new Set(collector.spans.map(each => each.traceId))).toEqual(new Set([traceId(ref.runId)]));
  const root = span('run');
  expect(root).toMatchObject({ from: began, to: began + 10_000, error: null });
  expect(span('echo a').parent).toBe(root.spanId);
  const attempts = collector.spans.filter(({ name }) => name === 'gate b');
  expect(attempts.map(({ from, to, error, parent }) => ({ from, to, error, parent }))).toEqual([
    { from: began, to: began + 10_000, error: 'attempt_lost', parent: root.spanId },
    { from: began + 10_000, to: began + 10_000, error: null, parent: root.spanId },
  ]);
});

test('a human task is one span from when it was asked until it was answered, though the run left memory', async () => {
  const clock = new ManualClock();
  const began = clock.now();
  const { harness, send } = await traced({ clock });
  const ref = await harness.start(harness.workflow(one('human_task')));
  await harness.until(ref, event => event.type === 'task_pending');
  clock.advance(86_400_000);
  await harness.orchestrator.completeTask(ref, { step: 'a', approved: true, result: {}, by: 'ann@example.com' });
  await harness.ended(ref);
  await send();
  const task = span('human_task a');
  expect(task).toMatchObject({ from: began, to: began + 86_400_000, error: null });
  expect(task.events).toEqual(['task pending', 'task completed']);
  expect(collector.text).not.toContain('ann@example.com');
});

test('an unsampled run sends nothing, and neither do the runs that it calls', async () => {
  const seen: (string | undefined)[] = [];
  const asks = stepType('asks', async attempt => {
    seen.push(attempt.traceparent);
    return { kind: 'completed', result: null };
  });
  const { harness, send } = await traced({ types: [asks] }, { sampler: 'parentbased_traceidratio', ratio: 0 });
  await harness.ended(await harness.start(harness.workflow(one('asks'))));
  await send();
  expect(seen[0]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(collector.requests).toBe(0);
});

test('a receiver that refuses, or is unreachable, causes no failure', async () => {
  collector.answer(400);
  const refused = await traced();
  await refused.harness.ended(await refused.harness.start(refused.harness.workflow(one('echo'))));
  await refused.send();
  expect(collector.requests).toBeGreaterThan(0);
  const absent = await traced({}, { url: 'http://127.0.0.1:1/v1/traces' });
  const ref = await absent.harness.start(absent.harness.workflow(one('echo')));
  await absent.harness.ended(ref);
  expect((await absent.harness.events(ref)).at(-1)?.event).toMatchObject({ data: { to: 'completed' } });
  await absent.send();
});

test('without tracing a step type gets no context', async () => {
  const seen: unknown[] = [];
  const asks = stepType('asks', async attempt => {
    seen.push(attempt.traceparent);
    return { kind: 'completed', result: null };
  });
  const harness = await createHarness(db, { types: [asks] });
  await harness.ended(await harness.start(harness.workflow(one('asks'))));
  await harness.orchestrator.close();
  expect(seen).toEqual([undefined]);
});
