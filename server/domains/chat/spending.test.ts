import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { CREDIT } from '../../orchestrator/ports/microcredits.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { reached } from '../../testing/runs.ts';

/** An answer whose turn costs 1.2 credits: 100,000 input tokens at 10 microcredits, and 4,000 output tokens at 50. */
const ANSWER = { content: [{ text: 'Hello.' }], usage: { input: 100_000, output: 4_000 } };
const TURN = 1.2;
/** The charge for the three steps of an answer: the agent, its turn, and its end. */
const STEPS = 0.003;

let chat: ChatService;
beforeAll(async () => {
  // The tests begin at noon, so that no day ends during a test.
  const untilNoon = Date.UTC(2026, 10, 23, 12) - Date.now();
  chat = await startChatService({}, { clock: { now: () => Date.now() + untilNoon } });
});
afterAll(() => chat.close());

const setDailyLimit = (daily_credits: number | null) => chat.act('chat_patch_settings', { daily_credits });
const script = () => chat.fake.script({ answers: [{ match: {}, ...ANSWER }] });
const spentBy = async ({ userId }: Principal) => {
  const { rows } = await chat.service.db.pool.query<{ spent: number }>(
    'SELECT coalesce(sum(credits_microcredits), 0)::float8 AS spent FROM runs WHERE spender_id = $1',
    [userId],
  );
  return (rows[0]?.spent ?? 0) / CREDIT;
};

test('twenty concurrent messages exceed the daily limit by at most one turn', async () => {
  script();
  const { contributor } = chat.acme;
  await setDailyLimit(1);
  const threads = await Promise.all(Array.from({ length: 20 }, () => chat.thread({}, contributor)));
  const send = (id: string) => chat.act('chat_send_message', { id, text: 'Hello' }, contributor);
  const accepted = (await Promise.allSettled(threads.map(send))).filter(({ status }) => status === 'fulfilled');
  expect(accepted.length).toBeGreaterThan(1);
  const answers = [];
  for (const id of threads)
    answers.push(...(await chat.settled(id, contributor)).filter(({ role }) => role !== 'user'));
  const statuses = answers.map(({ metadata: { status, error } }) => (status === 'completed' ? status : error?.code));
  expect(statuses.filter(status => status === 'completed')).toHaveLength(1);
  expect(new Set(statuses)).toEqual(new Set(['completed', 'ai_budget_exhausted']));
  const failed = answers.find(({ metadata }) => metadata.status === 'failed');
  expect(failed?.metadata.error?.message).toMatch(/resets at .*T00:00:00.000Z/);
  // The provider counts more tokens than were reserved, so the last turn exceeds the limit.
  expect(await spentBy(contributor)).toBeLessThanOrEqual(TURN + STEPS + 0.02);
  expect(chat.fake.requests).toHaveLength(1);
  // Each person has a separate limit.
  const theirs = await chat.thread({}, chat.acme.viewer);
  await chat.act('chat_send_message', { id: theirs, text: 'Hello' }, chat.acme.viewer);
  expect((await chat.settled(theirs, chat.acme.viewer)).at(-1)?.metadata.status).toBe('completed');
});

test('messages do not wait for each other if the limit allows all of them', async () => {
  chat.fake.script({ answers: [{ match: {}, content: [{ hold: 'both' }, { text: 'Hello.' }] }] });
  await setDailyLimit(100);
  chat.fake.requests.length = 0;
  const ids = [await chat.thread(), await chat.thread()];
  for (const id of ids) await chat.act('chat_send_message', { id, text: 'Hello' });
  await expect.poll(() => chat.fake.requests.length).toBe(2);
  chat.fake.release('both');
  for (const id of ids) expect((await chat.settled(id)).at(-1)?.metadata.status).toBe('completed');
});

test('the rest of the limit bounds the length of an answer', async () => {
  chat.fake.requests.length = 0;
  const { owner } = chat.acme;
  const before = await spentBy(owner);
  await setDailyLimit(Math.ceil((before + 0.02) * 1_000_000) / 1_000_000);
  chat.fake.script({ answers: [{ match: {}, content: [{ text: 'Hello.' }], usage: { input: 100, output: 60 } }] });
  const id = await chat.thread();
  await chat.act('chat_send_message', { id, text: 'Hello' });
  await chat.settled(id);
  const maxTokens = (chat.fake.requests[0]?.body as { max_tokens?: number } | undefined)?.max_tokens;
  expect(maxTokens).toBeGreaterThan(16);
  expect(maxTokens).toBeLessThan(400);
});

test('a trial counts towards the same limit: it is refused without credits, and its model calls with too few', async () => {
  script();
  const { viewer, owner } = chat.acme;
  const steps = Array.from({ length: 10 }, (_, n) => ({
    id: `m${n}`,
    type: 'llm_call',
    model: 'openai_compatible/scripted',
    prompt: 'Hello',
    on_error: 'continue',
  }));
  const checks = [{ step: 'm0', op: 'completed' }];
  const propose = async (by: Principal) =>
    (await chat.act('autopilot_propose', { title: 'T', edits: steps.map(step => ({ type: 'add_step', step })) }, by))
      .id;
  const [theirs, own] = [await propose(viewer), await propose(owner)];
  await setDailyLimit((await spentBy(owner)) / 2);
  await expect(chat.act('autopilot_try_proposal', { id: own, checks })).rejects.toMatchObject({
    status: 422,
    code: 'ai_budget_exhausted',
  });
  // Two turns exceed the limit: each costs 1.2 credits and its step.
  await setDailyLimit((await spentBy(viewer)) + 2 * TURN);
  chat.fake.requests.length = 0;
  const { workflow_id, run_id } = await chat.act('autopilot_try_proposal', { id: theirs, checks }, viewer);
  await reached(chat.service.container.services, owner, { id: workflow_id, runID: run_id });
  expect(await chat.act('runs_get_summary', { id: workflow_id, runID: run_id })).toMatchObject({
    status: 'failed',
    error: { code: 'ai_budget_exhausted' },
  });
  expect(chat.fake.requests).toHaveLength(2);
  expect((await chat.act('chat_get_settings', {}, viewer)).used_today).toBeGreaterThan(2 * TURN);
  await setDailyLimit(null);
});
