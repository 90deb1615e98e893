import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Graph, JsonMap } from '../../../orchestrator/core/index.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal } from '../../../testing/workflows.ts';
import { sweep } from '../../retention/sweep.ts';
import { taskOperations } from '../../tasks/operations.ts';
import { runOperations } from '../operations.ts';

const {
  workflows_execute_command: command,
  runs_list_tenant: feed,
  workflows_list_runs: ofWorkflow,
  runs_rerun: rerun,
} = operationsByName(runOperations);
const { tasks_complete: complete } = operationsByName(taskOperations);

let service: RunningService;
let tenant: TestTenant;
let other: TestTenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  other = await createTestTenant(service.services, { slug: 'rival' });
});
afterAll(() => service.close());

const ctx = (principal = tenant.owner) => contextFor(service.services, principal);
const lua = (id: string, script: string, depends_on: string[] = []) => ({ id, type: 'lua_script', script, depends_on });
const publish = (graph: Graph) => publishGraph(service.services, tenant.owner, graph);

async function start(id: string, params: JsonMap = {}): Promise<string> {
  const { run_id: runID } = await call(command, ctx(), { id, command: 'start', params });
  return runID;
}
async function run(id: string, params: JsonMap = {}): Promise<string> {
  const runID = await start(id, params);
  await reached(service.services, tenant.owner, { id, runID });
  return runID;
}
const find = async (filter: Record<string, unknown>, principal = tenant.owner): Promise<string[]> =>
  (await call(feed, ctx(principal), filter)).runs.map(({ run_id }) => run_id);
