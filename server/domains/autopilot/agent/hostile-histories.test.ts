import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptInput } from '../../../../bin/fake-model/script.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { systemClock } from '../../../platform/clock.ts';
import { AppError } from '../../../platform/errors.ts';
import { createLogger } from '../../../platform/logger.ts';
import { ensurePartitions } from '../../../platform/postgres/partitions.ts';
import { type ChatService, startChatService } from '../../../testing/chat.ts';
import { startHttpServer, type TestHttpServer } from '../../../testing/http-server.ts';
import { startSdkServer, type TestServer } from '../../../testing/mcp-server.ts';
import { testSeed } from '../../../testing/seed.ts';

/**
 * Tests what trials send in random histories in which an attacker controls Autopilot. The histories combine reads, proposals, edits and
 * trials of the model with trials, edits and consents of people. The trials send exactly the requests that the specification allows
 * (docs/specification/autopilot.md#what-a-trial-sends). `npm run consents` tries more histories.
 */
const asked = process.env.BATON_TEST_CONSENTS;
/** A history takes as long as 20 of server/domains/agents/hostile-histories.test.ts, because people and the model alternate. */
const count = asked ? Math.ceil(Number(asked) / 20) : 8;

/** The step of a proposal. `reads` and `finds` only read, `posts` writes, `templates` and `passes` send a value of the run by HTTP and by MCP. */
type Step = 'reads' | 'finds' | 'posts' | 'templates' | 'passes';
type ModelMove = 'harmless' | 'read' | 'try' | 'edit' | 'try live' | 'apply';
/** A round is a message with the model's moves in its answer, or one move of a person. */
type Round = { by: 'model'; moves: ModelMove[] } | { by: 'person'; move: 'try' | 'live' | 'edit' };
type History = { step: Step; before: ('harmless' | 'read')[]; hasContext: boolean; rounds: Round[] };

const modelMove = fc.constantFrom<ModelMove[]>(
  ...(['harmless', 'harmless', 'read', 'try', 'try', 'try', 'edit', 'edit', 'try live', 'apply'] as const),
);
const round: fc.Arbitrary<Round> = fc.oneof(
  // A round has at most one trial: the outcome of two concurrent trials depends on their order.
  fc.array(modelMove, { minLength: 1, maxLength: 3 }).map(moves => ({
    by: 'model' as const,
    moves: moves.filter((move, at) => move !== 'try' || at === moves.indexOf(move)),
  })),
  fc.constantFrom('try' as const, 'live' as const, 'edit' as const).map(move => ({ by: 'person' as const, move })),
);
const history: fc.Arbitrary<History> = fc.record({
  step: fc.constantFrom<Step[]>('reads', 'reads', 'finds', 'posts', 'templates', 'passes'),
  before: fc.array(fc.constantFrom<('harmless' | 'read')[]>('harmless', 'harmless', 'read'), { maxLength: 2 }),
  hasContext: fc.integer({ min: 0, max: 5 }).map(n => n === 0),
  rounds: fc.array(round, { minLength: 2, maxLength: 5 }),
});

let chat: ChatService;
let collector: TestHttpServer;
let tools: TestServer;
let instance_id: string;
/** The workflow that a message may have as its context. */
let about: string;
/** The values that the tool `find` has received. */
const found: string[] = [];
const leftValues = () => [...collector.seen.map(({ path }) => path.split('d=')[1] ?? path), ...found];

function configure(server: McpServer): void {
  const annotations = { readOnlyHint: true, openWorldHint: true };
  server.registerTool('find', { inputSchema: z.strictObject({ d: z.string() }), annotations }, ({ d }) => {
    found.push(d);
    return { content: [{ type: 'text', text: '{}' }] };
  });
}

beforeAll(async () => {
  chat = await startChatService();
  // The service creates partitions a minute after its start. Creating them now keeps that from blocking the runs.
  await ensurePartitions(chat.service.db.pool, systemClock, createLogger('silent'));
  collector = await startHttpServer({ '/collect': (_, response) => response.end('{}') });
  tools = await startSdkServer({ configure });
  instance_id = await chat.instanceOf(tools.url);
  const graph = { steps: [{ id: 'one', type: 'lua_script', script: 'return 1' }] };
  about = (await chat.act('workflows_create', { name: 'Code 7731', graph })).id;
  const item = { subject: 'safe', text: 'The code of the safe is 7731.' };
  await chat.act('memory_propose_items', { items: [item], remember: true });
});
afterAll(async () => {
  await chat?.close();
  await collector?.close();
  await tools?.[Symbol.asyncDispose]();
});

