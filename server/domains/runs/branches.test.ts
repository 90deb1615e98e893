import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Graph, JsonValue } from '../../orchestrator/core/index.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, luaStep as lua } from '../../testing/workflows.ts';
import { runOperations } from './operations.ts';

const {
  workflows_execute_command: command,
  runs_get_context: context,
  runs_get_summary: summary,
  runs_list_events: events,
  runs_rerun: rerun,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = () => contextFor(service.services, tenant.contributor);
type Ref = { id: string; runID: string };

async function startRun(graph: Graph, input: Record<string, JsonValue>): Promise<Ref> {
  const id = await publishGraph(service.services, tenant.owner, graph);
  const { run_id: runID } = await call(command, as(), { id, command: 'start', params: input });
  return await waitForEnd({ id, runID });
}

async function waitForEnd(ref: Ref): Promise<Ref> {
  await reached(service.services, tenant.owner, ref);
  return ref;
}

/** Returns the status of each step, or why it was skipped, and the result of the step `last`. */
async function outcome(ref: Ref, last: string) {
  const { status } = await call(summary, as(), ref);
  const { events: log } = await call(events, as(), { ...ref, limit: 200 });
  const ends = log.flatMap(({ event_type, step_id, data }) =>
    event_type === 'step_completed' ? [[step_id, 'reason' in data ? data.reason : 'completed']] : [],
  );
  const { steps } = await call(context, as(), ref);
  return {
    status,
    ends: Object.fromEntries(ends),
    result: (steps as Record<string, { result?: JsonValue }>)[last]?.result,
  };
}

const condition = { id: 'c', type: 'condition', expression: 'input.big', then: ['a'], else: ['m'] };
const rejoined: Graph = {
  steps: [
    condition,
    lua('a', 'return "a"', 'c'),
    lua('m', 'return "{{steps.a.result ?? input.name}}"', 'a', 'c'),
    lua('after', 'return "after " .. {{steps.m.result}}', 'm'),
  ],
};

test('branches of different length meet again', async () => {
  const long = await startRun(rejoined, { big: true, name: 'n' });
  const ends = { c: 'completed', a: 'completed', m: 'completed', after: 'completed' };
  expect(await outcome(long, 'after')).toEqual({ status: 'completed', ends, result: 'after a' });
  const short = await startRun(rejoined, { big: false, name: 'n' });
  expect(await outcome(short, 'after')).toEqual({
    status: 'completed',
    ends: { ...ends, a: 'branch_not_taken' },
    result: 'after n',
  });
  expect(await call(summary, as(), short)).toMatchObject({ steps_total: 4, steps_done: 4, steps_skipped: 1 });
  const { run_id: runID } = await call(rerun, as(), { ...short, from_step: 'm' });
  const again = await outcome(await waitForEnd({ id: short.id, runID }), 'after');
  expect(again).toMatchObject({ status: 'completed', ends: { m: 'completed' }, result: 'after n' });
});

test('a step in both branches runs whichever branch is taken, also in a loop', async () => {
  const inner = [
    { ...condition, expression: 'item > 1', then: ['a', 'both'], else: ['both'] },
    lua('a', 'return "a"', 'c'),
    lua('both', 'return {{steps.a.result ?? item}}', 'c', 'a'),
  ];
  const each = { id: 'each', type: 'for_each', items: 'input.list', steps: inner as unknown as JsonValue };
  const found = await outcome(await startRun({ steps: [each] }, { list: [1, 2] }), 'each');
  expect(found).toMatchObject({
    ends: { 'each.0.a': 'branch_not_taken', 'each.0.both': 'completed', 'each.1.both': 'completed' },
    result: { results: [1, 'a'], failed: 0 },
  });
});

test('a step that no edge leads to is skipped, and one that another edge leads to runs', async () => {
  const two = { ...condition, id: 'd', expression: 'input.other', then: ['either'], else: [] };
  const graph: Graph = {
    steps: [
      { ...condition, then: ['either'], else: [] },
      two,
      lua('either', 'return 1', 'c', 'd'),
      lua('behind', 'return 2', 'either'),
    ],
  };
  const endsOf = async (big: boolean, other: boolean) =>
    (await outcome(await startRun(graph, { big, other }), 'behind')).ends;
  expect(await endsOf(false, false)).toMatchObject({ either: 'branch_not_taken', behind: 'branch_not_taken' });
  expect(await endsOf(false, true)).toMatchObject({ either: 'completed', behind: 'completed' });
  expect(await endsOf(true, false)).toMatchObject({ either: 'completed', behind: 'completed' });
});

test('the example in docs/steps.md does what the page says', async () => {
  const page = readFileSync(new URL('../../../docs/steps.md', import.meta.url), 'utf8');
  const [, text = ''] = /## Branches[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? [];
  const graph = JSON.parse(text) as Graph;
  expect(await outcome(await startRun(graph, { amount: 200 }), 'invoice')).toMatchObject({ result: { total: 180 } });
  const small = await outcome(await startRun(graph, { amount: 50 }), 'invoice');
  expect(small).toMatchObject({ result: { total: 50 }, ends: { discount: 'branch_not_taken' } });
});
