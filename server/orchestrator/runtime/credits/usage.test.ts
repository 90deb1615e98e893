import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { chain, createHarness, type Harness, type HarnessOptions, stepType } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { consumedBy, endsBillableAttempt } from '../../core/index.ts';
import type { RunRef } from '../../ports/orchestrator.ts';

let db: TestDatabase;
const open: Harness[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

async function harness(options: HarnessOptions = {}): Promise<Harness> {
  const made = await createHarness(db, options);
  open.push(made);
  return made;
}

type Line = [runId: string, step: string, attempt: number, quantity: number];
type Row = { tenant_id: string; action: string; quantity: string; attempts: Line[] };

/** The charged usage rows of a workflow, oldest first. */
async function usageOf(workflowId: string): Promise<Row[]> {
  const { rows } = await db.pool.query<Row>(
    `SELECT tenant_id, action, quantity, attempts FROM run_usage
     WHERE workflow_id = $1 AND action NOT LIKE 'run_%' ORDER BY id`,
    [workflowId],
  );
  return rows;
}

const flaky = () => {
  let calls = 0;
  return stepType('flaky', async () => {
    calls += 1;
    const error = { code: 'boom', message: 'It broke.' };
    return calls < 3 ? { kind: 'failed', error, retryable: true } : { kind: 'completed', result: null };
  });
};

test('each attempt that ended by itself is one line of usage; skipped steps have none', async () => {
  const h = await harness({ types: [flaky()] });
  const workflow = h.workflow({
    steps: [
      { id: 'a', type: 'flaky', retry_count: 2, retry_delay_s: 0 },
      { id: 'b', type: 'echo', depends_on: ['a'], disabled: true },
      { id: 'c', type: 'echo', depends_on: ['a'] },
    ],
  });
  const ref = await h.start(workflow);
  await h.ended(ref);
  const rows = await usageOf(workflow.workflowId);
  expect(rows.flatMap(row => row.attempts)).toEqual([
    [ref.runId, 'a', 1, 1],
    [ref.runId, 'a', 2, 1],
    [ref.runId, 'a', 3, 1],
    [ref.runId, 'c', 1, 1],
  ]);
  expect(new Set(rows.map(row => `${row.tenant_id} ${row.action}`))).toEqual(new Set(['acme workflow_step']));
});

test('what an attempt used is charged with it, whether it succeeded or failed', async () => {
  let calls = 0;
  const thirsty = stepType('thirsty', async () => {
    calls += 1;
    const consumed = [
      { action: 'llm_input_tokens' as const, quantity: 100 * calls },
      { action: 'llm_output_tokens' as const, quantity: calls === 1 ? 0 : 7 },
      { action: 'tool_call' as const, quantity: Number.NaN },
    ];
    const error = { code: 'boom', message: 'It broke.' };
    return calls < 3
      ? { kind: 'failed', error, retryable: true, consumed }
      : { kind: 'completed', result: new Date(0) as never, consumed };
  });
  const h = await harness({ types: [thirsty] });
  const workflow = h.workflow({ steps: [{ id: 'a', type: 'thirsty', retry_count: 2, retry_delay_s: 0 }] });
  const ref = await h.start(workflow);
  await h.ended(ref);
  const lines = (await usageOf(workflow.workflowId)).flatMap(({ action, attempts }) =>
    attempts.map(([, , attempt, quantity]) => `${attempt} ${action} ${quantity}`),
  );
  expect(lines.sort()).toEqual([
    '1 llm_input_tokens 100',
    '1 workflow_step 1',
    '2 llm_input_tokens 200',
    '2 llm_output_tokens 7',
    '2 workflow_step 1',
    '3 llm_input_tokens 300',
    '3 llm_output_tokens 7',
    '3 workflow_step 1',
  ]);
  const ends = (await h.events(ref)).map(({ event }) => event).filter(endsBillableAttempt);
  expect(ends.map(event => [event.type, consumedBy(event).length])).toEqual([
    ['step_retrying', 1],
    ['step_retrying', 2],
    ['step_failed', 2],
  ]);
});

test('an immediate stop charges nothing for what it cancelled', async () => {
  const never = stepType('never', () => new Promise(() => undefined));
  const h = await harness({ types: [never] });
  const workflow = h.workflow({ steps: [{ id: 'a', type: 'never' }] });
  const ref = await h.start(workflow);
  await h.orchestrator.command(ref, { type: 'stop', mode: 'immediate', by: 'ann' });
  expect(await usageOf(workflow.workflowId)).toEqual([]);
});

test('runs that share commits share rows, tenant by tenant, and every quantity is the sum of its lines', async () => {
  const h = await harness();
  const tenants = ['acme', newId()];
  const workflows = tenants.map(tenant => h.workflow(chain(4), tenant));
  const refs: RunRef[] = await Promise.all(
    Array.from({ length: 40 }, (_, n) => h.start(workflows[n % 2] ?? workflows[0] ?? h.workflow(chain(1)))),
  );
  await Promise.all(refs.map(ref => h.ended(ref)));
  for (const [index, { workflowId }] of workflows.entries()) {
    const rows = await usageOf(workflowId);
    expect(rows.length).toBeLessThan(80);
    for (const row of rows) expect(Number(row.quantity)).toBe(row.attempts.reduce((sum, line) => sum + line[3], 0));
    const lines = rows.flatMap(row => row.attempts.map(([runId, step, attempt]) => `${runId} ${step} ${attempt}`));
    const events = await Promise.all(refs.filter((_, n) => n % 2 === index).map(ref => h.events(ref)));
    const ends = events
      .flat()
      .flatMap(({ runId, event }) => (endsBillableAttempt(event) ? [`${runId} ${event.step} ${event.attempt}`] : []));
    expect(lines.sort()).toEqual(ends.sort());
    expect(new Set(rows.map(row => row.tenant_id))).toEqual(new Set([tenants[index]]));
  }
});
