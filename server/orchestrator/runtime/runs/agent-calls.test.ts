import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { answered, offered } from '../../../testing/engine/agent-turns.ts';
import { TestCredits } from '../../../testing/engine/credits.ts';
import { createHarness, type Harness, outline, stepType } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph, JsonMap, RunEvent } from '../../core/index.ts';
import { createLogReader } from '../../log/log-reader.ts';
import { CREDIT } from '../../ports/microcredits.ts';
import { agent } from '../../steps/agent/agent.ts';
import type { RunTools } from '../../steps/agent/run-tools.ts';
import { agentTool } from '../../steps/agent/tool.ts';
import { agentTurn } from '../../steps/agent/turn.ts';
import type { TurnCaller } from '../../steps/agent/turn-caller.ts';
import type { ContentPart } from '../../steps/agent/turn-messages.ts';
import { callWorkflow } from '../../steps/call-workflow/call-workflow.ts';
import type { WorkflowCaller } from '../../steps/call-workflow/workflow-caller.ts';

/** Runs that agents call: their budgets, and that no crash loses or repeats one. A step costs 100 microcredits, an input token 2. */
let say: (turn: number) => ContentPart[];
let asked = 0;
const turns: TurnCaller = {
  check: async () => [],
  contextWindow: async () => 100_000,
  mostOutput: () => 100,
  async turn() {
    asked += 1;
    return answered(say(asked), { inputTokens: 10, outputTokens: 10 });
  },
};
const done: ContentPart[] = [{ type: 'text', text: 'Done.' }];
const calls = (...names: string[]): ContentPart[] =>
  names.map((name, index) => ({ type: 'tool_call', id: `c${asked}-${index}`, name, arguments: {} }));

let child = '';
const runTools: RunTools = {
  check: async () => [],
  offer: async (_run, { ids }) => ({
    missing: [],
    tools: ids.map(id => ({ ...offered(id, { readOnly: true, openWorld: true }), run: { version: 1, name: 'work' } })),
  }),
};
const workflows: WorkflowCaller = {
  check: async () => [],
  resolve: async () => ({ kind: 'callable', version: 1 }),
  output: async (_run, { runId }) => ({ kind: 'output', output: { of: runId } }),
};
const reads = stepType('llm_call', async ({ step }) => ({
  kind: 'completed',
  result: null,
  consumed: [{ action: 'llm_input_tokens', quantity: Number(step.tokens) }],
}));

let db: TestDatabase;
let credits: TestCredits;
const open: Harness[] = [];
beforeAll(async () => {
  db = await createTestDatabase();
  credits = new TestCredits(db.pool);
});
afterAll(() => db.close());
beforeEach(() => {
  asked = 0;
});
afterEach(async () => {
  for (const h of open.splice(0)) await h.orchestrator.close();
});

async function harness(): Promise<Harness> {
  const services = { turns, runTools, workflows };
  const ofAgents = [agent(services), agentTurn(services), agentTool(services), callWorkflow(workflows)];
  const types = [...ofAgents.map((type): [string, typeof type] => [type.type, type]), reads];
  const h = await createHarness(db, { credits, types });
  open.push(h);
  return h;
}
const tenant = async () => {
  const id = newId();
  await credits.grant(id, 'payg', 10 * CREDIT);
  return id;
};
const clerk = (more: JsonMap = {}): Graph => ({
  steps: [
    {
      id: 'clerk',
      type: 'agent',
      model: 'test/tiny',
      prompt: 'Go.',
      tools: [{ type: 'workflow', workflow_ids: [child] }],
      ...more,
    },
  ],
});
const budget = (microcredits: number) => ({ limits: { budget_credits: microcredits / CREDIT } });
type Row = { id: string; status: string; spent: number };
async function childrenOf(runId: string): Promise<Row[]> {
  const { rows } = await db.pool.query<Row>(
    `SELECT r.id, r.status, r.credits_microcredits::int AS spent FROM child_runs c JOIN runs r ON r.id = c.run_id
      WHERE c.parent_run_id = $1 ORDER BY c.parent_step_id`,
    [runId],
  );
  return rows;
}
/** Returns the budget of a run, by its log. */
async function budgetOf(runId: string): Promise<number> {
  const { rows } = await db.pool.query<{ budget: number }>(
    `SELECT (data->>'budget')::int AS budget FROM run_events WHERE run_id = $1 AND event_type = 'run_started'`,
    [runId],
  );
  return rows[0]?.budget ?? Number.POSITIVE_INFINITY;
}
const eventsOf = async (h: Harness, ref: Parameters<Harness['events']>[0]): Promise<RunEvent[]> =>
  (await h.events(ref)).map(({ event }) => event);
