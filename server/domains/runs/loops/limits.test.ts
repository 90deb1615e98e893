import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../api/operations.ts';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { startHttpServer, type TestHttpServer } from '../../../testing/http-server.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { reached } from '../../../testing/runs.ts';

type Step = { id: string; type: string; [field: string]: unknown };
type Ref = { id: string; runID: string };
type Failure = { code: string; message: string; step_id: string } | null;
type Summary = { status: string; error: Failure; output: unknown; added_steps: { total: number; done: number } };
type Event = { event_type: string; step_id?: string; data: { error?: { code: string; message: string } } };
type Name = (typeof operations)[number]['name'];

const SECRET = 'tok_9b51e0c4a77f2d';

let service: TestContainer;
let acme: TestTenant;
let rival: TestTenant;
let api: TestHttpServer;
let call: ReturnType<typeof createCall<typeof operations>>;

beforeAll(async () => {
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_SHUTDOWN_GRACE_S: '0' });
  api = await startHttpServer({
    '/echo': ({ path, headers }, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ path, headers })),
  });
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  rival = await createTestTenant(service.container.services, { slug: 'rival' });
  call = createCall(service.container.services, operations);
});
afterAll(async () => {
  await service.close();
  await api.close();
});

const callOperation = <T>(name: Name, input: object, by = acme) => call(by.contributor, name, input) as Promise<T>;

async function publish(steps: Step[], by = acme): Promise<string> {
  const { id } = await callOperation<{ id: string }>(
    'workflows_create',
    { name: `W ${newId()}`, graph: { steps } },
    by,
  );
  await callOperation('workflows_publish_version', { id }, by);
  return id;
}
async function start(input: object, steps: Step[], by = acme): Promise<Ref> {
  const id = await publish(steps, by);
  const params = { trigger_payload: input };
  const { run_id } = await callOperation<{ run_id: string }>(
    'workflows_execute_command',
    { id, command: 'start', params },
    by,
  );
  return { id, runID: run_id };
}
async function end(ref: Ref, by = acme): Promise<Summary> {
  await reached(service.container.services, by.owner, ref);
  return callOperation<Summary>('runs_get_summary', ref, by);
}
/** Runs the steps until the run has ended. Meanwhile, another workspace runs a loop, which completes. */
async function run(input: object, ...steps: Step[]): Promise<Summary & { ref: Ref }> {
  const ref = await start(input, steps);
  const beside = await start({ list: [1, 2, 3] }, [eachStep([lua('a', 'return item * 2')])], rival);
  const summary = await end(ref);
  expect(await end(beside, rival)).toMatchObject({ status: 'completed', output: { results: [2, 4, 6], failed: 0 } });
  return { ...summary, ref };
}
async function failuresOf(ref: Ref): Promise<string[]> {
  const { events } = await callOperation<{ events: Event[] }>('runs_list_events', { ...ref, limit: 500 });
  return events.flatMap(({ event_type, step_id, data }) =>
    event_type === 'step_failed' ? [`${step_id} ${data.error?.code}`] : [],
  );
}

const eachStep = (steps: Step[], more: object = {}): Step => ({
  id: 'each',
  type: 'for_each',
  items: '{{input.list}}',
  steps,
  ...more,
});
const lua = (id: string, script: string, more: object = {}): Step => ({ id, type: 'lua_script', script, ...more });
const get = (url: string, more: object = {}): Step => ({ id: 'get', type: 'http_request', url, ...more });

describe('items that cannot be added fail their step, with a message', () => {
  const half = Array.from({ length: 500_000 }, () => 0);
  test.each<[string, object, string, RegExp]>([
    ['input.list + input.list', { list: half }, 'expression_too_costly', /^items: .*too much work/],
    ['[input.text + input.text]', { text: 'x'.repeat(600_000) }, 'items_too_large', /items have 1200\d{3} bytes/],
    ['{{input.list[3]}}', { list: [] }, 'template_unresolved', /input\.list\[3\]/],
    ['input.list.first', { list: [] }, 'expression_failed', /^items: /],
  ])('%s', async (items, input, code, message) => {
    const { error, added_steps } = await run(input, eachStep([lua('a', 'return 1')], { items }));
    expect(error).toMatchObject({ code, step_id: 'each', message: expect.stringMatching(message) });
    expect(added_steps).toEqual({ total: 0, done: 0 });
  });

  test('half a million small items, which are more steps than a run may add', async () => {
    const { error } = await run({ list: half }, eachStep([lua('a', 'return 1')]));
    expect(error).toMatchObject({ code: 'too_many_steps', step_id: 'each' });
  });
});

