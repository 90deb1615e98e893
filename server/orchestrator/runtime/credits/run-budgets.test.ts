import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { TestCredits } from '../../../testing/engine/credits.ts';
import { createHarness, type Harness, stepType } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';

let db: TestDatabase;
let credits: TestCredits;
const open: Harness[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
  credits = new TestCredits(db.pool, {});
});
afterAll(() => db.close());
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

/** An input token costs 2 microcredits, a step 100. */
const reads = (quantity: number) =>
  stepType('llm_call', async () => ({
    kind: 'completed',
    result: null,
    consumed: [{ action: 'llm_input_tokens', quantity }],
  }));
const hangs = stepType('http_request', () => new Promise(() => undefined));

async function start(tokens: number): Promise<Harness> {
  const h = await createHarness(db, { credits, types: [reads(tokens), hangs] });
  open.push(h);
  return h;
}
const workspace = async () => {
  const tenant = newId();
  await credits.grant(tenant, 'payg', 1_000_000);
  return tenant;
};
const llm = (id: string, ...depends_on: string[]) => ({ id, type: 'llm_call', model: 'x/y', depends_on });
const started_by = 'ann@example.com';

test('a run above its budget is stopped in the entry with the charge, even with attempts in flight', async () => {
  const h = await start(1_000);
  const graph = { steps: [llm('a'), { id: 'b', type: 'http_request' }, llm('c', 'a')] };
  const ref = await h.start(h.workflow(graph, await workspace()), { budget: 1_500, started_by });
  await h.ended(ref);
  const events = (await h.events(ref)).map(({ event }) => event);
  expect(events.at(-1)).toMatchObject({ data: { to: 'stopped', by: started_by, reason: 'budget_spent' } });
  const charged = events.findIndex(event => event.type === 'step_completed' && event.step === 'a');
  // The stop is in the entry that charges the step, so that no crash can separate them.
  expect(events.slice(charged).map(event => event.at)).toEqual(Array(events.length - charged).fill(events.at(-1)?.at));
  expect(events).not.toContainEqual(expect.objectContaining({ type: 'step_started', step: 'c' }));
  expect(events).toContainEqual(expect.objectContaining({ type: 'step_cancelled', step: 'b' }));
});

test('the budget holds in the next process, too', async () => {
  const first = await start(300);
  const ask = { id: 'ask', type: 'human_task', depends_on: ['a'] };
  const workflow = first.workflow({ steps: [llm('a'), ask, llm('b', 'ask'), llm('c', 'b')] }, await workspace());
  const ref = await first.start(workflow, { budget: 1_200, started_by });
  await first.until(ref, event => event.type === 'task_pending');
  await first.orchestrator.close();
  const next = await start(300);
  await next.orchestrator.completeTask(ref, { step: 'ask', approved: true, result: {}, by: started_by });
  await next.ended(ref);
  const events = (await next.events(ref)).map(({ event }) => event);
  expect(events.at(-1)).toMatchObject({ data: { to: 'stopped', reason: 'budget_spent' } });
  expect(events).not.toContainEqual(expect.objectContaining({ type: 'step_started', step: 'c' }));
});

test('concurrent attempts share the budget: a waiting one begins with the rest', async () => {
  let atWork = 0;
  let most = 0;
  const types = [
    stepType('llm_call', async () => {
      atWork += 1;
      most = Math.max(most, atWork);
      await new Promise(resolve => setTimeout(resolve, 5));
      atWork -= 1;
      return { kind: 'completed', result: null, consumed: [{ action: 'llm_input_tokens', quantity: 300 }] };
    }),
  ] as const;
  const h = await createHarness(db, { credits, types });
  open.push(h);
  const graph = { steps: Array.from({ length: 12 }, (_, n) => llm(`s${n}`)) };
  // Each attempt reserves 107 and costs 700.
  const ref = await h.start(h.workflow(graph, await workspace()), { budget: 250, started_by });
  await h.ended(ref);
  const run = await db.pool.query('SELECT status, credits_microcredits::int AS credits FROM runs WHERE id = $1', [
    ref.runId,
  ]);
  expect(run.rows).toEqual([{ status: 'stopped', credits: 700 }]);
  expect(most).toBeLessThanOrEqual(3);
});
