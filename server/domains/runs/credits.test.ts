import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CreditSource, FREE, type TenantCredits } from '../../orchestrator/ports/credits.ts';
import { newId } from '../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, refusal } from '../../testing/workflows.ts';
import { runOperations } from './operations.ts';

const {
  workflows_execute_command: command,
  runs_get_summary: summary,
  runs_list_events: events,
  runs_rerun: rerun,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;
/** The credits that the workspace has left. */
const tenantCredits: TenantCredits = {
  prices: { ...FREE.prices, workflow_step: 100, tool_call: 10, llm_input_tokens: 1, llm_output_tokens: 1 },
  balance: 1_000,
  consumed: 0,
  allowance: 1_000,
  whenExhausted: 'fail',
  enforced: true,
};
const source: CreditSource = {
  load: async () => ({ ...tenantCredits }),
  refresh: async tenantIds => new Map(tenantIds.map(tenantId => [tenantId, { ...tenantCredits }])),
  thresholdCrossed: () => undefined,
};

beforeAll(async () => {
  service = await startTestService({}, () => source);
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  await service.db.pool.query(
    `INSERT INTO credit_accounts (tenant_id, payg, created_at) VALUES ('acme', 1000, to_timestamp(0))`,
  );
});
afterAll(() => service.close());

const as = () => contextFor(service.services, tenant.contributor);
const publish = () =>
  publishGraph(service.services, tenant.owner, {
    steps: [
      { id: 'a', type: 'lua_script', script: 'return 1' },
      { id: 'b', type: 'lua_script', script: 'error("boom")', depends_on: ['a'], retry_count: 1, retry_delay_s: 0 },
      { id: 'c', type: 'lua_script', script: 'return 1', disabled: true },
    ],
  });

test('a run shows its charges, step by step and event by event', async () => {
  const id = await publish();
  const { run_id: runID } = await call(command, as(), { id, command: 'start' });
  await reached(service.services, tenant.owner, { id, runID });
  const run = await call(summary, as(), { id, runID });
  expect(run.steps.map(step => [step.step_id, step.credits_microcredits])).toEqual([
    ['a', 100],
    ['b', 200],
    ['c', 0],
  ]);
  expect(run.credits_microcredits).toBe(300);
  const log = await call(events, as(), { id, runID });
  const charged = log.events.filter(({ data }) => data.credits !== undefined);
  expect(charged.map(({ event_type, data }) => [event_type, data.credits])).toEqual([
    ['step_completed', 100],
    ['step_retrying', 100],
    ['step_failed', 100],
  ]);
});

test('a start and a rerun without the credits for a step are refused, and recorded as refused', async () => {
  const id = await publish();
  const { run_id: runID } = await call(command, as(), { id, command: 'start' });
  await reached(service.services, tenant.owner, { id, runID });
  // Two runs of three attempts were charged; all but 99 of the remaining credits have expired.
  Object.assign(tenantCredits, { balance: 99, consumed: 600 });
  service.services.orchestrator.creditsChanged('acme');
  const refused = newId();
  const start = await refusal(call(command, as(), { id, command: 'start', params: { run_id: refused } }));
  expect(start).toMatchObject({ status: 422, code: 'insufficient_credits' });
  const log = await call(events, as(), { id, runID: refused });
  expect(log.events).toMatchObject([{ event_type: 'run_rejected', data: { code: 'insufficient_credits' } }]);
  expect(await refusal(call(rerun, as(), { id, runID }))).toMatchObject({ status: 422, code: 'insufficient_credits' });
  const { rows } = await service.db.pool.query(
    `SELECT count(*)::int AS n FROM run_rejections WHERE code = 'insufficient_credits'`,
  );
  expect(rows[0].n).toBe(2);
  // Another process grants credits: a refusal must not rely on the balance that was last read.
  tenantCredits.balance = 500;
  expect(await call(rerun, as(), { id, runID })).toMatchObject({ status: 'running' });
});
