import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answered, offered, say, toldIn } from '../../../testing/engine/agent-turns.ts';
import { createHarness, type Harness, type WorkflowRef } from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { JsonMap, JsonValue, RunEvent } from '../../core/index.ts';
import type { RunRef } from '../../ports/orchestrator.ts';
import { agent } from '../../steps/agent/agent.ts';
import { agentApproval } from '../../steps/agent/approval.ts';
import { agentCompaction } from '../../steps/agent/compaction.ts';
import type { Standing } from '../../steps/agent/run-authority.ts';
import { agentTool } from '../../steps/agent/tool.ts';
import type { AgentTools } from '../../steps/agent/tools.ts';
import { agentTurn } from '../../steps/agent/turn.ts';
import type { TurnAnswer, TurnCaller, TurnRequest } from '../../steps/agent/turn-caller.ts';
import type { ContentPart } from '../../steps/agent/turn-messages.ts';
import type { ToolAnswer, ToolCall, ToolCaller } from '../../steps/mcp-call/tool-caller.ts';

const TOOLS = [
  offered('search', { readOnly: true }),
  offered('browse', { readOnly: true, openWorld: true }),
  offered('send'),
  offered('drop', { destructive: true }),
];

let calls = 0;
const wants = (name: string, args: JsonValue = {}, more: object = {}): ContentPart => {
  calls += 1;
  return { type: 'tool_call', id: `c${calls}`, name, arguments: args, ...more };
};

/** The answers of the model, turn by turn; the last answer is repeated. */
let script: (ContentPart[] | TurnAnswer)[] = [];
let asked: TurnRequest[] = [];
let made: ToolCall[] = [];
let answerTo: (call: ToolCall) => ToolAnswer | Promise<ToolAnswer>;
let standing: Standing;
let window: number | null;
/** Called for each turn; the turn waits until the promise resolves. */
let held: (on: Parameters<TurnCaller['turn']>[1]) => Promise<void>;

const turns: TurnCaller = {
  check: async () => [],
  contextWindow: async () => window,
  async turn(request, on) {
    asked.push(structuredClone(request));
    await held(on);
    const said = script.length > 1 ? script.shift() : script[0];
    const next = request.toolChoice === 'none' ? [say('As far as I got.')] : said;
    if (next === undefined) throw new Error('there is no script');
    return Array.isArray(next) ? answered(next) : next;
  },
};
const tools: ToolCaller = {
  check: async () => [],
  call: async call => {
    made.push(call);
    return answerTo(call);
  },
};
const agentTools: AgentTools = {
  check: async () => [],
  offer: async () => ({ kind: 'offer', instance: 'Mail', tools: TOOLS }),
  problems: (_, args) => ('bad' in args ? ['arguments.bad: is not allowed'] : []),
};

let db: TestDatabase;
let harness: Harness;

beforeAll(async () => {
  db = await createTestDatabase();
  const services = { turns, tools, agentTools, authority: { standing: async () => standing } };
  const types = [agent(services), agentTurn(services), agentTool(services), agentApproval, agentCompaction(services)];
  harness = await createHarness(db, { types: types.map(type => [type.type, type]) });
});
afterAll(async () => {
  await harness.orchestrator.close();
  await db[Symbol.asyncDispose]();
});
beforeEach(() => {
  calls = 0;
  script = [[say('Done.')]];
  asked = [];
  made = [];
  window = null;
  held = async () => undefined;
  answerTo = () => ({ kind: 'result', result: { found: 3 } });
  standing = { kind: 'held', userId: 'u', email: 'ann@x.org', role: 'project_contributor', scopes: ['mcp:execute'] };
});

const all = { type: 'mcp', instance_id: 'i-1', tools: ['*'] };
const workflow = (more: JsonMap = {}): WorkflowRef =>
  harness.workflow({
    steps: [{ id: 'research', type: 'agent', model: 'test/tiny', prompt: 'Find it.', tools: [all], ...more }],
  });