/** Returns the searchable values that are stored for a run, by name. */
async function storedValues(runId: string): Promise<Record<string, string>> {
  const { rows } = await service.db.pool.query<{ name: string; value: string }>(
    'SELECT name, value FROM run_search_values WHERE run_id = $1',
    [runId],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

const SEARCHABLE = { order: '{{input.order.id}}', ticket: '{{steps.open.result.ticket}}' };
const ordered = { steps: [lua('open', 'return {ticket = "T-" .. input.order.id}')], searchable: SEARCHABLE };

describe('a run', () => {
  test('is found by values of its input and of its results, exactly by field and by their beginning', async () => {
    const id = await publish(ordered);
    const first = await run(id, { order: { id: 'A-1001' } });
    const second = await run(id, { order: { id: 'A-1002' } });
    expect(await storedValues(first)).toEqual({ order: 'A-1001', ticket: 'T-A-1001' });

    expect(await find({ field: 'order=A-1001' })).toEqual([first]);
    expect(await find({ field: 'ticket=T-A-1002' })).toEqual([second]);
    expect(await find({ field: 'order=A-100' })).toEqual([]);
    expect(await find({ field: 'ticket=A-1001' })).toEqual([]);
    expect(await find({ field: 'Order=A-1001' })).toEqual([]);
    expect(await find({ q: 'A-100' })).toEqual([second, first]);
    expect(await find({ q: 'T-A-1001' })).toEqual([first]);
    expect(await find({ q: '1001' })).toEqual([]);

    const listed = await call(ofWorkflow, ctx(), { id, field: 'order=A-1002' });
    expect(listed.runs.map(({ run_id }) => run_id)).toEqual([second]);
    expect(await find({ field: 'order=A-1001', q: first })).toEqual([first]);
    expect(await find({ field: 'order=A-1001', q: 'T-A-1001' })).toEqual([first]);
    expect(await find({ field: 'order=A-1001', q: 'under' })).toEqual([first]);
    expect(await find({ field: 'order=A-1001', q: second })).toEqual([]);
    expect(await find({ field: 'order=A-1001', status: 'failed' })).toEqual([]);
    expect(await find({ field: 'order=A-1001' }, other.owner)).toEqual([]);
    expect(await find({ q: 'A-100' }, other.owner)).toEqual([]);
  });

  test('is found while it waits for a person, and by the answer once there is one', async () => {
    const id = await publish({
      steps: [{ id: 'ask', type: 'human_task' }],
      searchable: { order: '{{input.order}}', reason: '{{steps.ask.result.reason}}' },
    });
    const runID = await start(id, { order: 'waiting-7' });
    await reached(service.services, tenant.owner, { id, runID }, 'blocked');
    expect(await find({ field: 'order=waiting-7', status: 'running' })).toEqual([runID]);
    expect(await storedValues(runID)).toEqual({ order: 'waiting-7' });
    await call(complete, ctx(), { id, runID, task_id: 'ask', approved: true, result: { reason: 'rush' } });
    await reached(service.services, tenant.owner, { id, runID });
    expect(await find({ field: 'reason=rush' })).toEqual([runID]);
  });

  test('that failed later is found by the results before the failure', async () => {
    const id = await publish({
      ...ordered,
      steps: [...ordered.steps, lua('fail', 'error("no stock")', ['open'])],
    });
    const runID = await run(id, { order: { id: 'late' } });
    expect(await find({ field: 'ticket=T-late', status: 'failed' })).toEqual([runID]);
  });

  test('that continues another run is found by the results that it took over', async () => {
    const id = await publish({ ...ordered, steps: [...ordered.steps, lua('next', 'return 1', ['open'])] });
    const before = await run(id, { order: { id: 'again' } });
    const { run_id: after } = await call(rerun, ctx(), { id, runID: before, from_step: 'next' });
    await reached(service.services, tenant.owner, { id, runID: after });
    expect(await storedValues(after)).toEqual({ order: 'again', ticket: 'T-again' });
    expect(await find({ field: 'ticket=T-again' })).toEqual([after, before]);
    const pages = [await call(feed, ctx(), { field: 'ticket=T-again', limit: 1 })];
    pages.push(await call(feed, ctx(), { field: 'ticket=T-again', limit: 1, cursor: pages[0]?.next_cursor }));
    expect(pages.flatMap(({ runs }) => runs.map(({ run_id }) => run_id))).toEqual([after, before]);
    expect(pages[1]?.next_cursor).toBeNull();
  });
});

describe('a value', () => {
  const valued = (value: unknown) => ({ steps: [lua('only', 'return 1')], value });
  async function storedFor(input: JsonMap): Promise<Record<string, string>> {
    const { steps } = valued(null);
    const names = Object.keys(input);
    const searchable = Object.fromEntries(names.map(name => [name, `{{input.${name}}}`]));
    return storedValues(await run(await publish({ steps, searchable }), input));
  }

  test('is a text of up to 200 characters, a number or a boolean', async () => {
    const found = await storedFor({
      below: 'x'.repeat(199),
      at: 'x'.repeat(200),
      above: 'x'.repeat(201),
      empty: '',
      nothing: null,
      list: [1],
      object: { a: 1 },
      number: 47.5,
      yes: true,
      zero: 0,
    });
    const [below, at] = ['x'.repeat(199), 'x'.repeat(200)];
    expect(found).toEqual({ below, at, number: '47.5', yes: 'true', zero: '0' });
    expect(await find({ field: `at=${at}` })).toHaveLength(1);
    expect(await find({ field: 'number=47.5' })).toHaveLength(1);
  });

  test('has no entry if its path does not resolve, or no field is declared', async () => {
    const id = await publish({ ...ordered, steps: [lua('open', 'return {}')] });
    expect(await storedValues(await run(id, {}))).toEqual({});
    expect(await storedValues(await run(await publish(valued(null)), { order: { id: 'A' } }))).toEqual({});
  });

  test('in a result that is stored externally is found too', async () => {
    const script = 'return {filler = string.rep("x", 100000), ticket = "far-away"}';
    const runID = await run(await publish({ steps: [lua('open', script)], searchable: SEARCHABLE }));
    expect(await find({ field: 'ticket=far-away' })).toEqual([runID]);
  });

  test('may hold wildcards, quotes and separators', async () => {
    const hostile = ['50%_off\\', "'; DROP TABLE runs; --", 'a=b=c', '{{input.x}}', '\u001e', 'ünï 💥'];
    const id = await publish({ steps: [lua('only', 'return 1')], searchable: { text: '{{input.text}}' } });
    for (const text of hostile) {
      const runID = await run(id, { text });
      expect(await find({ workflow_id: id, field: `text=${text}` })).toEqual([runID]);
      expect(await find({ workflow_id: id, q: text })).toEqual([runID]);
    }
    for (const q of ['%', '_', '50_', '5%', '\\']) expect(await find({ workflow_id: id, q })).toEqual([]);
  });
});

test('a graph from before the checks runs, without the fields that the checks would refuse', async () => {
  const names = Array.from({ length: 12 }, (_, n): [string, string] => [`f${n}`, '{{input.n}}']);
  const searchable = { bad: 'no template', '1': '{{input.n}}', broken: '{{input.', ...Object.fromEntries(names) };
  const found = await storedValues(
    await run(await publish({ steps: [lua('only', 'return 1')], searchable }), { n: 5 }),
  );
  expect(Object.keys(found).sort()).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7', 'f8', 'f9'].sort());
});

test('the filter is a name, = and a value of up to 200 characters', async () => {
  const status = async (field: unknown) => (await refusal(call(feed, ctx(), { field }))).status;
  for (const field of ['', 'order', '=A', 'order=', '1=A', 'a b=1', `order=${'x'.repeat(201)}`, 'a\0=b'])
    expect(await status(field), String(field)).toBe(422);
  const long = `${'n'.repeat(64)}=${'x'.repeat(200)}`;
  expect(await find({ field: long })).toEqual([]);
  expect(await find({ field: long.slice(1, -1) })).toEqual([]);
  expect(await status(`n${long}`)).toBe(422);
});

test('retention purges the values with their runs', async () => {
  const id = await publish(ordered);
  const runID = await run(id, { order: { id: 'past' } });
  const { clock } = service.services;
  await sweep({
    url: service.db.url,
    logger: pino({ level: 'silent' }),
    cutoffs: { runs: clock.now() + 86_400_000, usage: null, audit: null },
    now: clock.now(),
    pause: async () => undefined,
  });
  expect(await storedValues(runID)).toEqual({});
  expect(await find({ field: 'order=past' })).toEqual([]);
  const { rows } = await service.db.pool.query('SELECT FROM run_search_values');
  expect(rows).toHaveLength(0);
});