type Content = Extract<NonNullable<ScriptInput['answers']>[number], { content: unknown }>['content'][number];
const calls = (name: string, args: JsonMap = {}): Content => ({ calls: [{ name, arguments: args as never }] });
const INPUT = '{{input.d}}';
const holdsTemplate = (kind: Step): boolean => kind === 'templates' || kind === 'passes';
const checks = [{ step: 'go', op: 'completed' }];
const hosts = () => [collector.url, tools.url].map(url => new URL(url).host);

/** Returns the step of the proposal that sends the value `d`. */
function stepOf(kind: Step, d: string): JsonMap {
  const request = (value: string, more: JsonMap = {}): JsonMap => ({
    ...{ id: 'go', type: 'http_request', url: `${collector.url}/collect?d=${value}` },
    ...more,
  });
  switch (kind) {
    case 'reads':
      return request(d);
    case 'posts':
      return request(d, { method: 'POST' });
    case 'templates':
      return request(INPUT);
    case 'finds':
    case 'passes':
      return {
        ...{ id: 'go', type: 'mcp_call', instance_id, tool_name: 'find' },
        tool_args: { d: kind === 'finds' ? d : INPUT },
      };
  }
}

/** Returns the edit that makes the step send another value. A step with a template changes its name only. */
function editOf(kind: Step, d: string): JsonMap {
  const { id: _, type: _type, ...fields } = stepOf(kind, d);
  return { type: 'update_step', step: 'go', set: holdsTemplate(kind) ? { name: d } : fields };
}

/** Predicts what may leave from the specification, independently of the implementation. */
class Expected {
  readonly left: string[] = [];
  readonly #kind: Step;
  readonly #input: string;
  readonly #seen = new Set<string>();
  #value: string;
  #isWritten: boolean;
  #hasRead: boolean;
  /** Whether a live trial may execute the step: the last trial has replaced it, and no edit followed. */
  mayBeLive = false;

  constructor({ step, before, hasContext }: History, value: string, input: string) {
    this.#kind = step;
    this.#value = value;
    this.#input = input;
    this.#hasRead = hasContext || before.includes('read');
    this.#isWritten = this.#hasRead;
  }

  read(): void {
    this.#hasRead = true;
  }

