import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatService, startChatService } from '../../server/testing/chat.ts';
import { type Attempt, attemptGoal } from './attempt.ts';
import { GOALS } from './goals.ts';
import { figuresOf, markdownOf } from './report.ts';
import { SCRIPTED } from './scripted.ts';

/** `npm run evaluate` sets these: a model that solves the goals by itself. Without it, a script does (scripted.ts). */
const {
  BATON_TEST_EVALUATE_MODEL: model,
  BATON_TEST_EVALUATE_KEY: apiKey,
  BATON_TEST_EVALUATE_URL: baseUrl,
  BATON_TEST_EVALUATE_ATTEMPTS: attempts,
  BATON_TEST_EVALUATE_GOALS: chosen = '',
} = process.env;
const goals = GOALS.filter(({ name }) => chosen === '' || chosen.split(',').includes(name));
const PAUSE_MS = 50;
const MAX_MS = 30 * 60_000;

let chat: ChatService;
beforeAll(async () => {
  chat = await startChatService();
  chat.fake.script(SCRIPTED);
  if (model !== undefined) await giveKeyFor(model);
});
afterAll(() => chat.close());

/** A key for this model alone, in place of that for the script. */
async function giveKeyFor(id: string): Promise<void> {
  const [provider, ...rest] = id.split('/');
  const { keys } = (await chat.act('llm_provider_keys_list')) as unknown as { keys: { id: string }[] };
  for (const key of keys) await chat.act('llm_provider_keys_delete', { id: key.id, force: 'true' });
  await chat.act('llm_provider_keys_create', {
    provider,
    ...(apiKey !== undefined && { api_key: apiKey }),
    ...(baseUrl !== undefined && { base_url: baseUrl, models: [rest.join('/')] }),
  });
}

const act = (name: string, input: object) => {
  const isAsked = name === 'autopilot_chat' && model !== undefined;
  return chat.act(name as Parameters<ChatService['act']>[0], isAsked ? { ...input, model } : input);
};

test('Autopilot reaches its goals, as machines check them', { timeout: MAX_MS }, async () => {
  const figures = [];
  for (const goal of goals) {
    const made: Attempt[] = [];
    for (let n = 0; n < Number(attempts ?? 1); n += 1) made.push(await attemptGoal(goal, act, () => delay(PAUSE_MS)));
    figures.push(figuresOf({ goal: goal.name, attempts: made }));
  }
  if (attempts !== undefined) process.stdout.write(`\n${model ?? 'the script'}\n\n${markdownOf(figures)}\n`);
  // A model may fail: the table says where.
  if (model === undefined) expect(figures.filter(({ all }) => !all)).toEqual([]);
  expect(figures.every(({ tokens }) => tokens > 0)).toBe(true);
});

test('the report counts what passed once and what passed always', () => {
  const attempt = (...problems: string[]): Attempt => ({
    ...{ problems, verdict: null, inputTokens: 100, outputTokens: 20, credits: 0.5, turns: 3 },
  });
  const mixed = figuresOf({ goal: 'mixed', attempts: [attempt(), attempt('wrong|so'), attempt('wrong|so')] });
  expect(mixed).toMatchObject({ attempts: 3, passed: 1, any: true, all: false, tokens: 120, credits: 0.5, turns: 3 });
  const always = figuresOf({ goal: 'always', attempts: [attempt(), attempt(), attempt()] });
  expect(markdownOf([mixed, always]).split('\n').slice(2)).toEqual([
    '| mixed | 1/3 | 120 | 0.50 | 3.0 | wrong\\|so |',
    '| always | 3/3 | 120 | 0.50 | 3.0 |  |',
    '',
    'pass@3: 2 of 2; pass^3: 1 of 2.',
  ]);
});
