import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { answered, offered } from '../../../testing/engine/agent-turns.ts';
import { TestCredits } from '../../../testing/engine/credits.ts';
import { createHarness, type Harness } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { JsonMap } from '../../core/index.ts';
import { CREDIT } from '../../ports/microcredits.ts';
import { agent } from '../../steps/agent/agent.ts';
import { agentTool } from '../../steps/agent/tool.ts';
import type { AgentTools } from '../../steps/agent/tools.ts';
import { agentTurn } from '../../steps/agent/turn.ts';
import type { TurnCaller, TurnRequest } from '../../steps/agent/turn-caller.ts';
import type { ContentPart } from '../../steps/agent/turn-messages.ts';

/** A step costs 100 microcredits, a call 30 more, a token read 2 and a token written 5. */
const STEP = 100;
const READ = 2;
const WRITTEN = 5;
/** The tokens that the model reads and writes in each turn, unless it may write fewer. */
const INPUT = 400;
const OUTPUT = 2_000;

let asked: TurnRequest[] = [];
let say: (turn: number) => ContentPart[];
let known: number | null = null;

const turns: TurnCaller = {
  check: async () => [],
  contextWindow: async () => 100_000,
  mostOutput: () => known,
  async turn(request) {
    asked.push(request);
    const content = request.toolChoice === 'none' ? [{ type: 'text' as const, text: 'So far.' }] : say(asked.length);
    return answered(content, {
      inputTokens: INPUT,
      outputTokens: Math.min(OUTPUT, request.maxTokens ?? OUTPUT),
    });
  },
};
const agentTools: AgentTools = {
  check: async () => [],
  offer: async () => ({ kind: 'offer', instance: 'Mail', tools: [offered('search', { readOnly: true })] }),
  problems: () => [],
};

let db: TestDatabase;
let harness: Harness;
let credits: TestCredits;
beforeAll(async () => {
  db = await createTestDatabase();
  const tools = {
    check: async () => [],
    call: async () => ({ kind: 'result' as const, result: `found ${asked.length}` }),
  };
  const services = { turns, tools, agentTools };
  const types = [agent(services), agentTurn(services), agentTool(services)];
  credits = new TestCredits(db.pool);
  harness = await createHarness(db, { credits, types: types.map(type => [type.type, type]) });
});
afterAll(async () => {
  await harness.orchestrator.close();
  await db[Symbol.asyncDispose]();
});
beforeEach(() => {
  asked = [];
  known = null;
  say = turn => [
    { type: 'text', text: `Turn ${turn}.` },
    { type: 'tool_call', id: `c${turn}`, name: 'search', arguments: { turn } },
  ];
});

/** Runs an agent with a budget in microcredits. Returns how it ended, what it has cost, and how long its answers could be. */
async function run(budget: number, more: JsonMap = {}) {
  asked = [];
  const tenant = newId();
  await credits.grant(tenant, 'payg', 10 * CREDIT);
  const fields = { model: 'test/tiny', prompt: 'Find it.', limits: { budget_credits: budget / CREDIT }, ...more };
  const tools = [{ type: 'mcp', instance_id: 'i-1', tools: ['*'] }];
  const graph = { steps: [{ id: 'research', type: 'agent', tools, ...fields }] };
  const ref = await harness.start(harness.workflow(graph, tenant));
  await harness.ended(ref);
  const events = (await harness.events(ref)).map(({ event }) => event);
  let spent = 0;
  for (const event of events)
    if ('step' in event && event.step.startsWith('research.') && 'credits' in event.data)
      spent += event.data.credits ?? 0;
  const [end] = events.flatMap(event =>
    event.type === 'step_completed' && event.step === 'research' && 'result' in event.data ? [event.data.result] : [],
  );
  return {
    end: end as JsonMap | undefined,
    spent,
    last: events.at(-1),
    most: asked.map(({ maxTokens }) => maxTokens),
  };
}

test('a turn whose answer would not fit gets a shorter limit, and then the agent closes within its budget', async () => {
  const budget = 40_000;
  const { end, spent, most } = await run(budget);
  expect(end).toMatchObject({ text: 'So far.', ended_by: 'budget', complete: false });
  expect(spent).toBeLessThanOrEqual(budget);
  const lengths = most.map(each => each ?? Number.NaN);
  const usual = lengths.slice(0, -1);
  expect(usual.length).toBeGreaterThan(2);
  expect(usual).toEqual(usual.toSorted((a, b) => b - a));
  expect(lengths.at(-2)).toBeGreaterThanOrEqual(256);
  expect(asked.at(-1)?.toolChoice).toBe('none');
  // The reserved part of the budget pays for the closing answer.
  expect(lengths.at(-1)).toBeGreaterThanOrEqual(Math.floor((0.1 * budget - STEP - (INPUT + 50) * READ) / WRITTEN));
  expect(budget - spent).toBeLessThan(budget / 10);
});

test('an answer without a length limit is requested without a number', async () => {
  say = () => [{ type: 'text', text: 'Done.' }];
  expect((await run(1_000_000)).most).toEqual([undefined]);
  expect((await run(1_000_000, { max_tokens: 900 })).most).toEqual([900]);
  expect((await run(20_000, { max_tokens: 9_000 })).most[0]).toBeLessThan(4_000);
  known = 3_000;
  expect((await run(20_000)).most).toEqual([undefined]);
  known = 4_000;
  expect((await run(20_000)).most[0]).toBeLessThan(4_000);
});

test('an agent that cannot pay for a turn ends without asking its model, and fails if on_limit says so', async () => {
  const poor = await run(200);
  expect(poor.end).toMatchObject({ text: '', ended_by: 'budget', turns: 1, usage: { input_tokens: 0 } });
  expect(poor.spent).toBe(STEP);
  expect(asked).toEqual([]);
  const fails = await run(200, { on_limit: 'fail' });
  expect(fails.last).toMatchObject({ data: { to: 'failed', error: { code: 'agent_budget_spent' } } });
  expect(asked).toEqual([]);
});
