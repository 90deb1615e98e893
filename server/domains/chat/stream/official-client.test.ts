import { Chat } from '@ai-sdk/react';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type ChatService, startChatService } from '../../../testing/chat.ts';

let chat: ChatService;
let agent: string;

function configure(server: McpServer): void {
  server.registerTool(
    'find',
    { inputSchema: z.strictObject({ order: z.string() }), annotations: { readOnlyHint: true } },
    () => ({
      content: [{ type: 'text', text: 'It was sent.' }],
    }),
  );
  server.registerTool('refund', { inputSchema: z.strictObject({ order: z.string() }) }, () => ({
    content: [{ type: 'text', text: 'Refunded.' }],
  }));
}

beforeAll(async () => {
  chat = await startChatService();
  const instance_id = await chat.serveTools(configure);
  const made = await chat.act('agents_create', {
    name: 'Clerk',
    model: 'openai_compatible/scripted',
    tools: [{ type: 'mcp', instance_id, tools: ['find', 'refund'] }],
  });
  agent = made.id;
});
afterAll(() => chat.close());

/** Returns the `Chat` that `useChat` is built on, configured as docs/specification/chat.md describes. */
function clientOf(id: string, messages: UIMessage[] = []): Chat<UIMessage> {
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${chat.service.url}/v1/chat/threads`,
    headers: { Authorization: `Bearer ${chat.token}` },
    prepareSendMessagesRequest: ({ id: thread, messages: all }) => {
      const last = all.at(-1);
      const [part] = last?.parts ?? [];
      return {
        api: `${chat.service.url}/v1/chat/threads/${thread}/stream`,
        body: { message_id: last?.id, text: part?.type === 'text' ? part.text : '' },
      };
    },
  });
  return new Chat({ id, transport, messages });
}

const saidBy = (client: Chat<UIMessage>) =>
  client.messages.map(({ role, parts }) => [
    role,
    parts.flatMap(part => (part.type === 'text' ? part.text : [])).join(''),
  ]);
const callsOf = (client: Chat<UIMessage>) =>
  (client.messages.at(-1)?.parts ?? []).flatMap(part =>
    part.type === 'dynamic-tool' ? [{ tool: part.toolName, state: part.state, approval: part.approval?.id }] : [],
  );

test('text', async () => {
  chat.fake.script({
    answers: [{ content: [{ reasoning: ['Hm.'] }, { text: ['Hel', 'lo.'] }] }, { content: [{ text: 'Again.' }] }],
  });
  const client = clientOf(await chat.thread());
  await client.sendMessage({ text: 'Hi' });
  await client.sendMessage({ text: 'And?' });
  expect(client.error).toBeUndefined();
  expect(saidBy(client)).toEqual([
    ['user', 'Hi'],
    ['assistant', 'Hello.'],
    ['user', 'And?'],
    ['assistant', 'Again.'],
  ]);
  // The client shows the stored messages.
  const { messages } = await chat.act('chat_list_messages', { id: client.id });
  expect(messages.map(({ id }) => id)).toEqual(client.messages.map(({ id }) => id));
  const stored = messages.map(({ parts }) => parts);
  expect(JSON.parse(JSON.stringify(client.messages.map(({ parts }) => parts)))).toMatchObject(stored);
});

test('tools, and an approval that is given outside of the client', async () => {
  const order = { order: '7' };
  chat.fake.script({
    answers: [
      {
        content: [
          { text: 'I look.' },
          {
            calls: [
              { name: 'find', arguments: order },
              { name: 'refund', arguments: order },
            ],
          },
        ],
      },
      { content: [{ text: 'Done.' }] },
    ],
  });
  const id = await chat.thread({ agent_id: agent });
  const client = clientOf(id);
  const sending = client.sendMessage({ text: 'Refund 7' });
  await expect
    .poll(() => callsOf(client).map(({ state }) => state))
    .toEqual(['output-available', 'approval-requested']);
  await expect.poll(() => chat.act('chat_get_thread', { id })).toMatchObject({ awaits_person: true });
  const [runID = '', task_id] = callsOf(client)[1]?.approval?.split(':') ?? [];
  await chat.act('tasks_complete', { id: agent, runID, task_id, approved: true });
  await sending;
  expect(client.error).toBeUndefined();
  expect(callsOf(client).map(({ tool, state }) => [tool, state])).toEqual([
    ['find', 'output-available'],
    ['refund', 'output-available'],
  ]);
  expect(saidBy(client).at(-1)).toEqual(['assistant', 'I look.Done.']);
  expect(await chat.act('chat_get_thread', { id })).toMatchObject({ awaits_person: false });
});

test('a reload during an answer, and a stop after it', async () => {
  chat.fake.script({
    answers: [
      { content: [{ text: 'Once upon' }, { hold: 'tale' }, { text: ' a time.' }] },
      { content: [{ text: 'A' }, { hold: 'b' }] },
    ],
  });
  const id = await chat.thread();
  const before = clientOf(id);
  const sending = before.sendMessage({ text: 'A tale!' });
  await chat.fake.held('tale');
  await expect.poll(() => saidBy(before).at(-1)?.[1]).toBe('Once upon');
  const { messages } = await chat.act('chat_list_messages', { id });
  const written = messages.filter(({ metadata }) => metadata.status !== 'running') as unknown as UIMessage[];
  const after = clientOf(id, written);
  const resuming = after.resumeStream();
  await expect.poll(() => saidBy(after).at(-1)).toEqual(['assistant', 'Once upon']);
  chat.fake.release('tale');
  await Promise.all([sending, resuming]);
  for (const client of [before, after]) expect(saidBy(client).at(-1)).toEqual(['assistant', 'Once upon a time.']);
  const stopping = after.sendMessage({ text: 'More!' });
  await chat.fake.held('b');
  await expect.poll(() => saidBy(after).at(-1)?.[1]).toBe('A');
  await chat.act('chat_stop', { id });
  await stopping;
  expect(saidBy(after).at(-1)).toEqual(['assistant', 'A']);
  // No answer is active any more.
  await after.resumeStream();
  expect(after.messages).toHaveLength(4);
});

test('a call for a viewer waits for the approval of a contributor', async () => {
  const { viewer, contributor } = chat.acme;
  chat.fake.script({
    answers: [
      { content: [{ calls: [{ name: 'refund', arguments: { order: '7' } }] }] },
      { content: [{ text: 'Refunded.' }] },
    ],
  });
  const id = await chat.thread({ agent_id: agent, visibility: 'project' }, viewer);
  const { run_id: runID } = await chat.act('chat_send_message', { id, text: 'Refund 7' }, viewer);
  const pendingTasks = async () => (await chat.act('tasks_list_pending_run', { id: agent, runID })).tasks;
  await expect.poll(pendingTasks).toHaveLength(1);
  const answer = { id: agent, runID, task_id: 'agent.1.1.ok', approved: true };
  await expect(chat.act('tasks_complete', answer, viewer)).rejects.toMatchObject({ status: 403 });
  await chat.act('tasks_complete', answer, contributor);
  expect((await chat.settled(id)).at(-1)?.parts).toContainEqual({ type: 'text', text: 'Refunded.', state: 'done' });
});
