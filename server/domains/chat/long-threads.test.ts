import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type ChatService, saidIn, startChatService } from '../../testing/chat.ts';

let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
});
afterAll(() => chat.close());

const WINDOW = 8_192;
const MESSAGES = 300;
/** 300 messages with this text have some 20,000 tokens. */
const WORDS = 'The shop on the corner sells bread, milk and the evening paper, and closes at six. '.repeat(3);

/** Creates a thread with many messages without running their answers. */
async function longThread(agent: string): Promise<string> {
  const id = await chat.thread({ agent_id: agent });
  await chat.service.db.pool.query(
    `INSERT INTO chat_messages (thread_id, id, tenant_id, place, parent_id, role, status, parts, sent_by, created_at)
     SELECT $1, 'm' || n, $2, n, CASE WHEN n > 1 THEN 'm' || n - 1 END, CASE WHEN n % 2 = 1 THEN 'user' ELSE 'assistant' END,
            CASE WHEN n % 2 = 1 THEN 'sent' ELSE 'completed' END,
            json_build_array(json_build_object('type', 'text', 'text', n || ': ' || $3::text)), $4, now()
       FROM generate_series(1, $5::int) n`,
    [id, chat.acme.tenantId, WORDS, chat.acme.owner.userId, MESSAGES],
  );
  await chat.service.db.pool.query('UPDATE chat_threads SET head_id = $2, message_count = $3 WHERE id = $1', [
    id,
    `m${MESSAGES}`,
    MESSAGES,
  ]);
  return id;
}

const Request = z.object({ messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })) });
const requests = () => chat.fake.requests.map(({ body }) => Request.parse(body).messages);

test('a thread of 300 messages is summarised once for a window of 8,192 tokens', async () => {
  chat.fake.script({
    context_tokens: WINDOW,
    answers: [
      { match: { any: 'You summarise a conversation' }, content: [{ text: 'It is about a shop.' }] },
      { match: { last: 'sells' }, content: [{ text: 'Bread.' }] },
      { match: { last: 'closes' }, content: [{ text: 'At six.' }] },
    ],
  });
  chat.fake.requests.length = 0;
  const model = 'openai_compatible/scripted';
  const { id: agent } = await chat.act('agents_create', { name: 'Clerk', model, limits: { context_tokens: WINDOW } });
  const id = await longThread(agent);
  await chat.act('chat_send_message', { id, text: 'What is it that it sells?' });
  const last = (await chat.settled(id)).at(-1);
  expect(last?.metadata).toMatchObject({ status: 'completed', error: null });
  expect(saidIn(last)).toBe('Bread.');
  const summary = last?.parts.filter(({ type }) => type === 'data-summary');
  expect(summary).toMatchObject([{ data: { text: 'It is about a shop.' } }]);
  const [, firstRequest] = requests();
  expect(requests()).toHaveLength(2);
  expect(JSON.stringify(firstRequest)).toContain('It is about a shop.');
  // Messages of people and models alternate in the rest.
  const roles = (firstRequest ?? []).map(({ role }) => role);
  expect(roles).toEqual(roles.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')));

  await chat.act('chat_send_message', { id, text: 'When is it that it closes?' });
  expect(saidIn((await chat.settled(id)).at(-1))).toBe('At six.');
  expect(requests()).toHaveLength(3);
  const thirdRequest = JSON.stringify(requests()[2]);
  expect(thirdRequest).toContain('It is about a shop.');
  expect(thirdRequest).toContain('What is it that it sells?');
  expect(thirdRequest).not.toContain('"1: ');
});
