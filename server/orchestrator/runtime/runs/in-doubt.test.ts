import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createHarness, type Harness } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { GraphStep, JsonMap } from '../../core/index.ts';
import type { RunRef } from '../../ports/orchestrator.ts';
import { agent } from '../../steps/agent/agent.ts';
import { agentApproval } from '../../steps/agent/approval.ts';
import { agentTool } from '../../steps/agent/tool.ts';
import type { OfferedTool } from '../../steps/agent/tools.ts';
import { agentTurn } from '../../steps/agent/turn.ts';
import type { TurnCaller, TurnRequest } from '../../steps/agent/turn-caller.ts';
import type { ContentPart } from '../../steps/agent/turn-messages.ts';
import { validateForm } from '../../steps/form.ts';
import { httpRequest } from '../../steps/http-request/http-request.ts';
import { mcpCall } from '../../steps/mcp-call/mcp-call.ts';
import type { ToolAnswer, ToolCall } from '../../steps/mcp-call/tool-caller.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

/** The idempotency keys of the calls that reached the outside. While `hang` is true, calls get no answer. */
let calls: string[] = [];
let hang = true;
let arrived = Promise.withResolvers<void>();
let asked: TurnRequest[] = [];
let script: ContentPart[][] = [];
let offered: OfferedTool[] = [];

beforeEach(() => {
  [calls, asked, script, offered] = [[], [], [], []];
});
function reach<T>(key: string, answer: T): Promise<T> {
  calls.push(key);
  arrived.resolve();
  return hang ? new Promise(() => {}) : Promise.resolve(answer);
}

let harness: Harness;
afterEach(() => harness.orchestrator.close());
/** Starts a process in which calls are answered, or hang. */
async function begin(of: { hangs: boolean }): Promise<void> {
  hang = of.hangs;
  arrived = Promise.withResolvers();
  const call = ({ idempotencyKey }: ToolCall) =>
    reach<ToolAnswer>(idempotencyKey, { kind: 'result', result: { sent: 2 } });
  const tools = { check: async () => [], call };
  const turns: TurnCaller = {
    check: async () => [],
    contextWindow: async () => null,
    async turn(request) {
      asked.push(request);
      const content = script.shift() ?? [{ type: 'text', text: 'Done.' }];
      const finishReason = content.some(({ type }) => type === 'tool_call') ? 'tool_calls' : 'stop';
      const usage = { inputTokens: 10, outputTokens: 5 };
      return { kind: 'answer', content, finishReason, model: 'test/tiny', usage, warnings: [] };
    },
  };
  const agentTools = {
    check: async () => [],
    offer: async () => ({ kind: 'offer' as const, instance: 'Bank', tools: offered }),
    problems: () => [],
  };
  const requester = {
    check: async () => [],
    send: ({ headers }: { headers: ReadonlyMap<string, string> }) =>
      reach(headers.get('idempotency-key') ?? 'none', {
        kind: 'response' as const,
        response: { status: 200, headers: {}, body: null },
      }),
  };
  const services = { turns, agentTools, tools };
  const types = [agent(services), agentTurn(services), agentTool(services), agentApproval, mcpCall(tools)];
  const all = [...types, httpRequest(requester as unknown as Parameters<typeof httpRequest>[0])];
  harness = await createHarness(db, { types: all.map(type => [type.type, type]) });
}

/** Ends the process while a call is in flight, and lets another one take over. */
async function loseTheCall(next: { hangs: boolean } = { hangs: false }): Promise<void> {
  await arrived.promise;
  await harness.orchestrator.close();
  await begin(next);
}

const pay = (more: Partial<GraphStep> = {}): GraphStep => ({
  id: 'pay',
  type: 'mcp_call',
  tool_name: 'charge',
  instance_id: 'bank',
  tool_args: { amount: 5 },
  ...more,
});
async function start(step: GraphStep): Promise<RunRef> {
  await begin({ hangs: true });
  const after = { id: 'after', type: 'echo', depends_on: [step.id] };
  return harness.start(harness.workflow({ steps: [step, after] }));
}
const pending = (ref: RunRef, step = 'pay', attempt = 2) =>
  harness.until(ref, event => event.type === 'task_pending' && event.step === step && event.attempt === attempt);
const answer = (ref: RunRef, approved: boolean, result: JsonMap = {}, step = 'pay') =>
  harness.orchestrator.completeTask(ref, { step, approved, result, by: 'ann' });
const ends = async (ref: RunRef) =>
  (await harness.events(ref)).flatMap(({ event }) => (event.type === 'step_completed' ? [event.data] : []));
const row = async (ref: RunRef) =>
  (await db.pool.query('SELECT * FROM human_tasks WHERE run_id = $1', [ref.runId])).rows[0];

