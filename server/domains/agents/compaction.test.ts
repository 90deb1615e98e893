import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptInput } from '../../../bin/fake-model/script.ts';
import type { FakeModel } from '../../../bin/fake-model/server.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import type { TestContainer } from '../../testing/container.ts';
import type { TestTenant } from '../../testing/identity.ts';
import { reached } from '../../testing/runs.ts';

const PAGE = 'word '.repeat(1_400);

function configure(server: McpServer): void {
  const annotations = { readOnlyHint: true, openWorldHint: false };
  server.registerTool('read', { inputSchema: z.strictObject({ page: z.number() }), annotations }, ({ page }) => ({
    content: [{ type: 'text', text: `Page ${page}. ${PAGE}` }],
  }));
}

let chat: ChatService;
let service: TestContainer;
let fake: FakeModel;
let acme: TestTenant;
let instance_id: string;

type Event = { event_type: string; step_id?: string; data: Record<string, unknown> };
const callOperation = (...args: Parameters<ChatService['act']>) => chat.act(...args);

beforeAll(async () => {
  chat = await startChatService();
  ({ service, fake, acme } = chat);
  instance_id = await chat.serveTools(configure);
});
afterAll(() => chat.close());

const readPage = (page: number) => ({ content: [{ calls: [{ name: 'read', arguments: { page } }] }] });
const summary = (text = 'Pages were read.') => ({
  match: { any: 'You summarise a conversation' },
  content: [{ text }],
});

/** Runs an agent that reads the given number of pages, one in each turn, and then answers. */
async function run(
  pages: number,
  {
    script = {},
    message = 'Read the pages.',
    ...limits
  }: { script?: ScriptInput; message?: string; context_tokens?: number },
) {
  const read = Array.from({ length: pages }, (_, index) => readPage(index + 1));
  fake.requests.length = 0;
  fake.script({ answers: [summary(), ...read, { content: [{ text: 'All are read.' }] }], ...script });
  const { id } = await callOperation('agents_create', {
    name: 'Reader',
    model: 'openai_compatible/scripted',
    instructions: 'You read pages.',
    tools: [{ type: 'mcp', instance_id, tools: ['read'] }],
    limits,
  });
  const { run_id: runID } = await callOperation('agents_run', { id, input: { message } });
  await reached(service.container.services, acme.owner, { id, runID });
  const { events } = (await callOperation('runs_list_events', { id, runID, limit: 500 })) as unknown as {
    events: Event[];
  };
  const { output, error } = await callOperation('runs_get_summary', { id, runID });
  const step = (step_id: string) => callOperation('runs_get_step', { id, runID, step_id });
  const prompt = (step_id: string) => callOperation('runs_get_prompt', { id, runID, step_id });
  return { output, error, events, step, prompt, added: addedSteps(events) };
}

const addedSteps = (events: readonly Event[]) =>
  events.flatMap(({ event_type, data }) =>
    event_type === 'steps_added' ? (data.steps as { id: string; type: string; fields: Record<string, unknown> }[]) : [],
  );
const compactionsIn = (added: ReturnType<typeof addedSteps>) =>
  added.filter(({ type }) => type === 'agent_compaction').map(({ id }) => id);

type Sent = { messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string; content: unknown }[] };
const turnsSent = () =>
  fake.requests
    .map(({ body }) => body as Sent)
    .filter(({ messages }) => !JSON.stringify(messages[0]).includes('You summarise'));

/** Expects that every call has a result, directly after the message with the call. */
function expectPairs({ messages }: Sent): void {
  let open: string[] = [];
  for (const { role, tool_calls = [], tool_call_id = '' } of messages) {
    if (role === 'tool') {
      expect(open).toContain(tool_call_id);
      open = open.filter(id => id !== tool_call_id);
      continue;
    }
    expect(open).toEqual([]);
    open = tool_calls.map(({ id }) => id);
  }
  expect(open).toEqual([]);
}