describe('loops that grow beyond the limits of their run', () => {
  const wait = (more: object = {}): Step => ({ id: 'w', type: 'wait', seconds: 3600, ...more });
  const inner = (steps: Step[], more: object = {}): Step =>
    eachStep(steps, { id: 'inner', items: '{{input.inner}}', ...more });

  test('fail if the steps would be more than 100,000 in total, and cancel the steps that they started', async () => {
    const input = { list: [0, 1, 2], inner: Array.from({ length: 40_000 }, () => 0) };
    const { status, error, ref } = await run(input, eachStep([inner([wait()])], { concurrency: 3 }));
    expect([status, error]).toMatchObject(['failed', { code: 'too_many_steps', step_id: 'each' }]);
    expect(error?.message).toMatch(/^Item \d failed in "inner": .*limit of 100000 for a run: 120003 in all/);
    expect(await callOperation('tasks_list_pending_run', ref)).toMatchObject({ tasks: [] });
  });

  test('fail if the steps would be more than 10,000 at a time', async () => {
    const chain = Array.from({ length: 33 }, (_, n) => lua(`s${n}`, 'return 1', { depends_on: ['w'] }));
    const input = { list: [0, 1, 2], inner: Array.from({ length: 100 }, () => 0) };
    const loop = inner([wait(), ...chain], { concurrency: 100 });
    const { error } = await run(input, eachStep([loop], { concurrency: 3 }));
    expect(error).toMatchObject({ code: 'too_many_steps', step_id: 'each' });
    expect(error?.message).toMatch(/limit of 10000 at a time: 10203/);
  });

  test('fail only an item if they continue on errors', async () => {
    const input = { list: [1, 2], inner: Array.from({ length: 100_000 }, () => 0) };
    const { output, ref } = await run(input, eachStep([inner([wait()])], { on_item_error: 'continue' }));
    expect(output).toEqual({ results: [null, null], failed: 2 });
    expect(await failuresOf(ref)).toEqual(['each.0.inner too_many_steps', 'each.1.inner too_many_steps']);
  });
});

describe('a result that cannot be stored', () => {
  const results: [string, string, string][] = [
    ['of more than 1 MiB', 'return ("x"):rep(1100000)', 'larger than 1 MiB'],
    ['with NUL', 'return "a\\0b"', 'a NUL character'],
    ['with half a surrogate pair', 'return "\\u{D800}"', 'not valid UTF-8'],
    ['that is too deep', 'local t = {} for _ = 1, 300 do t = {t} end return t', 'more than 100 levels deep'],
  ];
  test.each(results)('%s fails its item', async (_, script, why) => {
    const a = lua('a', `if item == 2 then ${script} end return item`);
    const continued = await run({ list: [1, 2, 3] }, eachStep([a], { on_item_error: 'continue' }));
    expect(continued).toMatchObject({ status: 'completed', output: { results: [1, null, 3], failed: 1 } });
    expect(await failuresOf(continued.ref)).toEqual(['each.1.a lua_result_invalid']);
    const failed = await run({ list: [1, 2, 3] }, eachStep([a]));
    expect(failed.error).toMatchObject({ code: 'lua_result_invalid', step_id: 'each' });
    expect(failed.error?.message).toMatch(new RegExp(`^Item 1 failed in "a": .*${why}`));
  });

  test.each(results)('%s fails a run that is called, and the step that called it', async (_, script, why) => {
    const id = await publish([lua('a', script)]);
    const { error, ref } = await run({}, { id: 'call', type: 'call_workflow', workflow_id: id });
    expect(error).toMatchObject({ code: 'child_run_failed', step_id: 'call' });
    expect(error?.message).toContain(why);
    expect(await failuresOf(ref)).toEqual(['call child_run_failed']);
  });

  test('because the results of all items are more than 1 MiB fails the loop', async () => {
    const loop = eachStep([lua('a', 'return ("x"):rep(400000)')], { on_item_error: 'continue' });
    const { error } = await run({ list: [1, 2, 3] }, loop);
    expect(error).toMatchObject({ code: 'result_too_large', step_id: 'each' });
    const read = lua('read', 'return steps.each.error.code', { depends_on: ['each'] });
    const { output } = await run({ list: [1, 2, 3] }, { ...loop, on_error: 'continue' }, read);
    expect(output).toBe('result_too_large');
  });
});

describe('requests in a loop', () => {
  test('reach only the public network and the hosts that are listed', async () => {
    const list = ['http://169.254.169.254/', `${api.url}/echo`, 'http://[::1]/'];
    const loop = eachStep([get('{{item}}'), lua('status', 'return steps.get.result.status', { depends_on: ['get'] })]);
    const { output, ref } = await run({ list }, { ...loop, on_item_error: 'continue' });
    expect(output).toEqual({ results: [null, 200, null], failed: 2 });
    expect(await failuresOf(ref)).toEqual(['each.0.get egress_refused', 'each.2.get egress_refused']);
    const { id } = await callOperation<{ id: string }>('workflows_create', {
      name: `W ${newId()}`,
      graph: { steps: [eachStep([get('http://10.0.0.1/')])] },
    });
    expect(await callOperation('workflows_validate', { id })).toMatchObject({
      errors: [{ step_id: 'each', path: 'steps[0].url', code: 'egress_refused' }],
    });
  });

  test('show no credential in events, results and outputs', async () => {
    const { id: connection_id } = await callOperation<{ id: string }>('connections_create', {
      display_name: 'Key',
      provider: 'custom',
      service: 'api_key',
      credentials: { api_key: SECRET },
      origins: [api.url],
    });
    const before = api.seen.length;
    const auth = { type: 'query', name: 'key' };
    const asked = [get(`${api.url}/echo?item={{item}}`, { connection_id, auth })];
    const missing = [get(`${api.url}/missing?item={{item}}`, { connection_id, auth })];
    const more = { on_item_error: 'continue', concurrency: 2 };
    const { output, ref } = await run(
      { list: [1, 2] },
      eachStep(asked, more),
      eachStep(missing, { id: 'other', ...more }),
    );
    expect(api.seen.slice(before).filter(({ path }) => path.includes(SECRET))).toHaveLength(4);
    expect(output).toMatchObject({ each: { failed: 0 }, other: { failed: 2 } });
    const shown = [
      output,
      await callOperation('runs_list_events', { ...ref, limit: 500 }),
      await callOperation('runs_get_context', ref),
      await callOperation('runs_get_step', { ...ref, step_id: 'each' }),
    ];
    expect(JSON.stringify(shown)).toContain('[redacted]');
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });
});
