import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_SHARDS, type Shards, shardOf } from '../../orchestrator/shards/slot.ts';
import { newId } from '../../platform/ids.ts';
import { CHAT_MODEL, type ChatService, saidIn, startChatService } from '../../testing/chat.ts';
import { listEnded, listStartable, purgeThreads } from './answers/store.ts';

let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
});
afterAll(() => chat.close());

const DAY = 86_400_000;
const NOW = Date.UTC(2030, 0, 1);
const listThreadIds = async () => (await chat.act('chat_list_threads', {})).threads.map(({ id }) => id);
/** Sets the time of the last change of a thread. */
const setChangedAt = (id: string, at: number) =>
  chat.service.db.pool.query('UPDATE chat_threads SET updated_at = $2 WHERE id = $1', [id, new Date(at)]);

test('threads are kept for the retention of their workspace, and for ever by default', async () => {
  const { pool } = chat.service.db;
  const purge = (now: number) => purgeThreads(pool, new Date(now));
  const [kept, old] = [await chat.thread(), await chat.thread()];
  await setChangedAt(kept, NOW - 30 * DAY);
  await setChangedAt(old, NOW - 30 * DAY - 1);
  expect(await purge(NOW)).toBe(0);
  await chat.act('chat_patch_settings', { retention_days: 30 });
  expect(await purge(NOW - 1)).toBe(0);
  expect(await purge(NOW)).toBe(1);
  expect(await listThreadIds()).toEqual([kept]);
  for (const retention_days of [0, 36_501])
    await expect(chat.act('chat_patch_settings', { retention_days })).rejects.toMatchObject({ status: 422 });
});

test('answers are saved and started in the workspaces of the shards that are led, and in no others', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'One.' }] }] });
  const thread = await chat.thread();
  await chat.act('chat_send_message', { id: thread, text: 'Hello' });
  await chat.settled(thread);
  const { pool } = chat.service.db;
  const setStatus = (status: string) =>
    pool.query(`UPDATE chat_messages SET status = $2 WHERE thread_id = $1 AND run_id IS NOT NULL`, [thread, status]);
  const { rows } = await pool.query<{ tenant_id: string }>('SELECT tenant_id FROM chat_threads WHERE id = $1', [
    thread,
  ]);
  const ownShard = shardOf(rows[0]?.tenant_id ?? '', 4);
  const led = { count: 4, led: new Set([ownShard]) };
  const others = { count: 4, led: new Set([0, 1, 2, 3].filter(shard => shard !== ownShard)) };
  for (const [status, list] of [
    ['queued', listStartable],
    ['running', listEnded],
  ] as const) {
    await setStatus(status);
    const found = async (shards: Shards) =>
      (await list(pool, { threadId: null, shards, limit: 20 })).map(({ threadId }) => threadId);
    expect([await found(ALL_SHARDS), await found(led), await found(others)]).toEqual([[thread], [thread], []]);
  }
  await setStatus('completed');
});

test('the models of the workspace answer if the request names none', async () => {
  await chat.act('llm_provider_keys_create', {
    provider: 'openai_compatible',
    base_url: chat.fake.url,
    models: ['second'],
  });
  const [assistant_model, autopilot_model] = ['openai_compatible/second', CHAT_MODEL];
  const settings = { assistant_model, autopilot_model, extraction_model: CHAT_MODEL };
  expect(await chat.act('chat_patch_settings', settings)).toMatchObject({ ...settings, daily_credits: null });
  expect(await chat.act('chat_patch_settings', { daily_credits: 5 })).toMatchObject(settings);
  chat.fake.requests.length = 0;
  chat.fake.script({ answers: [{ content: [{ text: 'One.' }] }, { content: [{ text: 'Two.' }] }] });
  const requestedModels = () => chat.fake.requests.map(({ body }) => (body as { model: string }).model);
  const thread = await chat.thread();
  await chat.act('chat_send_message', { id: thread, text: 'Hello' });
  await chat.settled(thread);
  expect(requestedModels()).toEqual(['second']);
  const { thread_id } = await chat.act('autopilot_chat', { text: 'Hello' });
  await chat.settled(String(thread_id));
  expect(requestedModels()).toEqual(['second', 'scripted']);
  await expect(chat.act('chat_patch_settings', { assistant_model: 'openai/gpt-5' })).rejects.toMatchObject({
    status: 422,
    code: 'model_not_configured',
  });
  await chat.act('chat_patch_settings', { assistant_model: null, autopilot_model: null, daily_credits: null });
});

test('the row of a deleted thread is purged with its runs, which stay unreadable until then', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'Gone.' }] }] });
  const { pool } = chat.service.db;
  const rows = async (id: string) => (await pool.query('SELECT FROM chat_threads WHERE id = $1', [id])).rowCount;
  await chat.act('chat_patch_settings', { retention_days: null });
  const id = await chat.thread();
  const { run_id: runID, workflow_id } = await chat.act('chat_send_message', { id, text: 'Hello' });
  await chat.settled(id);
  await chat.act('chat_delete_thread', { id });
  await purgeThreads(pool, new Date(NOW + 30 * 86_400_000));
  expect(await rows(id)).toBe(1);
  const ref = { id: workflow_id, runID };
  await expect(chat.act('runs_list_events', ref)).rejects.toMatchObject({ code: 'private_run' });
  await pool.query('DELETE FROM runs WHERE id = $1', [runID]);
  await purgeThreads(pool, new Date(NOW));
  expect(await rows(id)).toBe(0);
});

test('a saved answer outlives the log of its run, and an unsaved one fails with run_purged', async () => {
  chat.fake.script({ answers: [{ content: [{ text: 'Kept.' }] }] });
  const { pool } = chat.service.db;
  const id = await chat.thread();
  const { run_id } = await chat.act('chat_send_message', { id, text: 'Hello' });
  await chat.settled(id);
  await pool.query('DELETE FROM runs WHERE id = $1', [run_id]);
  expect((await chat.messages(id)).map(saidIn)).toEqual(['Hello', 'Kept.']);
  // Simulates a process that was down longer than runs are kept. The first answer may be saved before that.
  await pool.query(
    `UPDATE chat_messages SET id = $2::text, run_id = $2::uuid, status = 'running', parts = '[]'
      WHERE thread_id = $1 AND role = 'assistant'`,
    [id, newId()],
  );
  expect((await chat.settled(id)).at(-1)?.metadata).toMatchObject({ status: 'failed', error: { code: 'run_purged' } });
});