describe('a long conversation', () => {
  test('is summarised by added steps before it fills the context of the model', async () => {
    const ran = await run(14, { context_tokens: 8_192 });
    expect(ran.output).toMatchObject({ text: 'All are read.', ended_by: 'answered', turns: 15, tool_calls: 14 });
    const compactions = compactionsIn(ran.added);
    expect(compactions.length).toBeGreaterThan(2);
    expect(compactions).toEqual(compactions.map((_, index) => `agent.c${index + 1}`));
    for (const sent of turnsSent()) {
      expectPairs(sent);
      expect(JSON.stringify(sent).length / 4).toBeLessThan(8_192);
      expect(JSON.stringify(sent.messages)).toContain('Read the pages.');
    }
    expect(JSON.stringify(turnsSent().at(-1))).toContain('Pages were read.');
  });

  test('is shown exactly as each turn and each compaction sent it', async () => {
    const ran = await run(6, { context_tokens: 8_192 });
    const shown = new Map<string, string>();
    for (const { id, type } of ran.added)
      if (type === 'agent_turn' || type === 'agent_compaction') {
        const { messages } = (await ran.prompt(id)) as unknown as { messages: { content: { text?: string }[] }[] };
        shown.set(id, messages.flatMap(({ content }) => content.map(({ text = '' }) => text)).join(''));
      }
    const sent = fake.requests.map(({ headers, body }) => {
      const texts = (body as Sent).messages.map(({ content }) =>
        typeof content === 'string'
          ? content
          : ((content ?? []) as { text: string }[]).map(({ text }) => text).join(''),
      );
      return [String(headers['idempotency-key']).split(':')[1], texts.join('')];
    });
    expect(sent.some(([step]) => step === 'agent.c1')).toBe(true);
    expect([...shown]).toEqual(expect.arrayContaining(sent));
    expect(shown.size).toBe(sent.length);
  });

  test('charges each summary, and records how many messages it replaces', async () => {
    const ran = await run(8, { context_tokens: 8_192 });
    const first = await ran.step('agent.c1');
    expect(first).toMatchObject({ definition: { type: 'agent_compaction', model: 'openai_compatible/scripted' } });
    expect(first.result).toMatchObject({ text: 'Pages were read.', history: 0 });
    const ends = ran.events.filter(
      ({ event_type, step_id }) => event_type === 'step_completed' && step_id?.startsWith('agent.c'),
    );
    const replacedCounts = ends.map(({ data }) => (data.result as { messages: number }).messages);
    expect(replacedCounts).toEqual(replacedCounts.toSorted((a, b) => a - b));
    for (const { data } of ends) {
      expect(data.consumed).toContainEqual({ action: 'llm_input_tokens', quantity: expect.any(Number) });
      expect(data.context).toBeLessThan(0.7 * 8_192);
    }
  });

  test('is summarised if the model refuses it, and the turn is repeated', async () => {
    const answers = [summary(), ...[1, 2, 3, 4].map(readPage), { content: [{ text: 'All are read.' }] }];
    const ran = await run(4, { script: { answers, context_tokens: 4_500 } });
    expect(ran.output).toMatchObject({ text: 'All are read.', ended_by: 'answered' });
    const refused = ran.events.filter(({ event_type }) => event_type === 'step_failed');
    expect(refused.map(({ step_id, data }) => [step_id, data.tolerated])).toEqual([['agent.4', true]]);
    const [first] = ran.added.filter(({ type }) => type === 'agent_compaction');
    expect(first).toMatchObject({ id: 'agent.c1', fields: { overflow: expect.any(Number) } });
    turnsSent().forEach(expectPairs);
  });

  test('fails with context_length_exceeded if its first message is too long', async () => {
    const ran = await run(0, { message: PAGE.repeat(3), script: { answers: [summary()], context_tokens: 2_000 } });
    expect(ran.error).toMatchObject({ code: 'context_length_exceeded', step_id: 'agent' });
    expect(ran.added.map(({ id }) => id)).toEqual(['agent.1', 'agent.c1']);
    expect(fake.requests).toHaveLength(1);
  });

  test('fails when the model refuses it a second time', async () => {
    const refusal = { error: { status: 400, message: 'Too long.', code: 'context_length_exceeded' } };
    const answers = [summary(), readPage(1), { ...refusal, times: 2 }];
    const ran = await run(1, { script: { answers } });
    expect(ran.error).toMatchObject({ code: 'context_length_exceeded' });
    expect(ran.added.map(({ id }) => id)).toEqual(['agent.1', 'agent.1.1', 'agent.2', 'agent.c1', 'agent.3']);
  });
});