const start = (more: JsonMap = {}): Promise<RunRef> => harness.start(workflow(more));
const events = async (ref: RunRef): Promise<RunEvent[]> => (await harness.events(ref)).map(({ event }) => event);
const ends = async (ref: RunRef) =>
  (await events(ref)).flatMap(event =>
    event.type === 'step_completed' || event.type === 'step_failed' || event.type === 'step_cancelled'
      ? [`${event.step} ${event.type === 'step_completed' && 'skipped' in event.data ? event.data.reason : event.type}`]
      : [],
  );
async function resultOf(ref: RunRef, step = 'research'): Promise<JsonMap> {
  const end = (await events(ref)).findLast(event => 'step' in event && event.step === step);
  if (end?.type !== 'step_completed' || 'skipped' in end.data) throw new Error(`"${step}" has no result`);
  return end.data.result as JsonMap;
}
async function run(more: JsonMap = {}): Promise<RunRef> {
  const ref = await start(more);
  await harness.ended(ref);
  return ref;
}
const pending = (ref: RunRef, step: string) =>
  harness.until(ref, event => event.type === 'task_pending' && event.step === step);
async function policiesOf(ref: RunRef, turn: string) {
  const end = (await events(ref)).find(event => event.type === 'step_completed' && event.step === turn);
  const of = end?.type === 'step_completed' && 'turn' in end.data ? end.data.turn : undefined;
  return of?.calls.map(({ policy }) => policy);
}
const complete = (ref: RunRef, step: string, approved: boolean, result: JsonMap = {}) =>
  harness.orchestrator.completeTask(ref, { step, approved, result, by: 'ann@x.org' });
const told = (id: string) => toldIn(asked, id);

describe('an agent', () => {
  test('calls tools until its model answers, each call with its own idempotency key', async () => {
    script = [[say('Looking.'), wants('search', { q: 'x' })], [say('There are 3.')]];
    const ref = await run({ instructions: 'You find things.' });
    expect(await ends(ref)).toEqual([
      'research.1 step_completed',
      'research.1.1 step_completed',
      'research.2 step_completed',
      'research step_completed',
    ]);
    expect(made).toMatchObject([
      { toolName: 'search', args: { q: 'x' }, instanceId: 'i-1', idempotencyKey: `${ref.runId}:research.1.1` },
    ]);
    expect(asked.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
      `${ref.runId}:research.1`,
      `${ref.runId}:research.2`,
    ]);
    expect(asked[1]?.messages).toEqual([
      { role: 'system', content: 'You find things.' },
      { role: 'user', content: [say('Find it.')] },
      {
        role: 'assistant',
        content: [say('Looking.'), { type: 'tool_call', id: 'c1', name: 'search', arguments: { q: 'x' } }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', id: 'c1', name: 'search', output: { type: 'text', value: '{"found":3}' } }],
      },
    ]);
    expect(await resultOf(ref)).toEqual({
      text: 'There are 3.',
      ended_by: 'answered',
      complete: true,
      turns: 2,
      tool_calls: 1,
      model: 'test/tiny-1',
      usage: { input_tokens: 20, output_tokens: 10 },
    });
  });

  test('sends the provider metadata of content parts back unchanged', async () => {
    const provider_metadata = { openai: { encrypted: 'x'.repeat(20_000) } };
    const reasoning: ContentPart = { type: 'reasoning', text: 'hm', provider_metadata };
    script = [[reasoning, wants('search')], [say('Done.')]];
    await run();
    expect(asked[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: [reasoning, { type: 'tool_call', id: 'c1', name: 'search', arguments: {} }],
    });
  });

  test('can read the full text of a shortened result', async () => {
    const large = `${'a'.repeat(30_000)}needle${'b'.repeat(30_000)}`;
    answerTo = () => ({ kind: 'result', result: large });
    script = [
      [wants('search')],
      [wants('read_result', { ref: 'research.1.1', search: 'needle' }), wants('read_result', { ref: 'research.9.9' })],
      [say('Found.')],
    ];
    const ref = await run();
    const shown = asked[1]?.messages.at(-1);
    expect(JSON.stringify(shown)).toContain('52006 characters left out; result_ref: research.1.1');
    expect(await resultOf(ref, 'research.2.1')).toMatchObject({ total_characters: 60_006, matches: [{ at: 30_000 }] });
    expect(told('c3')).toMatchObject({ output: { type: 'error', value: expect.stringContaining('unknown_result') } });
    expect(made).toHaveLength(1);
  });

  test('tells its model about failed and refused calls', async () => {
    answerTo = () => ({ kind: 'failed', code: 'tool_failed', message: 'No.', retryable: true });
    script = [
      [wants('search'), wants('nothing'), wants('search', 'x', { malformed: true }), wants('search', { bad: 1 })],
      [say('Sorry.')],
    ];
    const ref = await run();
    expect(made).toHaveLength(1);
    expect(told('c1')).toMatchObject({ output: { type: 'error', value: 'tool_failed: No.' } });
    expect(told('c2')).toMatchObject({
      output: { type: 'error', value: expect.stringMatching(/^unknown_tool: .*search/) },
    });
    expect(told('c3')).toMatchObject({ output: { value: 'tool_args_invalid: The arguments are not JSON.' } });
    expect(told('c4')).toMatchObject({ output: { value: 'tool_args_invalid: arguments.bad: is not allowed' } });
    expect(await resultOf(ref)).toMatchObject({ ended_by: 'answered', tool_calls: 1 });
  });

  test('fails if its provider refuses a turn', async () => {
    script = [{ kind: 'failed', code: 'model_unavailable', message: 'Away.', retryable: false }];
    const ref = await run();
    expect((await events(ref)).at(-1)).toMatchObject({
      data: { to: 'failed', error: { code: 'model_unavailable', step_id: 'research' } },
    });
  });
});