const budgetsIn = (events: readonly RunEvent[]) =>
  events.flatMap(event => (event.type === 'child_called' ? [event.data.budget] : []));
const resultIn = (events: readonly RunEvent[]) =>
  events.flatMap(event =>
    event.type === 'step_completed' && event.step === 'clerk' && 'result' in event.data ? [event.data.result] : [],
  )[0] as JsonMap | undefined;

test('concurrent calls share the rest of the budget, and the agent is charged for their cost', async () => {
  const h = await harness();
  const by = await tenant();
  // Each child costs 700 a step, three steps.
  const step = (id: string, ...depends_on: string[]) => ({
    id,
    type: 'llm_call',
    model: 'x/y',
    tokens: 300,
    depends_on,
  });
  child = h.workflow({ steps: [step('a'), step('b', 'a'), step('c', 'b')] }, by).workflowId;
  say = turn => (turn === 1 ? calls('work', 'work') : done);
  const enough = await h.start(h.workflow(clerk(budget(8_000)), by));
  await h.ended(enough);
  expect(await childrenOf(enough.runId)).toMatchObject([
    { status: 'completed', spent: 2_100 },
    { status: 'completed', spent: 2_100 },
  ]);
  const paid = await eventsOf(h, enough);
  const given = budgetsIn(paid);
  expect(given).toHaveLength(2);
  // A tenth is kept for the closing answer.
  expect(given.reduce<number>((sum, each) => sum + (each ?? 0), 0)).toBeLessThanOrEqual(7_200);
  expect(paid.flatMap(event => (event.type === 'child_ended' ? [event.data.spent] : []))).toEqual([2_100, 2_100]);

  asked = 0;
  const little = await h.start(h.workflow(clerk(budget(3_000)), by));
  await h.ended(little);
  const stopped = await childrenOf(little.runId);
  expect(stopped.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
  // Exceeded by the attempt in flight at most.
  for (const { spent } of stopped) expect(spent).toBeLessThanOrEqual(1_400 + 700);
  const events = await eventsOf(h, little);
  // The agent has spent its budget: it makes no other call, and closes.
  expect(resultIn(events)?.ended_by).toBe('budget');
  expect(events.filter(event => event.type === 'child_called')).toHaveLength(2);
});

test('an agent that has no budget left calls no run', async () => {
  const h = await harness();
  const by = await tenant();
  child = h.workflow({ steps: [{ id: 'a', type: 'llm_call', model: 'x/y', tokens: 600 }] }, by).workflowId;
  say = turn => (turn <= 2 ? calls('work') : done);
  const ref = await h.start(h.workflow(clerk(budget(3_000)), by));
  await h.ended(ref);
  const events = await eventsOf(h, ref);
  expect(budgetsIn(events)).toHaveLength(1);
  expect(resultIn(events)?.ended_by).toBe('budget');
});

test('runs beneath a called run stay within its budget', async () => {
  const h = await harness();
  const by = await tenant();
  const leaf = h.workflow({ steps: [{ id: 'a', type: 'llm_call', model: 'x/y', tokens: 300 }] }, by).workflowId;
  const call = (id: string) => ({ id, type: 'call_workflow', workflow_id: leaf });
  child = h.workflow({ steps: [call('a'), call('b'), call('c')] }, by).workflowId;
  say = turn => (turn === 1 ? calls('work') : done);
  const ref = await h.start(h.workflow(clerk(budget(4_000)), by));
  await h.ended(ref);
  const [called] = await childrenOf(ref.runId);
  const leaves = await childrenOf(called?.id ?? '');
  expect(leaves).toHaveLength(3);
  const given = await Promise.all(leaves.map(({ id }) => budgetOf(id)));
  expect(given.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(3_600);
  const ended = (await eventsOf(h, ref)).find(event => event.type === 'child_ended');
  const total = (called?.spent ?? 0) + leaves.reduce((sum, { spent }) => sum + spent, 0);
  expect(ended?.data).toMatchObject({ spent: total });
});

test('detached runs also share its budget, and count as spent', async () => {
  const h = await harness();
  const by = await tenant();
  const leaf = h.workflow({ steps: [{ id: 'only', type: 'human_task' }] }, by).workflowId;
  const call = (id: string) => ({ id, type: 'call_workflow', workflow_id: leaf, detach: true });
  child = h.workflow({ steps: [call('a'), call('b'), { ...call('c'), depends_on: ['a', 'b'] }] }, by).workflowId;
  say = turn => (turn === 1 ? calls('work') : done);
  const ref = await h.start(h.workflow(clerk(budget(4_000)), by));
  await h.ended(ref);
  const [called] = await childrenOf(ref.runId);
  const leaves = await childrenOf(called?.id ?? '');
  expect(leaves.map(({ status }) => status)).toEqual(['running', 'running', 'running']);
  const given = await Promise.all(leaves.map(({ id }) => budgetOf(id)));
  const shared = given.reduce((sum, each) => sum + each, 0);
  expect(shared).toBeGreaterThan(1_800);
  expect(shared + (called?.spent ?? 0)).toBeLessThanOrEqual(3_600);
  const ended = (await eventsOf(h, ref)).find(event => event.type === 'child_ended');
  const spent = shared + (called?.spent ?? 0);
  expect(ended?.data).toMatchObject({ spent });
  // Another process reads the same.
  expect(await createLogReader(db.pool).childRuns([called?.id ?? ''])).toMatchObject([{ spent }]);
});

test('no crash loses a called run or its cost, or starts it twice', async () => {
  const first = await harness();
  const by = await tenant();
  const waits = first.workflow({ steps: [{ id: 'only', type: 'human_task' }] }, by);
  child = waits.workflowId;
  say = turn => (turn === 1 ? calls('work') : done);
  const ref = await first.start(first.workflow(clerk(budget(5_000)), by));
  await first.until(ref, event => event.type === 'child_called');
  await expect.poll(() => childrenOf(ref.runId)).toHaveLength(1);
  const [before = { id: '' }] = await childrenOf(ref.runId);
  await first.until({ ...waits, runId: before.id }, event => event.type === 'task_pending');
  await first.orchestrator.close();
  // As if the process had died between recording the call and starting the run.
  for (const table of ['child_runs', 'run_events', 'human_tasks', 'run_descendants'])
    await db.pool.query(`DELETE FROM ${table} WHERE run_id = $1`, [before.id]);
  await db.pool.query('DELETE FROM runs WHERE id = $1', [before.id]);

  const second = await harness();
  await second.until({ ...waits, runId: before.id }, event => event.type === 'task_pending');
  await second.orchestrator.close();
  // As if it had died right after the end of the called run, before reporting that to the caller.
  await db.pool.query(
    `UPDATE runs SET status = 'completed', ended_at = started_at, credits_microcredits = 700 WHERE id = $1`,
    [before.id],
  );
  const third = await harness();
  await third.ended(ref);
  expect((await childrenOf(ref.runId)).map(({ id }) => id)).toEqual([before.id]);
  const events = await third.events(ref);
  expect(outline(events).filter(line => line.includes('child_'))).toEqual([
    'child_called clerk.1.1',
    'child_ended clerk.1.1',
  ]);
  expect(events.find(({ event }) => event.type === 'child_ended')?.event.data).toMatchObject({ spent: 700 });
  expect(events.at(-1)?.event).toMatchObject({ data: { to: 'completed' } });
});
