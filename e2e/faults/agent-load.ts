import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { ScriptInput } from '../../bin/fake-model/script.ts';
import { type FakeModel, startFakeModel } from '../../bin/fake-model/server.ts';
import { newId } from '../../server/platform/ids.ts';
import { startSdkServer, type TestServer } from '../../server/testing/mcp-server.ts';
import type { Client } from './client.ts';
import type { Random } from './random.ts';

/** The answer of an undisturbed run, and the answer to a short message of a chat. */
export const ANSWER = 'All pages are read, and it was sent.';
export const SHORT_ANSWER = 'Quickly said.';

/** A page of which two exceed 70 % of 8,192 tokens, so that each run compacts its conversation. */
const PAGE = 'word '.repeat(2_200);
const readPages = (...pages: number[]) => ({
  content: [{ calls: pages.map(page => ({ name: 'read', arguments: { page } })) }],
});
/** The script of the model. Each answer depends only on its request, so that a repeated turn has the same answer. */
const script: ScriptInput = {
  pause_ms: 3,
  answers: [
    { match: { any: 'You summarise a conversation' }, content: [{ text: ['Pages 1 and 2 ', 'were read.'] }] },
    { match: { last: 'Quick' }, content: [{ text: [...SHORT_ANSWER] }] },
    { match: { last: 'Read the pages' }, content: readPages(1, 2).content },
    { match: { last: 'Page 2' }, content: [{ calls: [{ name: 'send', arguments: { text: 'two' } }] }] },
    { match: { last: 'Sent.' }, content: readPages(3).content },
    { match: { last: 'Page 3' }, content: [{ text: ANSWER.match(/.{1,4}/g) ?? [] }] },
  ],
};

function configure(server: McpServer): void {
  const annotations = { readOnlyHint: true, openWorldHint: false };
  server.registerTool('read', { inputSchema: z.strictObject({ page: z.number() }), annotations }, async ({ page }) => {
    await delay(10);
    return { content: [{ type: 'text', text: `${PAGE} Page ${page}.` }] };
  });
  // A destructive tool, so that a lost call is repeated only after a person's approval.
  const hints = { annotations: { destructiveHint: true, openWorldHint: false } };
  server.registerTool('send', { inputSchema: z.strictObject({ text: z.string() }), ...hints }, async () => {
    await delay(10);
    return { content: [{ type: 'text', text: 'Sent.' }] };
  });
}

type Sent = { messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[] };
const Called = z.object({ _meta: z.object({ idempotency_key: z.string() }) });

/** The model and the tool server of the load, with the requests that they received. Both outlive the service. */
export class World implements AsyncDisposable {
  /** The number of requests with each idempotency key. */
  readonly keys = new Map<string, number>();
  /** The last request of each run to the provider. */
  readonly turns = new Map<string, Sent>();
  readonly fake: FakeModel;
  readonly tools: TestServer;
  #toolsSeen = 0;

  private constructor(fake: FakeModel, tools: TestServer) {
    this.fake = fake;
    this.tools = tools;
  }

  static async open(): Promise<World> {
    return new World(await startFakeModel({ script }), await startSdkServer({ configure }));
  }

  /** The number of requests so far. */
  get requestCount(): number {
    return this.fake.requests.length + this.tools.seen.length;
  }

  /** Counts the requests since the last call. */
  count(): void {
    const countKey = (key: string) => this.keys.set(key, (this.keys.get(key) ?? 0) + 1);
    for (const { headers, body } of this.fake.requests.splice(0)) {
      const key = String(headers['idempotency-key']);
      countKey(key);
      const [runId = '', step = ''] = key.split(':');
      if (!step.includes('.c')) this.turns.set(runId, body as Sent);
    }
    for (const { message, params } of this.tools.seen.slice(this.#toolsSeen))
      if (message === 'tools/call') countKey(Called.parse(params)._meta.idempotency_key);
    this.#toolsSeen = this.tools.seen.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fake.close();
    await this.tools[Symbol.asyncDispose]();
  }
}

/** A thread with its accepted messages. */
export type Talk = { threadId: string; messages: string[] };

/** Callers that run an agent and chat with it, and a person who approves its calls, until they are stopped. */
export class AgentLoad {
  /** The runs whose start was acknowledged. */
  readonly runs = new Set<string>();
  readonly talks: Talk[] = [];
  readonly agent: string;
  readonly #client: Client;
  readonly #random: Random;
  readonly #callers: Promise<void>[];
  readonly #inbox: Promise<void>;
  #ceased = false;
  #closed = false;

  constructor(client: Client, agent: string, random: Random) {
    this.#client = client;
    this.agent = agent;
    this.#random = random;
    this.#callers = Array.from({ length: 4 }, () => this.#call());
    this.#inbox = this.#approve();
  }

  /** Stops starting runs and chats. Existing runs and chats are answered and approved until `close`. */
  async stopStarting(): Promise<void> {
    this.#ceased = true;
    await Promise.all(this.#callers);
  }

  async close(): Promise<void> {
    this.#ceased = true;
    this.#closed = true;
    await Promise.all([...this.#callers, this.#inbox]);
  }

  async #call(): Promise<void> {
    while (!this.#ceased) {
      if (this.#random.next() < 0.5) await this.#run();
      else await this.#talk();
      await delay(this.#random.between(10, 150));
    }
  }

  async #run(): Promise<void> {
    const body = { input: { message: 'Read the pages.' } };
    const answer = await this.#insist(`/v1/agents/${this.agent}/runs`, body, { 'Idempotency-Key': newId() });
    if (answer !== null) this.runs.add(String(answer.run_id));
  }

  async #talk(): Promise<void> {
    const made = await this.#insist('/v1/chat/threads', { agent_id: this.agent });
    if (made === null) return;
    const talk: Talk = { threadId: String(made.id), messages: [] };
    this.talks.push(talk);
    // The second message is queued until the first one is answered.
    for (const text of ['Read the pages.', 'Quick.']) {
      const body = { text, message_id: newId() };
      const sent = await this.#insist(`/v1/chat/threads/${talk.threadId}/messages`, body);
      if (sent === null) return;
      talk.messages.push(body.message_id);
      this.runs.add(String(sent.run_id));
    }
  }

  async #approve(): Promise<void> {
    while (!this.#closed) {
      const { status, body } = await this.#client.call('GET', '/v1/tasks/pending?limit=200');
      const tasks = status === 200 ? (body.tasks as PendingTask[]) : [];
      for (const { run_id, task_id, workflow_id, form } of tasks) {
        const path = `/v1/workflows/${workflow_id}/runs/${run_id}/tasks/${task_id}/complete`;
        const answer = await this.#client.call('POST', path, {
          approved: true,
          // A lost call is repeated only if the answer to its task says so.
          ...(form?.properties?.decision !== undefined && { result: { decision: 'repeat' } }),
        });
        if (![0, 200, 409, 503].includes(answer.status))
          this.#client.violations.push(`${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      await delay(30);
    }
  }

  /** Repeats a request until its response is 2xx. Returns null once the load is closed. */
  async #insist(path: string, body: object, headers: Record<string, string> = {}) {
    while (!this.#closed) {
      const answer = await this.#client.call('POST', path, body, headers);
      if (answer.status >= 200 && answer.status < 300) return answer.body;
      if (answer.status !== 0 && answer.status !== 503)
        this.#client.violations.push(`${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
      await delay(20);
    }
    return null;
  }
}

type PendingTask = {
  run_id: string;
  task_id: string;
  workflow_id: string;
  form: { properties?: Record<string, unknown> } | null;
};