describe('a call that needs an approval', () => {
  test('waits in the inbox, and is made with unchanged arguments once it is approved', async () => {
    script = [[say('I will write.'), wants('send', { to: 'bob' })], [say('Sent.')]];
    const ref = await start();
    await pending(ref, 'research.1.1.ok');
    expect(made).toEqual([]);
    const [task] = (await events(ref)).flatMap(event => (event.type === 'task_pending' ? [event.data] : []));
    expect(task).toMatchObject({
      name: 'research wants to call send',
      form: { properties: { arguments: { default: { to: 'bob' } } } },
    });
    expect(task?.instructions).toContain('I will write.');
    await complete(ref, 'research.1.1.ok', true);
    await harness.ended(ref);
    expect(made).toMatchObject([{ toolName: 'send', args: { to: 'bob' } }]);
  });

  test('is made with the arguments as the approver changed them', async () => {
    script = [[wants('send', { to: 'bob' })], [say('Sent.')]];
    const ref = await start();
    await pending(ref, 'research.1.1.ok');
    await complete(ref, 'research.1.1.ok', true, { arguments: { to: 'eve' } });
    await harness.ended(ref);
    expect(made).toMatchObject([{ args: { to: 'eve' } }]);
  });

  test('is not made if it is rejected, and the model reads who rejected it and why', async () => {
    script = [[wants('send'), wants('search')], [say('I see.')]];
    const ref = await start();
    await pending(ref, 'research.1.1.ok');
    await complete(ref, 'research.1.1.ok', false, { reason: 'Not today.' });
    await harness.ended(ref);
    expect(made.map(({ toolName }) => toolName)).toEqual(['search']);
    expect(await ends(ref)).toContain('research.1.1 not_approved');
    expect(told('c1')).toMatchObject({
      output: { type: 'denied', reason: 'ann@x.org did not approve the call: Not today.' },
    });
  });

  test.each([
    ['auto', 'send', 'auto'],
    ['auto', 'drop', 'ask'],
    ['ask', 'search', 'ask'],
    [undefined, 'search', 'auto'],
    [undefined, 'send', 'ask'],
  ])('by the approval %s: %s is %s', async (approval, tool, policy) => {
    script = [[wants(tool)], [say('Done.')]];
    const entry = { ...all, ...(approval !== undefined && { approval }) };
    const ref = await start({ tools: [entry] });
    await (policy === 'ask' ? pending(ref, 'research.1.1.ok') : harness.ended(ref));
    expect(await policiesOf(ref, 'research.1')).toEqual([policy]);
  });

  test('is a writing call after a result from an open-world tool, unless the step names the writing tool', async () => {
    script = [[wants('browse')], [wants('send')], [say('Done.')]];
    const ref = await start({ tools: [{ ...all, approval: 'auto' }] });
    await pending(ref, 'research.2.1.ok');
    expect(await policiesOf(ref, 'research.2')).toEqual(['ask']);
    const [task] = (await events(ref)).flatMap(event => (event.type === 'task_pending' ? [event.data] : []));
    expect(task?.instructions).toContain('text from outside, by the tool `browse`');
    script = [[wants('browse')], [wants('send')], [say('Done.')]];
    const named = await run({ tools: [{ ...all, tools: ['browse', 'send'], approval: 'auto' }] });
    expect(await policiesOf(named, 'research.2')).toEqual(['auto']);
  });

  test('is every writing call if the run acts for a viewer', async () => {
    standing = { kind: 'held', userId: 'u', email: 'v@x.org', role: 'project_viewer', scopes: ['mcp:execute'] };
    script = [[wants('send')], [say('Done.')]];
    const ref = await start({ tools: [{ ...all, tools: ['send'], approval: 'auto' }] });
    await pending(ref, 'research.1.1.ok');
    await complete(ref, 'research.1.1.ok', true);
    await harness.ended(ref);
    expect(made).toHaveLength(1);
  });

  test('fails if the person for whom the run acts has lost the rights', async () => {
    script = [[wants('send')], [say('Done.')]];
    const ref = await start();
    await pending(ref, 'research.1.1.ok');
    standing = { kind: 'lost', code: 'authority_lost', message: 'Gone.' };
    await complete(ref, 'research.1.1.ok', true);
    await harness.ended(ref);
    expect(made).toEqual([]);
    expect(told('c1')).toMatchObject({ output: { type: 'error', value: 'authority_lost: Gone.' } });
  });
});

