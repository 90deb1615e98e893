import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../api/operations.ts';
import type { JsonValue } from '../../../orchestrator/core/index.ts';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { startHttpServer, type TestHttpServer } from '../../../testing/http-server.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { reached } from '../../../testing/runs.ts';
import { refusal } from '../../../testing/workflows.ts';
import type { Snapshot } from '../reading/run-state.ts';

type Ref = { id: string; runID: string };
type Step = { id: string; type: string; [field: string]: unknown };
type Summary = Record<string, unknown> & { steps: { step_id: string; status: string }[] };
type Event = { seq: number; event_type: string; step_id?: string; data: Record<string, unknown> };
type Task = { task_id: string; instructions: string };

let service: TestContainer;
let acme: TestTenant;
let api: TestHttpServer;
let call: ReturnType<typeof createCall<typeof operations>>;
/** Requests to /slow that have no answer yet, and their maximum number at a time. */
const held: { index: number; answer: () => void }[] = [];
let maxHeld = 0;

beforeAll(async () => {
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_SHUTDOWN_GRACE_S: '0' });
  api = await startHttpServer({
    '/double': ({ body }, response) => {
      const { n } = JSON.parse(body) as { n: number };
      response.writeHead(n === 13 ? 418 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(n * 2));
    },
    '/slow': ({ body }, response) => {
      const { index } = JSON.parse(body) as { index: number };
      const answer = () => {
        held.splice(held.indexOf(waiting), 1);
        response.writeHead(200, { 'content-type': 'application/json' }).end(String(index));
      };
      const waiting = { index, answer };
      held.push(waiting);
      maxHeld = Math.max(maxHeld, held.length);
    },
  });
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  call = createCall(service.container.services, operations);
});
afterAll(async () => {
  await service.close();
  await api.close();
});

const callOperation = <T>(name: (typeof operations)[number]['name'], input: object) =>
  call(acme.contributor, name, input) as Promise<T>;

async function publish(...steps: Step[]): Promise<string> {
  const { id } = await callOperation<{ id: string }>('workflows_create', { name: `W ${newId()}`, graph: { steps } });
  await callOperation('workflows_publish_version', { id });
  return id;
}
async function start(input: object, ...steps: Step[]): Promise<Ref> {
  const id = await publish(...steps);
  const params = { trigger_payload: { api: api.url, ...input } };
  const { run_id } = await callOperation<{ run_id: string }>('workflows_execute_command', {
    id,
    command: 'start',
    params,
  });
  return { id, runID: run_id };
}
const waitFor = (ref: Ref, ...phases: 'blocked'[]) => reached(service.container.services, acme.owner, ref, ...phases);
const summaryOf = (ref: Ref) => callOperation<Summary>('runs_get_summary', ref);
const resultOf = async (ref: Ref, step = 'each') =>
  (await callOperation<{ steps: Record<string, { result: JsonValue }> }>('runs_get_context', ref)).steps[step]?.result;
const eventsOf = async (ref: Ref) => {
  const found: Event[] = [];
  for (let after = 0; ; after = found.at(-1)?.seq ?? 0) {
    const { events } = await callOperation<{ events: Event[] }>('runs_list_events', { ...ref, after, limit: 500 });
    found.push(...events);
    if (events.length < 500) return found;
  }
};
/** Runs the steps until the run has ended; returns the summary and the result of the loop. */
async function run(input: object, ...steps: Step[]) {
  const ref = await start(input, ...steps);
  await waitFor(ref);
  return { ref, summary: await summaryOf(ref), result: await resultOf(ref) };
}

const eachStep = (steps: Step[], more: object = {}): Step => ({
  id: 'each',
  type: 'for_each',
  items: '{{input.list}}',
  steps,
  ...more,
});
const lua = (id: string, script: string, more: object = {}): Step => ({ id, type: 'lua_script', script, ...more });
const request = (id: string, path: string, body: object, more: object = {}): Step => {
  return { id, type: 'http_request', method: 'POST', url: `{{input.api}}${path}`, body, ...more };
};
const endsOf = (events: Event[], step: string) =>
  events.filter(event => event.step_id === step && /step_(completed|failed|cancelled)/.test(event.event_type));

