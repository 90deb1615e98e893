import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { CHAT_MODEL, type ChatService, startChatService } from '../../server/testing/chat.ts';
import { startHttpServer, type TestHttpServer } from '../../server/testing/http-server.ts';
import { startSdkServer, type TestServer } from '../../server/testing/mcp-server.ts';
import { type Attempt, attemptGoal } from './attempt.ts';
import type { Goal, World } from './goal.ts';
import { GOALS } from './goals/index.ts';
import { giveKeyFor } from './model-key.ts';
import { figuresOf, markdownOf } from './report.ts';
import { answersTo } from './scripted.ts';

/** Set by `npm run evaluate`: the model that solves the goals. Without it, a script answers (scripted.ts). */
const {
  BATON_TEST_EVALUATE_MODEL: model,
  BATON_TEST_EVALUATE_ATTEMPTS: attempts,
  BATON_TEST_EVALUATE_GOALS: chosen = '',
} = process.env;
/** The test suite runs every fifth goal, some of each kind; `npm run evaluate` runs all of them. */
const SAMPLE_EVERY = 5;
const goals = GOALS.filter(({ name }, at) =>
  chosen === '' ? attempts !== undefined || at % SAMPLE_EVERY === 0 : chosen.split(',').includes(name),
);
const PAUSE_MS = 20;
const MAX_MS = 60 * 60_000;
const RATES: Readonly<Record<string, number>> = { USD: 1.25, CHF: 0.5 };

let chat: ChatService;
let http: TestHttpServer;
let tools: TestServer;
let world: World;

beforeAll(async () => {
  chat = await startChatService();
  http = await startHttpServer({
    '/stock': (_request, response) => response.setHeader('content-type', 'application/json').end('{"stock":7}'),
    '/orders': ({ body }, response) => {
      world.orders.push(JSON.parse(body));
      response.writeHead(201).end();
    },
  });
  tools = await startSdkServer({ configure });
  await chat.instanceOf(tools.url);
  if (model !== undefined) await giveKeyFor(chat, model);
  world = { act: callOperation, api: http.url, model: model ?? CHAT_MODEL, orders: [], notes: [] };
});
afterAll(async () => {
  await chat.close();
  await tools[Symbol.asyncDispose]();
  await http.close();
});

function configure(server: McpServer): void {
  const currency = z.enum(['USD', 'CHF']);
  server.registerTool(
    'exchange_rate',
    {
      description: 'The exchange rate of a currency against the euro.',
      inputSchema: z.strictObject({ currency }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ currency }) => ({ content: [{ type: 'text', text: JSON.stringify({ rate: RATES[currency] }) }] }),
  );
  server.registerTool(
    'send_note',
    { description: 'Sends a note to the team.', inputSchema: z.strictObject({ text: z.string() }) },
    note => {
      world.notes.push(note);
      return { content: [{ type: 'text', text: '{"sent":true}' }] };
    },
  );
}

const callOperation = (name: string, input: object) => {
  const isAsked = name === 'autopilot_chat' && model !== undefined;
  return chat.act(name as Parameters<ChatService['act']>[0], isAsked ? { ...input, model } : input);
};

const attempt = (goal: Goal, { wrong = false } = {}) =>
  attemptGoal(goal, world, {
    ready: about => chat.fake.script({ answers: answersTo(goal, world, about, { wrong }) }),
    pause: () => delay(PAUSE_MS),
  });

test('Autopilot reaches its goals, according to automatic checks', { timeout: MAX_MS }, async () => {
  const figures = [];
  for (const goal of goals) {
    const made: Attempt[] = [];
    for (let n = 0; n < Number(attempts ?? 1); n += 1) made.push(await attempt(goal));
    figures.push(figuresOf({ goal: goal.name, attempts: made }));
  }
  if (attempts !== undefined) process.stdout.write(`\n${model ?? 'the script'}\n\n${markdownOf(figures)}\n`);
  // A model may fail: the table shows where.
  if (model === undefined) expect(figures.filter(({ all }) => !all)).toEqual([]);
  expect(figures.filter(({ credits }) => credits === 0)).toEqual([]);
});

test.runIf(model === undefined)('an answer that only claims success reaches no goal', { timeout: MAX_MS }, async () => {
  for (const goal of goals) {
    const { problems } = await attempt(goal, { wrong: true });
    expect(problems, goal.name).not.toEqual([]);
  }
});

test('there are at least forty goals, each with a unique name', () => {
  expect(GOALS.length).toBeGreaterThanOrEqual(40);
  expect(new Set(GOALS.map(({ name }) => name)).size).toBe(GOALS.length);
  expect(new Set(GOALS.map(({ words }) => words)).size).toBe(GOALS.length);
});

test('the report counts the goals that passed once and those that always passed', () => {
  const attempted = (...problems: string[]): Attempt => ({
    ...{ problems, verdict: null, inputTokens: 100, outputTokens: 20, credits: 0.5, turns: 3 },
  });
  const mixed = figuresOf({ goal: 'mixed', attempts: [attempted(), attempted('wrong|so'), attempted('wrong|so')] });
  expect(mixed).toMatchObject({ attempts: 3, passed: 1, any: true, all: false, tokens: 120, credits: 0.5, turns: 3 });
  const always = figuresOf({ goal: 'always', attempts: [attempted(), attempted(), attempted()] });
  expect(markdownOf([mixed, always]).split('\n').slice(2)).toEqual([
    '| mixed | 1/3 | 120 | 0.50 | 3.0 | wrong\\|so |',
    '| always | 3/3 | 120 | 0.50 | 3.0 |  |',
    '',
    'pass@3: 2 of 2; pass^3: 1 of 2.',
  ]);
});