test('a call that may have happened is repeated only by the decision of a person, each time that it is lost', async () => {
  const ref = await start(pay({ on_lost: 'ask', name: 'Charge the card' }));
  await loseTheCall({ hangs: true });
  await pending(ref);
  expect(calls).toEqual([`${ref.runId}:pay`]);
  const task = await row(ref);
  expect(task).toMatchObject({ state: 'pending', name: 'Charge the card: this may have happened', assignees: [] });
  expect(task.instructions).toContain('calling the tool `charge`');
  expect(task.instructions).toContain('"amount": 5');
  await answer(ref, true);
  await loseTheCall();
  await pending(ref, 'pay', 4);
  expect(calls).toEqual(Array(2).fill(`${ref.runId}:pay`));
  expect(await row(ref)).toMatchObject({ state: 'pending', approved: null, completed_by: null, completed_at: null });
  await answer(ref, true, { decision: 'repeat' });
  await harness.ended(ref);
  expect(calls).toHaveLength(3);
  expect(await ends(ref)).toMatchObject([{ result: { sent: 2 } }, { result: { from: 'after' } }]);
  expect(await row(ref)).toMatchObject({ state: 'completed', approved: true, completed_by: 'ann' });
});

test('it is skipped, or has the result that a person enters, which its form demands', async () => {
  const first = await start(pay({ on_lost: 'ask' }));
  const second = await harness.start(harness.workflow({ steps: [pay({ on_lost: 'ask' })] }));
  await harness.until(second, event => event.type === 'step_started');
  await loseTheCall();
  await pending(first);
  await pending(second);
  const made = calls.length;
  await answer(first, false);
  await harness.ended(first);
  const { form } = await row(second);
  expect(validateForm(form, { decision: 'result' })).toHaveLength(1);
  expect(validateForm(form, { decision: 'result', result: { id: 7 } })).toEqual([]);
  expect(validateForm(form, {})).toHaveLength(1);
  await answer(second, true, { decision: 'result', result: { id: 7 } });
  await harness.ended(second);
  expect(await ends(first)).toEqual([{ skipped: true, reason: 'not_repeated' }, { result: { from: 'after' } }]);
  expect(await ends(second)).toEqual([{ result: { id: 7 } }]);
  expect(calls).toHaveLength(made);
});

test('a call is repeated by itself without the field, and so is a request whose method is idempotent', async () => {
  const request = { id: 'pay', type: 'http_request', url: 'https://bank.example/charges', on_lost: 'ask' };
  for (const step of [pay(), pay({ on_lost: 'retry' }), { ...request, method: 'PUT' }]) {
    calls = [];
    const ref = await start(step);
    await loseTheCall();
    await harness.ended(ref);
    expect(calls).toEqual(Array(2).fill(`${ref.runId}:pay`));
    await harness.orchestrator.close();
  }
  calls = [];
  const ref = await start({ ...request, method: 'POST', body: { amount: 5 }, headers: { 'x-key': 'hidden' } });
  await loseTheCall();
  await pending(ref);
  expect(calls).toHaveLength(1);
  const { instructions, form } = await row(ref);
  expect(instructions).toContain('"url": "https://bank.example/charges"');
  expect(instructions).not.toContain('hidden');
  expect(form.properties.result.default).toEqual({ status: 200, headers: {}, body: null });
});

test.each<[string, Partial<OfferedTool>, string | undefined, boolean]>([
  ['may destroy', { destructive: true }, undefined, true],
  ['may destroy, and is idempotent', { destructive: true, idempotent: true }, undefined, false],
  ['may destroy, and is to be repeated', { destructive: true }, 'retry', false],
  ['writes', {}, undefined, false],
  ['writes, and is to be asked for', {}, 'ask', true],
  ['reads', { readOnly: true }, 'ask', false],
])('an agent’s call of a tool that %s: %o, %s', async (_, tool, on_lost, isAsked) => {
  const hints = { readOnly: false, destructive: false, openWorld: false, ...tool };
  offered = [{ name: 'charge', description: '', inputSchema: { type: 'object' }, ...hints }];
  script = [[{ type: 'tool_call', id: 'c', name: 'charge', arguments: { amount: 5 } }]];
  const tools = [{ type: 'mcp', instance_id: 'bank', tools: ['*'], approval: 'auto', ...(on_lost && { on_lost }) }];
  const ref = await start({ id: 'clerk', type: 'agent', model: 'test/tiny', prompt: 'Charge it.', tools });
  if (hints.destructive) {
    await harness.until(ref, event => event.type === 'task_pending');
    await answer(ref, true, { arguments: { amount: 4 } }, 'clerk.1.1.ok');
  }
  await loseTheCall();
  if (!isAsked) {
    await harness.ended(ref);
    expect(calls).toHaveLength(2);
    return;
  }
  await pending(ref, 'clerk.1.1');
  const { instructions, name } = (
    await db.pool.query("SELECT * FROM human_tasks WHERE run_id = $1 AND state = 'pending'", [ref.runId])
  ).rows[0];
  expect(name).toBe('clerk called charge: this may have happened');
  expect(instructions).toContain(`"amount": ${hints.destructive ? 4 : 5}`);
  await answer(ref, false, {}, 'clerk.1.1');
  await harness.ended(ref);
  expect(calls).toHaveLength(1);
  expect(JSON.stringify(asked.at(-1)?.messages.at(-1))).toContain('not_repeated');
});
