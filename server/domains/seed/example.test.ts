import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { contextFor } from '../../testing/workflows.ts';
import { listTenantRuns } from '../runs/reading/list.ts';
import { getSummary } from '../runs/reading/summary.ts';
import { executeCommand } from '../runs/start/command.ts';
import { CommandInput } from '../runs/start/schemas.ts';
import { getContext } from '../runs/values/context.ts';
import { completeTask } from '../tasks/complete.ts';
import { listPending } from '../tasks/list-pending.ts';
import { getWorkflow } from '../workflows/get.ts';
import { validate } from '../workflows/validate.ts';
import { listVersions } from '../workflows/versions/list.ts';
import { seedExample } from './example.ts';
import { settled } from './settled.ts';

let service: RunningService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'main' });
});
afterAll(() => service.close());

test('the example is published, has run in every way, and one run waits in the inbox', async () => {
  const { services } = service;
  const { workflowId, runIds } = await seedExample(services, { principal: tenant.owner });
  const ctx = contextFor(services, tenant.owner);
  expect(await getWorkflow(ctx, { id: workflowId })).toMatchObject({
    name: 'Expense approval',
    status: 'published',
    latest_version: 1,
  });
  expect(await validate(ctx, { id: workflowId })).toEqual({ valid: true, errors: [], warnings: [] });
  const { versions } = await listVersions(ctx, { id: workflowId, limit: 50 });
  expect(versions).toMatchObject([{ version: 1, changelog: expect.stringContaining('First version') }]);

  const runs = await Promise.all(runIds.map(runID => getSummary(ctx, { id: workflowId, runID })));
  expect(runs.map(run => [run.status, run.orchestration_phase, run.error])).toEqual([
    ['completed', 'complete', null],
    ['completed', 'complete', null],
    ['completed', 'complete', null],
    ['running', 'blocked', null],
  ]);
  const results = await Promise.all(runIds.map(runID => getContext(ctx, { id: workflowId, runID })));
  const summaries = results.map(({ steps }) => steps.summary?.result);
  expect(summaries.slice(0, 3)).toMatchObject([
    { outcome: 'paid', text: expect.stringContaining('approved by policy and booked on sales') },
    { outcome: 'paid', text: expect.stringContaining(`approved by ${tenant.owner.email} and booked on marketing`) },
    { outcome: 'declined', text: expect.stringContaining('The office kitchen has one.') },
  ]);
  expect(summaries[3]).toBeUndefined();
  expect(results[0]?.steps.assess?.result).toMatchObject({ total: 313.9, risky: false });
  expect(results[2]?.steps.assess?.result).toMatchObject({ total: 845, risky: true, risk_score: 100 });

  const inbox = await listPending(ctx, { limit: 50 });
  expect(inbox.tasks).toMatchObject([{ run_id: runIds[3], name: 'Approve the expenses of Tomás Rivera' }]);
  expect(inbox.tasks[0]?.instructions).toContain('| Notebook server, one year | software | 1280.00 |');
  expect(inbox.tasks[0]?.instructions).not.toContain('{{');

  const [task] = inbox.tasks;
  const ref = { id: workflowId, runID: String(task?.run_id) };
  await completeTask(ctx, { ...ref, task_id: String(task?.task_id), approved: false });
  await reached(services, tenant.owner, ref);
  expect((await getContext(ctx, ref)).steps.summary?.result).toMatchObject({
    outcome: 'declined',
    text: expect.stringContaining('No reason was given.'),
  });
});

test('seeding again adds nothing', async () => {
  const { services } = service;
  const first = await seedExample(services, { principal: tenant.owner });
  expect(await seedExample(services, { principal: tenant.owner })).toEqual(first);
  const { runs } = await listTenantRuns(contextFor(services, tenant.owner), { limit: 50, kind: 'workflow' });
  expect(runs.map(run => run.run_id)).toEqual([...first.runIds].reverse());
});

test('the task of the example in README.md waits for the person who answers it there', async () => {
  const ctx = contextFor(service.services, tenant.owner);
  const page = readFileSync('README.md', 'utf8');
  const [, body = ''] = /\/command -d '([^']+)'/.exec(page) ?? [];
  const [, task_id = '', answer = ''] = /\/tasks\/(\w+)\/complete -d '([^']+)'/.exec(page) ?? [];
  const { workflowId: id } = await seedExample(service.services, { principal: tenant.owner });
  const { run_id: runID } = await executeCommand(ctx, CommandInput.parse({ id, ...JSON.parse(body) }));
  await settled(ctx, { id, runID }, ['blocked']);
  await completeTask(ctx, { id, runID, task_id, ...JSON.parse(answer) });
  await settled(ctx, { id, runID }, ['complete']);
  expect((await getContext(ctx, { id, runID })).steps.summary?.result).toMatchObject({ outcome: 'paid' });
});
