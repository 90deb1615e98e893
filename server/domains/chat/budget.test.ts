import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatService, startChatService } from '../../testing/chat.ts';

let chat: ChatService;
beforeAll(async () => {
  // The test begins at noon, so that no day ends during the test.
  const untilNoon = Date.UTC(2026, 10, 23, 12) - Date.now();
  chat = await startChatService({}, { clock: { now: () => Date.now() + untilNoon } });
});
afterAll(() => chat.close());

test('the daily limit of a person also counts deleted chats', async () => {
  const { pool } = chat.service.db;
  chat.fake.script({ answers: [{ match: { any: 'Hello' }, content: [{ text: 'Hello.' }] }] });
  expect(await chat.act('chat_get_settings')).toMatchObject({
    daily_credits: null,
    retention_days: null,
    used_today: 0,
  });
  const set = (daily_credits: number | null) => chat.act('chat_patch_settings', { daily_credits });
  const id = await chat.thread();
  const send = (text: string, by = chat.acme.owner) => chat.act('chat_send_message', { id, text }, by);
  const { run_id } = await send('Hello');
  await chat.settled(id);
  await pool.query('UPDATE runs SET credits_microcredits = 2000000 WHERE id = $1', [run_id]);
  expect(await set(2.000001)).toMatchObject({ daily_credits: 2.000001, used_today: 2 });
  await send('Hello again');
  await chat.settled(id);
  await pool.query('UPDATE runs SET credits_microcredits = 0 WHERE id <> $1', [run_id]);
  await set(2);
  const refused = {
    status: 422,
    code: 'ai_budget_exhausted',
    message: expect.stringMatching(/resets at .*T00:00:00.000Z/),
  };
  await expect(send('Hello')).rejects.toMatchObject(refused);
  expect(await chat.messages(id)).toHaveLength(4);
  // Each person has a separate limit.
  const theirs = await chat.thread({}, chat.acme.viewer);
  expect(await chat.act('chat_send_message', { id: theirs, text: 'Hello' }, chat.acme.viewer)).toMatchObject({
    status: 'running',
  });
  await chat.act('chat_delete_thread', { id });
  const next = await chat.thread();
  await expect(chat.act('chat_send_message', { id: next, text: 'Hello' })).rejects.toMatchObject(refused);
  await pool.query(`UPDATE runs SET started_at = started_at - interval '1 day'`);
  expect(await chat.act('chat_send_message', { id: next, text: 'Hello' })).toMatchObject({ status: 'running' });
  await set(null);
  expect(await chat.act('chat_get_settings')).toMatchObject({ daily_credits: null });
});
