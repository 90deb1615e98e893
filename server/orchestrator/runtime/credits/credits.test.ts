import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { TestCredits } from '../../../testing/engine/credits.ts';
import {
  chain,
  createHarness,
  Gate,
  type Harness,
  type HarnessOptions,
  isEnd,
  ManualTime,
  outline,
  stepType,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Consumption } from '../../core/index.ts';
import { FREE, type TenantCredits } from '../../ports/credits.ts';
import { MAX_PER_ATTEMPT } from '../../turn/pricing.ts';
import { REFRESH_MS } from './credit-meter.ts';

let db: TestDatabase;
const open: Harness[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

const time = new ManualTime();
/** Creates a workspace with this balance. A step costs 100, like in TestCredits. */
async function funded(balance: number, policy: Partial<TenantCredits> = {}, options: HarnessOptions = {}) {
  const credits = new TestCredits(db.pool, policy);
  const h = await createHarness(db, { credits, clock: time.clock, alarm: time.alarm, ...options });
  open.push(h);
  const tenant = newId();
  if (balance > 0) await credits.grant(tenant, 'payg', balance);
  return { h, credits, tenant };
}
const using = (...consumed: Consumption[]) =>
  stepType('llm_call', async () => ({ kind: 'completed', result: null, consumed }));

test('the cost of an attempt is in its event, in the run, in the ledger and in its usage', async () => {
  const used: Consumption[] = [
    { action: 'llm_input_tokens', quantity: 10 },
    { action: 'llm_output_tokens', quantity: 3 },
  ];
  const { h, credits, tenant } = await funded(1_000, {}, { types: [using(...used)] });
  const ref = await h.start(h.workflow({ steps: [{ id: 'a', type: 'llm_call', model: 'x/y' }] }, tenant));
  await h.ended(ref);
  const ended = (await h.events(ref)).find(({ event }) => event.type === 'step_completed');
  expect(ended?.event.data).toEqual({ result: null, consumed: used, credits: 135 });
  expect(await credits.read(tenant)).toMatchObject({ balance: 865, consumed: 135 });
  const run = await db.pool.query('SELECT credits_microcredits FROM runs WHERE id = $1', [ref.runId]);
  expect(run.rows[0].credits_microcredits).toBe('135');
  const usage = await db.pool.query(
    'SELECT action, subject, step_type, microcredits::int AS cost FROM run_usage WHERE tenant_id = $1 ORDER BY seq',
    [tenant],
  );
  expect(usage.rows).toEqual([
    { action: 'run_started', subject: 'api', step_type: '', cost: 0 },
    { action: 'workflow_step', subject: '', step_type: 'llm_call', cost: 100 },
    { action: 'llm_input_tokens', subject: 'x/y', step_type: 'llm_call', cost: 20 },
    { action: 'llm_output_tokens', subject: 'x/y', step_type: 'llm_call', cost: 15 },
    { action: 'run_ended', subject: '', step_type: '', cost: 0 },
  ]);
});

test('a step that the workspace cannot pay for fails before it does anything, and costs nothing', async () => {
  const { h, credits, tenant } = await funded(250);
  const ref = await h.start(h.workflow(chain(4), tenant));
  await h.ended(ref);
  const events = await h.events(ref);
  expect(outline(events).slice(-4)).toEqual([
    'step_started s2',
    'step_failed s2',
    'step_completed s3',
    'state_changed failed',
  ]);
  const failed = events.find(({ event }) => event.type === 'step_failed');
  expect(failed?.event.data).toMatchObject({ error: { code: 'insufficient_credits' } });
  expect(await credits.read(tenant)).toMatchObject({ balance: 50, consumed: 200 });
});

test('if the policy says so, the run is paused instead, and continues when it is resumed with credits', async () => {
  const { h, credits, tenant } = await funded(150, { whenExhausted: 'pause' });
  const ref = await h.start(h.workflow(chain(2), tenant));
  await h.until(ref, event => event.type === 'state_changed' && event.data.to === 'paused');
  const paused = (await h.events(ref)).at(-1);
  expect(paused?.event.data).toEqual({ from: 'running', to: 'paused', by: 'credits', reason: 'insufficient_credits' });
  await credits.grant(tenant, 'included', 50);
  h.orchestrator.creditsChanged(tenant);
  await h.orchestrator.command(ref, { type: 'resume', by: 'ann' });
  await h.ended(ref);
  expect((await h.events(ref)).at(-1)?.event.data).toMatchObject({ to: 'completed' });
  expect(await credits.read(tenant)).toMatchObject({ balance: 0, consumed: 200 });
});

test('attempts in flight hold their price: of two parallel steps, credits for one start one', async () => {
  const gate = new Gate();
  const { h, tenant } = await funded(150, {}, { types: [gate.type] });
  const ref = await h.start(
    h.workflow(
      {
        steps: [
          { id: 'a', type: 'gate' },
          { id: 'b', type: 'gate' },
        ],
      },
      tenant,
    ),
  );
  await h.ended(ref);
  expect(gate.waiting.map(({ attempt }) => attempt.step.id)).toEqual(['a']);
  expect(outline(await h.events(ref))).toContain('step_cancelled a');
});

test('a cancelled attempt releases what was held for it', async () => {
  const gate = new Gate();
  const { h, credits, tenant } = await funded(100, {}, { types: [gate.type] });
  const first = await h.start(h.workflow({ steps: [{ id: 'a', type: 'gate' }] }, tenant));
  await gate.arrived(1);
  await h.orchestrator.command(first, { type: 'stop', mode: 'immediate', by: 'ann' });
  const second = await h.start(h.workflow(chain(1), tenant));
  await h.ended(second);
  expect(await credits.read(tenant)).toMatchObject({ balance: 0, consumed: 100 });
});

test('a waiting human task holds no credits, and is charged when it ends', async () => {
  const { h, credits, tenant } = await funded(100);
  const asked = await h.start(h.workflow({ steps: [{ id: 'ask', type: 'human_task' }] }, tenant));
  await h.until(asked, event => event.type === 'task_pending');
  const other = await h.start(h.workflow(chain(1), tenant));
  await h.ended(other);
  await h.orchestrator.completeTask(asked, { step: 'ask', approved: true, result: {}, by: 'ann' });
  await h.ended(asked);
  expect(await credits.read(tenant)).toMatchObject({ balance: 0, consumed: 200, waived: 100 });
});

test('free steps start without credits, and nothing is refused where limits are not enforced', async () => {
  const free = await funded(0, { prices: FREE.prices });
  const ref = await free.h.start(free.h.workflow(chain(2), free.tenant));
  await free.h.ended(ref);
  expect(await free.credits.read(free.tenant)).toMatchObject({ consumed: 0 });
  await free.h.orchestrator.close();
  const metered = await funded(0, { enforced: false });
  const run = await metered.h.start(metered.h.workflow(chain(2), metered.tenant));
  await metered.h.ended(run);
  expect((await metered.h.events(run)).at(-1)?.event.data).toMatchObject({ to: 'completed' });
  expect(await metered.credits.read(metered.tenant)).toMatchObject({ consumed: 200, waived: 200, balance: 0 });
});

test('a start without the credits for one step is refused, after they were read again', async () => {
  const { h, credits, tenant } = await funded(100);
  const workflow = h.workflow(chain(1), tenant);
  const first = await h.start(workflow);
  await h.ended(first);
  await expect(h.start(workflow)).rejects.toMatchObject({ status: 422, code: 'insufficient_credits' });
  // The client repeats the start, because its answer was lost.
  await expect(h.start(workflow, {}, first.runId)).rejects.toMatchObject({ status: 409, code: 'run_id_taken' });
  // Another process grants the credits without a notification.
  await credits.grant(tenant, 'payg', 100);
  await h.ended(await h.start(workflow));
});

test('nothing starts while credits cannot be read', async () => {
  const { h, credits, tenant } = await funded(100);
  credits.fails = true;
  await expect(h.start(h.workflow(chain(1), tenant))).rejects.toMatchObject({ status: 503, code: 'unavailable' });
  credits.fails = false;
  await h.ended(await h.start(h.workflow(chain(1), tenant)));
});

test('a workspace that uses something is read again, and an idle one is not', async () => {
  const { h, credits, tenant } = await funded(1_000);
  await h.ended(await h.start(h.workflow(chain(1), tenant)));
  const refreshed: string[][] = [];
  const refresh = credits.refresh.bind(credits);
  credits.refresh = async tenantIds => {
    refreshed.push([...tenantIds]);
    return refresh(tenantIds);
  };
  time.advance(REFRESH_MS);
  time.advance(REFRESH_MS);
  time.advance(REFRESH_MS);
  expect(refreshed).toEqual([[tenant]]);
});

test('one warning each is given when 80 and when 100 percent of an allowance are used', async () => {
  const { h, credits, tenant } = await funded(1_000, { whenExhausted: 'fail' });
  const ref = await h.start(h.workflow(chain(12), tenant));
  await h.ended(ref);
  expect(credits.crossings).toEqual([
    [tenant, 80],
    [tenant, 100],
  ]);
});

test('an attempt that reports more usage than can be charged is charged the maximum', async () => {
  const said = { action: 'llm_output_tokens' as const, quantity: Number.MAX_SAFE_INTEGER };
  const { h, credits, tenant } = await funded(1_000, {}, { types: [using(said)] });
  const ref = await h.start(h.workflow({ steps: [{ id: 'a', type: 'llm_call' }] }, tenant));
  await h.until(ref, isEnd);
  const most = MAX_PER_ATTEMPT + 100;
  expect(await credits.read(tenant)).toMatchObject({ consumed: most, balance: 0, waived: most - 1_000 });
  const ended = (await h.events(ref)).find(({ event }) => event.type === 'step_completed');
  expect(ended?.event.data).toMatchObject({ consumed: [{ quantity: MAX_PER_ATTEMPT / 5 }], credits: most });
});
