import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ScriptInput } from '../../../bin/fake-model/script.ts';
import { CREDIT } from '../../orchestrator/ports/microcredits.ts';
import { type ChatService, saidIn, startChatService } from '../../testing/chat.ts';
import { reached } from '../../testing/runs.ts';

/** Tests the limits of agents against misbehaving providers, over real HTTP with a scripted provider. */
let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
});
afterAll(() => chat.close());
beforeEach(() => {
  chat.fake.requests.length = 0;
});

const callOperation = (...args: Parameters<ChatService['act']>) => chat.act(...args);
const script = (...answers: NonNullable<ScriptInput['answers']>) => chat.fake.script({ answers });

/** Runs an agent; returns how its run ended and what it returned. */
async function run(more: object) {
  const { id } = await callOperation('agents_create', { name: 'Clerk', model: 'openai_compatible/scripted', ...more });
  const began = Date.now();
  const { run_id: runID } = await callOperation('agents_run', { id, input: { message: 'Hello' } });
  await reached(chat.service.container.services, chat.acme.owner, { id, runID });
  const summary = await callOperation('runs_get_summary', { id, runID });
  return {
    id,
    runID,
    seconds: (Date.now() - began) / 1_000,
    status: summary.status,
    error: summary.error as { code: string } | null,
    output: (summary.output ?? {}) as Record<string, unknown>,
    credits: Number(summary.credits_microcredits) / CREDIT,
  };
}

test.each<[string, NonNullable<ScriptInput['answers']>[number]]>([
  ['never answers', { match: {}, content: [{ silence: true }] }],
  ['asks to retry after an hour', { match: {}, error: { status: 429, headers: { 'Retry-After': '3600' } } }],
  ['is down for a day', { match: {}, error: { status: 503, headers: { 'Retry-After': '86400' } } }],
])('an agent whose provider %s ends within its time limit, including its closing turn', async (_, answer) => {
  script(answer);
  const ended = await run({ limits: { timeout_s: 2 } });
  expect(ended).toMatchObject({ status: 'completed', output: { ended_by: 'timeout', complete: false, text: '' } });
  expect(ended.seconds).toBeLessThan(6);
  script(answer);
  const failed = await run({ limits: { timeout_s: 1 }, on_limit: 'fail' });
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'step_timed_out' } });
  expect(failed.seconds).toBeLessThan(5);
});

test('an agent answers in the time that is reserved for its closing turn', async () => {
  script({ content: [{ text: 'Well' }, { silence: true }] }, { content: [{ text: 'So far.' }] });
  const ended = await run({ limits: { timeout_s: 4 } });
  expect(ended).toMatchObject({ status: 'completed', output: { ended_by: 'timeout', text: 'So far.' } });
  expect(ended.seconds).toBeLessThan(4);
});

test('the closing turn ends in time when the provider asks to wait', async () => {
  const call = { content: [{ calls: [{ name: 'nothing', arguments: {} }] }] };
  script(call, { match: {}, error: { status: 429, headers: { 'Retry-After': '3600' } } });
  const ended = await run({ limits: { timeout_s: 2, max_turns: 1 } });
  expect(ended).toMatchObject({ status: 'completed', output: { ended_by: 'max_turns', complete: false } });
  expect(ended.seconds).toBeLessThan(6);
});

test('the budget holds for a provider that counts no tokens: they are estimated', async () => {
  const call = { text: 'x'.repeat(2_000) };
  script({ match: {}, content: [call, { calls: [{ name: 'nothing', arguments: {} }] }], usage: null });
  const { output, credits } = await run({ limits: { budget_credits: 0.1, max_turns: 200 } });
  expect(output).toMatchObject({ ended_by: 'budget' });
  expect(Number(output.turns)).toBeLessThan(10);
  // Two steps of the agent itself come on top.
  expect(credits).toBeLessThan(0.1 + 0.002 + 0.04);
  expect(output.usage).toMatchObject({ output_tokens: expect.any(Number) });
});

test.each([600_000, 900_000, 1_048_576])(
  'an answer of %i characters is stored exactly as it was shown',
  async length => {
    const text = 'All of it. '.repeat(length).slice(0, length);
    script({ content: [{ text: [text.slice(0, 500_000), text.slice(500_000)] }] });
    const thread = await chat.thread();
    const { run_id, workflow_id } = await callOperation('chat_send_message', { id: thread, text: 'Hello' });
    const messages = await chat.settled(thread);
    expect(messages.at(-1)?.metadata).toMatchObject({ status: 'completed', error: null });
    expect(saidIn(messages.at(-1)) === text).toBe(true);
    const { output } = await callOperation('runs_get_summary', { id: workflow_id, runID: run_id });
    expect((output as { text: string }).text === text).toBe(true);
    // The text is stored twice: as the result of the turn and as the result of the agent.
    const { rows } = await chat.service.db.pool.query<{ bytes: number }>(
      'SELECT sum(length(body::text))::int AS bytes FROM run_payloads WHERE run_id = $1',
      [run_id],
    );
    expect(rows[0]?.bytes).toBeLessThan(2.1 * length);
  },
);

test('a large answer that is an object is stored completely', async () => {
  const list = Array.from({ length: 60_000 }, (_, n) => `item ${n}`);
  const response_schema = { type: 'object', properties: { list: { type: 'array' } }, required: ['list'] };
  script({ content: [{ text: JSON.stringify({ list }) }] });
  const { status, output } = await run({ response_schema });
  expect(status).toBe('completed');
  expect((output.object as { list: string[] }).list).toHaveLength(list.length);
});
