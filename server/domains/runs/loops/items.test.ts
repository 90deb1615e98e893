import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, luaStep, refusal } from '../../../testing/workflows.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { runOperations } from '../operations.ts';
import type { LoopItems } from './schemas.ts';

const { workflows_create: create, workflows_publish_version: publish } = operationsByName(workflowOperations);
const { workflows_execute_command: command, runs_get_loop_items: items } = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;
let ref: { id: string; runID: string };

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  ref = await runLoop();
});
afterAll(() => service.close());

const as = (principal = tenant.contributor) => contextFor(service.services, principal);
const get = (step_id: string, more: object = {}) =>
  call(items, as(tenant.viewer), { ...ref, step_id, ...more }) as Promise<z.output<typeof LoopItems>>;

/** Runs a loop over thirty items, each with an inner loop over two. Every tenth item fails after a retry. */
async function runLoop(): Promise<typeof ref> {
  const loop = {
    id: 'each',
    type: 'for_each',
    items: JSON.stringify(Array.from({ length: 30 }, (_, at) => at + 1)),
    on_item_error: 'continue',
    steps: [
      { ...luaStep('odd', 'if item % 10 == 0 then error("no") end return item'), retry_count: 1, retry_delay_s: 0 },
      { ...luaStep('soft', 'error("never mind")'), on_error: 'continue' },
      { id: 'inner', type: 'for_each', items: '[1, 2]', steps: [luaStep('deep', 'return item')], depends_on: ['odd'] },
    ],
  } as const;
  const steps = [loop, luaStep('each_more', 'return 1', 'each')];
  const { id } = await call(create, as(), { name: 'Looping', graph: { steps } });
  await call(publish, as(), { id, changelog: 'First' });
  const { run_id } = await call(command, as(), { id, command: 'start', params: {} });
  await reached(service.services, tenant.owner, { id, runID: run_id });
  return { id, runID: run_id };
}

test('the items of a loop are counted, and the failed items are named', async () => {
  const found = await get('each', { from: 8, limit: 2 });
  expect(found).toMatchObject({ total: 30, ended: 30, failed: 3, failed_items: [9, 19, 29] });
  expect(found.items.map(({ index, status }) => [index, status])).toEqual([
    [8, 'completed'],
    [9, 'failed'],
  ]);
  const [, failed] = found.items;
  expect(failed?.steps.map(({ step_id, status, attempts }) => [step_id, status, attempts.length])).toEqual([
    ['each.9.odd', 'failed', 2],
    ['each.9.soft', 'failed', 1],
    ['each.9.inner', 'skipped', 0],
  ]);
});

test('a nested loop is read by its id, and the last page is short', async () => {
  const inner = await get('each.3.inner');
  expect(inner).toMatchObject({ total: 2, ended: 2, failed: 0, failed_items: [] });
  expect(inner.items.flatMap(({ steps }) => steps.map(({ step_id }) => step_id))).toEqual([
    'each.3.inner.0.deep',
    'each.3.inner.1.deep',
  ]);
  expect((await get('each', { from: 28, limit: 100 })).items).toHaveLength(2);
  expect((await get('each', { from: 30 })).items).toEqual([]);
});

test('a step that is not a loop of the run is not found', async () => {
  const refusalFor = (step_id: string, more: object = {}) =>
    refusal(call(items, as(tenant.viewer), { ...ref, step_id, ...more } as never));
  for (const step of ['each_more', 'nowhere', 'each.1.odd', 'each.x'])
    expect(await refusalFor(step)).toMatchObject({ status: 404 });
  expect(await refusalFor('each', { runID: ref.id })).toMatchObject({ status: 404 });
});