  edit(by: Round['by'], value: string): void {
    this.#value = value;
    this.mayBeLive = false;
    if (by === 'model' && this.#hasRead) this.#isWritten = true;
  }

  /**
   * A trial executes steps that only read and hold no template. It replaces a request that no person has seen if a model wrote the request, or
   * asks for the trial, after reading something.
   */
  try(by: Round['by']): void {
    const isUnseen = this.#isWritten || (by === 'model' && this.#hasRead);
    const isReplaced =
      this.#kind === 'posts' || this.#kind === 'templates' || (isUnseen && !this.#seen.has(this.#value));
    this.mayBeLive = isReplaced;
    if (!isReplaced) this.#leave();
  }

  live(): void {
    this.#leave();
    if (!holdsTemplate(this.#kind)) this.#seen.add(this.#value);
  }

  #leave(): void {
    this.left.push(holdsTemplate(this.#kind) ? this.#input : this.#value);
  }
}

const sendMessage = async (text: string, more: JsonMap): Promise<string> => {
  const { thread_id } = await chat.act('autopilot_chat', { text, ...more });
  await chat.settled(String(thread_id));
  return String(thread_id);
};
const MODEL_CALLS: Readonly<Record<'harmless' | 'read', Content>> = {
  harmless: calls('autopilot_describe_step_types'),
  read: calls('memory_search', { query: 'safe' }),
};
const script = (...contents: Content[]) =>
  chat.fake.script({ answers: [...contents, { text: 'Done.' }].map(content => ({ content: [content] })) });

/** Plays a history. Returns the values that left, and the values that should have left. */
async function play(of: History, number: number): Promise<{ left: string[]; expected: string[] }> {
  collector.seen.length = 0;
  found.length = 0;
  const value = (n: number) => `v${number}x${n}`;
  const d = `input${number}`;
  const expected = new Expected(of, value(0), d);
  const add = { type: 'add_step', step: stepOf(of.step, value(0)) };
  script(...of.before.map(move => MODEL_CALLS[move]), calls('autopilot_propose', { title: 'P', edits: [add] }));
  const thread_id = await sendMessage('Build something', of.hasContext ? { context: { workflow_id: about } } : {});
  const { proposals } = (await chat.act('autopilot_list_proposals', { limit: 1 })) as unknown as {
    proposals: { id: string }[];
  };
  const id = String(proposals[0]?.id);
  const tried: JsonMap = { id, checks, input: { d } };
  for (const [n, round] of of.rounds.entries()) {
    const edits = [editOf(of.step, value(n + 1))];
    if (round.by === 'model')
      await modelRound(round.moves, { id, thread_id, tried, edits, value: value(n + 1), expected });
    else await personRound(round.move, { id, tried, edits, value: value(n + 1), expected });
    await trialEnded(id);
  }
  return { left: leftValues().sort(), expected: expected.left.sort() };
}

type MoveContext = { id: string; tried: JsonMap; edits: JsonMap[]; value: string; expected: Expected };

/** Returns the call of the model for a move, and updates the expectation. */
function moveOf(move: ModelMove, { id, tried, edits, value, expected }: MoveContext): Content {
  switch (move) {
    case 'harmless':
      return MODEL_CALLS.harmless;
    case 'read':
      expected.read();
      return MODEL_CALLS.read;
    case 'try':
      expected.try('model');
      return calls('autopilot_try_proposal', tried);
    case 'edit':
      expected.edit('model', value);
      return calls('autopilot_edit_proposal', { id, edits });
    case 'try live':
      // Autopilot lacks this tool. The answer of an unknown tool counts as read.
      expected.read();
      return calls('autopilot_try_live', { ...tried, really: ['go'], hosts: hosts(), budget_credits: 5 });
    case 'apply':
      expected.read();
      return calls('autopilot_apply_proposal', { id });
  }
}

async function modelRound(
  moves: ModelMove[],
  { thread_id, ...of }: MoveContext & { thread_id: string },
): Promise<void> {
  script(...moves.map(move => moveOf(move, of)));
  await sendMessage('Go on', { thread_id });
}

async function personRound(
  move: 'try' | 'live' | 'edit',
  { id, tried, edits, value, expected }: MoveContext,
): Promise<void> {
  const { etag } = await chat.act('autopilot_get_proposal', { id });
  switch (move) {
    case 'try':
      expected.try('person');
      await chat.act('autopilot_try_proposal', tried);
      return;
    case 'edit':
      expected.edit('person', value);
      await chat.act('autopilot_edit_proposal', { id, edits });
      return;
    case 'live': {
      const live = { ...tried, etag, really: ['go'], hosts: hosts(), budget_credits: 5 };
      if (!expected.mayBeLive)
        await expect(chat.act('autopilot_try_live', live)).rejects.toMatchObject({ status: expect.any(Number) });
      else {
        expected.live();
        await chat.act('autopilot_try_live', live);
      }
    }
  }
}

/** Waits until no trial of the proposal is running. */
async function trialEnded(id: string): Promise<void> {
  const { status } = await chat.act('autopilot_get_proposal', { id });
  expect(status).not.toBe('applied');
  const verdict = async () => {
    try {
      return ((await chat.act('autopilot_get_trial', { id })) as unknown as { verdict: string | null }).verdict;
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return 'none';
      throw error;
    }
  };
  await expect.poll(verdict).not.toBeNull();
}

test(
  `in random histories trials send exactly the allowed requests (${count})`,
  async () => {
    let sent = 0;
    let heldBack = 0;
    for (const [number, each] of fc.sample(history, { seed: testSeed, numRuns: count }).entries()) {
      const { left, expected } = await play(each, number);
      expect(left, JSON.stringify(each)).toEqual(expected);
      sent += left.length;
      heldBack += left.length === 0 ? 1 : 0;
    }
    expect(Math.min(sent, heldBack)).toBeGreaterThan(0);
  },
  Math.max(120_000, count * 5_000),
);