describe('an agent at a limit', () => {
  test.each([
    ['max_turns', { max_turns: 2 }],
    ['max_tool_calls', { max_tool_calls: 1 }],
    ['repeated_calls', {}],
  ])('%s answers without tools, with `complete: false`', async (limit, limits) => {
    script = [[wants('search', {})]];
    const ref = await run({ limits });
    expect(await resultOf(ref)).toMatchObject({ text: 'As far as I got.', ended_by: limit, complete: false });
    expect(asked.at(-1)).toMatchObject({ toolChoice: 'none' });
    expect(JSON.stringify(asked.at(-1)?.messages.at(-1))).toContain(limit);
  });

  test('fails if on_limit is "fail"', async () => {
    script = [[wants('search', {})]];
    const ref = await run({ limits: { max_turns: 1 }, on_limit: 'fail' });
    expect((await events(ref)).at(-1)).toMatchObject({ data: { to: 'failed', error: { code: 'max_turns_reached' } } });
  });
});

describe('a run with an agent', () => {
  test('keeps the partial answer of the model when it is stopped immediately', async () => {
    const { promise: written, resolve: hasWritten } = Promise.withResolvers<void>();
    held = ({ signal, onPart }) => {
      onPart?.({ type: 'text', index: 0, text: 'Half an ' });
      onPart?.({ type: 'text', index: 0, text: 'answer' });
      hasWritten();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const ref = await start();
    await written;
    await harness.orchestrator.command(ref, { type: 'stop', mode: 'immediate', by: 'ann' });
    const [cancelled] = (await events(ref)).filter(event => event.type === 'step_cancelled');
    expect(cancelled).toMatchObject({
      step: 'research.1',
      data: { reason: 'RUN_STOPPED', partial: 'Half an answer' },
    });
  });

  test('adds no steps while it is paused, and continues when it is resumed', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    held = () => released;
    script = [[wants('search')], [say('Done.')]];
    const ref = await start();
    await harness.until(ref, event => event.type === 'step_started' && event.step === 'research.1');
    await harness.orchestrator.command(ref, { type: 'pause', by: 'ann' });
    release();
    await harness.until(ref, event => event.type === 'step_completed' && event.step === 'research.1');
    expect((await events(ref)).filter(event => event.type === 'steps_added')).toHaveLength(1);
    expect(made).toEqual([]);
    await harness.orchestrator.command(ref, { type: 'resume', by: 'ann' });
    await harness.ended(ref);
    expect(made).toHaveLength(1);
  });
});