describe('a loop', () => {
  test('of scripts reads item, index, input and the results before it, and returns results in order', async () => {
    const { result, summary } = await run(
      { list: [{ n: 5 }, { n: 7 }, { n: 9 }], plus: 100 },
      lua('before', 'return {factor = 2}'),
      eachStep(
        [
          lua('first', 'return item.n * steps.before.result.factor + index'),
          lua('second', 'return "{{item.n}}: " .. ({{steps.first.result}} + input.plus + {{index}})', {
            depends_on: ['first'],
          }),
        ],
        { depends_on: ['before'], concurrency: 3 },
      ),
      lua('after', 'return #steps.each.result.results', { depends_on: ['each'] }),
    );
    expect(result).toEqual({ results: ['5: 110', '7: 116', '9: 122'], failed: 0 });
    expect(summary).toMatchObject({ status: 'completed', steps_total: 3, steps_done: 3 });
    expect(summary.added_steps).toEqual({ total: 6, done: 6 });
  });

  test('of requests renders the item of each, with the id of its step as the idempotency key', async () => {
    const before = api.seen.length;
    const { ref, result } = await run(
      { list: [1, 2, 3] },
      eachStep([request('send', '/double', { n: '{{item}}' })], { concurrency: 2 }),
    );
    expect(result).toMatchObject({ results: [{ body: 2 }, { body: 4 }, { body: 6 }], failed: 0 });
    const keys = api.seen.slice(before).map(({ headers }) => headers['idempotency-key']);
    expect(keys.sort()).toEqual([0, 1, 2].map(index => `${ref.runID}:each.${index}.send`));
  });

  test('of human tasks creates a task for each item, which ends the item', async () => {
    const ref = await start(
      { list: ['tea', 'milk'] },
      eachStep([{ id: 'ask', type: 'human_task', instructions: 'Buy {{item}}?' }], { concurrency: 2 }),
    );
    await waitFor(ref, 'blocked');
    expect(await summaryOf(ref)).toMatchObject({ pending_tasks: 2, steps: [{ step_id: 'each', status: 'running' }] });
    const { added_steps } = await callOperation<Snapshot>('runs_get_snapshot', ref);
    expect(added_steps).toMatchObject({ total: 2, done: 0 });
    expect(added_steps.open.map(({ step_id, status }) => [step_id, status]).sort()).toEqual([
      ['each.0.ask', 'waiting'],
      ['each.1.ask', 'waiting'],
    ]);
    const { tasks } = await callOperation<{ tasks: Task[] }>('tasks_list_pending_run', ref);
    expect(tasks.map(({ task_id, instructions }) => [task_id, instructions]).sort()).toEqual([
      ['each.0.ask', 'Buy tea?'],
      ['each.1.ask', 'Buy milk?'],
    ]);
    const inbox = await callOperation<{ tasks: Task[] }>('tasks_list_pending', {});
    expect(inbox.tasks.map(({ task_id }) => task_id)).toEqual(expect.arrayContaining(['each.0.ask', 'each.1.ask']));
    for (const index of [1, 0]) {
      await callOperation('tasks_complete', { ...ref, task_id: `each.${index}.ask`, approved: index === 0 });
      const { added_steps: left } = await callOperation<Snapshot>('runs_get_snapshot', ref);
      expect(left.open.map(({ step_id }) => step_id)).toEqual(index === 1 ? ['each.0.ask'] : []);
    }
    await waitFor(ref);
    expect(await resultOf(ref)).toMatchObject({ results: [{ approved: true }, { approved: false }], failed: 0 });
    const again = refusal(callOperation('tasks_complete', { ...ref, task_id: 'each.0.ask', approved: true }));
    expect(await again).toMatchObject({ status: 409 });
  });

  test('in a loop runs for each item of each outer item', async () => {
    const inner = eachStep([lua('n', 'return item * 10 + index')], { id: 'inner', items: 'item.list', concurrency: 2 });
    const { ref, result } = await run({ list: [{ list: [1, 2] }, { list: [] }, { list: [3] }] }, eachStep([inner]));
    expect(result).toEqual({
      results: [
        { results: [10, 21], failed: 0 },
        { results: [], failed: 0 },
        { results: [30], failed: 0 },
      ],
      failed: 0,
    });
    const ids = new Set((await eventsOf(ref)).map(({ step_id }) => step_id));
    expect(ids).toContain('each.2.inner.0.n');
  });

  test('over an empty list adds nothing', async () => {
    const { result, summary } = await run({ list: [] }, eachStep([lua('a', 'error("never")')]));
    expect(result).toEqual({ results: [], failed: 0 });
    expect(summary.added_steps).toEqual({ total: 0, done: 0 });
  });

  test('has as many items in progress as its concurrency permits', async () => {
    maxHeld = 0;
    const ref = await start(
      { list: [0, 1, 2, 3, 4, 5, 6] },
      eachStep([request('slow', '/slow', { index: '{{index}}' })], { concurrency: 3 }),
    );
    for (let done = 0; done < 7; done++) {
      await expect.poll(() => held.length).toBe(Math.min(3, 7 - done));
      // Answers the last request first, so that the items do not end in the order in which they started.
      held.at(-1)?.answer();
    }
    await waitFor(ref);
    expect(maxHeld).toBe(3);
    const result = (await resultOf(ref)) as { results: { body: number }[] };
    expect(result.results.map(({ body }) => body)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('gathers large results', async () => {
    const { result } = await run(
      { list: [1, 2, 3] },
      eachStep([lua('large', 'return {item, ("x"):rep(30000)}')], { concurrency: 3 }),
    );
    const { results } = result as { results: [number, string][] };
    expect(results.map(([item, text]) => [item, text.length])).toEqual([1, 2, 3].map(item => [item, 30_000]));
  });
});

describe('the failure of an item', () => {
  const list = [1, 13, 2];
  const send = request('send', '/double', { n: '{{item}}' });
  const after = lua('after', 'return 1', { depends_on: ['send'] });

  test('fails the loop and the run, and names the item', async () => {
    const { ref, summary } = await run({ list }, eachStep([send, after]));
    expect(summary).toMatchObject({ status: 'failed', error: { code: 'unexpected_status', step_id: 'each' } });
    expect((summary.error as { message: string }).message).toMatch(/^Item 1 failed in "send": /);
    const events = await eventsOf(ref);
    expect(events.filter(({ step_id }) => step_id?.startsWith('each.2.'))).toEqual([]);
  });

  test('is null among the results if the loop continues', async () => {
    const { result, summary } = await run({ list }, eachStep([send, after], { on_item_error: 'continue' }));
    expect(summary).toMatchObject({ status: 'completed', error: null });
    expect(result).toEqual({ results: [1, null, 1], failed: 1 });
  });

  test('is read as the error of a loop that is on_error: continue', async () => {
    const { ref, summary } = await run(
      { list },
      eachStep([send], { on_error: 'continue' }),
      lua('read', 'return {steps.each.error.code, steps.each.result == nil}', { depends_on: ['each'] }),
    );
    expect(summary.status).toBe('completed');
    expect(await resultOf(ref, 'read')).toEqual(['unexpected_status', true]);
  });
});

describe('items', () => {
  test.each<[string, object, string, RegExp]>([
    ['that are not a list', { list: 5 }, 'items_not_list', /items: must give a list, but gives a number/],
    ['that are missing', {}, 'template_unresolved', /input\.list/],
    // 10 steps for each of 10,001 items: one more than a run may add.
    [
      'that are too many',
      { list: Array.from({ length: 10_001 }, () => 0) },
      'too_many_steps',
      /limit of 100000 for a run: 100010/,
    ],
  ])('%s fail the step', async (_, input, code, message) => {
    const inner = Array.from({ length: 10 }, (_, n) => lua(`s${n}`, 'return 1', { disabled: true }));
    const { summary } = await run(input, eachStep(inner));
    expect(summary).toMatchObject({ status: 'failed', error: { code, step_id: 'each' } });
    expect((summary.error as { message: string }).message).toMatch(message);
    expect(summary.added_steps).toEqual({ total: 0, done: 0 });
  });

  test.each([
    [1024 * 1024 - 4, 'completed'],
    [1024 * 1024 - 3, 'failed'],
  ])('of %i characters in all: %s', async (length, status) => {
    const items = 'steps.a.result.map(x, x + x)';
    const half = lua('a', `return {("x"):rep(${Math.floor(length / 2)})}`);
    const odd = length % 2 === 1 ? items.replace('x + x', 'x + x + "x"') : items;
    const { summary } = await run({}, half, eachStep([lua('b', 'return #item')], { items: odd, depends_on: ['a'] }));
    expect(summary).toMatchObject({ status });
    if (status === 'failed') expect(summary.error).toMatchObject({ code: 'items_too_large', step_id: 'each' });
  });

  test('with too many steps at a time fail the step', async () => {
    const inner = Array.from({ length: 101 }, (_, n) => lua(`s${n}`, 'return 1', { disabled: true }));
    const list = Array.from({ length: 100 }, () => 0);
    const { summary } = await run({ list }, eachStep(inner, { concurrency: 100 }));
    expect(summary).toMatchObject({ error: { code: 'too_many_steps' } });
  });
});

describe('in the middle of a loop', () => {
  const asks = [
    { id: 'ask', type: 'human_task', instructions: '{{item}}' },
    lua('then', 'return 1', { depends_on: ['ask'] }),
  ];
  const beginLoop = async () => {
    const ref = await start({ list: ['a', 'b', 'c'] }, eachStep(asks, { concurrency: 2 }));
    await waitFor(ref, 'blocked');
    return ref;
  };
  const answer = (ref: Ref, index: number) =>
    callOperation('tasks_complete', { ...ref, task_id: `each.${index}.ask`, approved: true });
  const command = (ref: Ref, name: string) =>
    callOperation('workflows_execute_command', { id: ref.id, command: name, params: { run_id: ref.runID } });

  test('a stop ends every step of the loop, and no step is added after it', async () => {
    const ref = await beginLoop();
    await answer(ref, 0);
    await command(ref, 'stop');
    await waitFor(ref);
    const events = await eventsOf(ref);
    expect(await summaryOf(ref)).toMatchObject({ status: 'stopped', pending_tasks: 0 });
    const ids = events.filter(({ event_type }) => event_type === 'steps_added').flatMap(({ data }) => data.steps);
    for (const { id } of ids as { id: string }[]) expect(endsOf(events, id)).toHaveLength(1);
    expect(endsOf(events, 'each')).toHaveLength(1);
  });

  test('a pause holds the next item back until the run is resumed', async () => {
    const ref = await beginLoop();
    await command(ref, 'pause');
    await answer(ref, 0);
    const added = async () => (await eventsOf(ref)).filter(({ event_type }) => event_type === 'steps_added').length;
    expect(await added()).toBe(1);
    await command(ref, 'resume');
    for (const index of [1, 2]) {
      await expect
        .poll(async () =>
          (await eventsOf(ref)).some(e => e.event_type === 'task_pending' && e.step_id === `each.${index}.ask`),
        )
        .toBe(true);
      await answer(ref, index);
    }
    await waitFor(ref);
    expect(await resultOf(ref)).toEqual({ results: [1, 1, 1], failed: 0 });
  });
});

describe('around a loop', () => {
  test('a rerun from it executes it again, and one from a later step keeps its result', async () => {
    const { ref } = await run(
      { list: [1, 2] },
      eachStep([lua('a', 'return item * 2')]),
      lua('after', 'return 1', { depends_on: ['each'] }),
    );
    for (const [from_step, added] of [
      ['each', 2],
      ['after', 0],
    ] as const) {
      const { run_id } = await callOperation<{ run_id: string }>('runs_rerun', { ...ref, from_step });
      const again = { id: ref.id, runID: run_id };
      await waitFor(again);
      expect(await summaryOf(again)).toMatchObject({ status: 'completed', added_steps: { total: added, done: added } });
    }
  });

  test('an added step cannot be the start of a rerun', async () => {
    const { ref } = await run({ list: [1] }, eachStep([lua('a', 'return 1')]));
    expect(await refusal(callOperation('runs_rerun', { ...ref, from_step: 'each.0.a' }))).toMatchObject({
      code: 'unknown_step',
    });
  });

  test('its step shows its items, and not the templates of its inner steps', async () => {
    const { ref } = await run({ list: [1] }, eachStep([lua('a', 'return {{item}}')]));
    expect(await callOperation('runs_get_step', { ...ref, step_id: 'each' })).toMatchObject({
      resolved: [{ name: 'items', value: [1], problem: null }],
      result: { results: [1], failed: 0 },
    });
  });

  test('the steps of an item show what they read, wherever the items are stored', async () => {
    const large = 'x'.repeat(20_000);
    const second = lua('b', 'return {{steps.a.result}} + {{steps.before.result}} + {{index}}', { depends_on: ['a'] });
    const { ref } = await run(
      {
        list: [
          { n: 1, large },
          { n: 2, large },
        ],
      },
      lua('before', 'return 100'),
      eachStep([lua('a', 'return {{item.n}}'), second], { depends_on: ['before'] }),
    );
    const stepOf = (step_id: string) => callOperation<Record<string, unknown>>('runs_get_step', { ...ref, step_id });
    expect(await stepOf('each.1.a')).toMatchObject({
      definition: { id: 'each.1.a', type: 'lua_script' },
      resolved: [{ name: 'item.n', value: 2, problem: null }],
      result: 2,
    });
    expect((await stepOf('each.1.b')).resolved).toEqual([
      { name: 'steps.a.result', value: 2, problem: null },
      { name: 'steps.before.result', value: 100, problem: null },
      { name: 'index', value: 1, problem: null },
    ]);
    for (const unknown of ['each.2.a', 'each.0.c', 'each.0', 'before.0.a'])
      expect(await refusal(stepOf(unknown))).toMatchObject({ status: 404 });
  });

  test('a request in a loop requires the same scope as one outside', async () => {
    const id = await publish(
      eachStep([eachStep([request('send', '/double', {})], { id: 'inner', items: '{{item}}' })]),
    );
    const { principal } = await createTestPat(service.container.services, acme.contributor, ['workflow:run']);
    const refused = await refusal(call(principal, 'workflows_execute_command', { id, command: 'start' }));
    expect(refused).toMatchObject({ status: 403, code: 'insufficient_scope' });
  });

  test('a connection is in use by a request in a loop, in the draft and in the version', async () => {
    const connection = { display_name: 'Key', provider: 'custom', service: 'api_key', credentials: { api_key: 'k' } };
    const made = await callOperation<{ id: string }>('connections_create', { ...connection, origins: [api.url] });
    const send = request('send', '/double', {}, { connection_id: made.id });
    const id = await publish(eachStep([eachStep([send], { id: 'inner', items: '{{item}}' })]));
    const { workflows } = await callOperation<{ workflows: { id: string }[] }>('connections_usage', { id: made.id });
    expect(workflows.map(user => user.id)).toEqual([id]);
  });

  test('a task in a loop cannot be skipped without the right to edit', async () => {
    const ask = { id: 'ask', type: 'human_task', instructions: 'Pay?' };
    const id = await publish(eachStep([ask]), lua('pay', 'return 1', { depends_on: ['each'] }));
    const { principal } = await createTestPat(service.container.services, acme.contributor, ['workflow:run']);
    const params = { mode: 'episode', trigger_steps: { pay: {} } };
    const refused = await refusal(call(principal, 'workflows_execute_command', { id, command: 'start', params }));
    expect(refused).toMatchObject({ status: 403, details: [{ message: expect.stringContaining('"each"') }] });
  });
});
