import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditLedger } from '../../server/domains/billing/ledger/audit-store.ts';
import { MessageParts, textOf } from '../../server/domains/chat/stream/parts.ts';
import type { RunEvent } from '../../server/orchestrator/core/index.ts';
import { readRuns } from '../../server/orchestrator/log/index.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { openSse } from '../../server/testing/sse-client.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { AgentLoad, ANSWER, SHORT_ANSWER, World } from './agent-load.ts';
import { Client } from './client.ts';
import { rounds, seeded, timeoutFor } from './random.ts';

const KILLS = 4 * rounds;

// One service and one model for both tests.
let db: TestDatabase;
let world: World;
let installation: Installation;
let service: Service;
let client: Client;
beforeAll(async () => {
  db = await createTestDatabase();
  world = await World.open();
  installation = await Installation.create(
    {
      DATABASE_URL: db.url,
      BATON_ENABLE_AGENTS: 'true',
      BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32',
    },
    { cheapPasswords: true },
  );
  service = await installation.launch();
  await service.until('ready');
  client = new Client(service.url, installation.pat);
});
afterAll(async () => {
  await installation?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
  await db?.close();
});

const SESSIONS = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'baton-orchestrator'`;

/** Starts the service again on the same port, and waits until it is ready. */
async function relaunch(): Promise<void> {
  service = await installation.launch(Number(new URL(service.url).port));
  await service.until('ready');
}

test(
  'after repeated SIGKILL of the service while agents work, only requests in flight are repeated, with the same keys',
  async () => {
    const load = new AgentLoad(client, await makeAgent(client, world), seeded('agents'));
    const random = seeded('kills of agents');
    client.mayDisconnect = true;
    let inFlight = 0;
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        // Enough requests between kills that no step is lost five times in a row, which would fail it.
        const goal = world.requestCount + random.between(20, 60);
        await expect.poll(() => world.requestCount >= goal, { interval: 2, timeout: 60_000 }).toBe(true);
        await service.kill();
        // The database may still commit statements of the killed process.
        await expect.poll(async () => (await db.pool.query(SESSIONS)).rowCount).toBe(0);
        inFlight += await startedAndNotEnded(db.pool);
        world.count();
        await relaunch();
      }
      await load.stopStarting();
      const open = async () => (await db.pool.query('SELECT FROM runs WHERE ended_at IS NULL')).rowCount;
      await expect.poll(open, { timeout: 60_000 }).toBe(0);
      const queued = `SELECT FROM chat_messages WHERE status IN ('queued', 'running')`;
      await expect.poll(async () => (await db.pool.query(queued)).rowCount, { timeout: 60_000 }).toBe(0);
    } finally {
      await load.close();
    }
    world.count();
    const problems = [...client.violations, ...(await runProblems(db.pool, load, world, inFlight))];
    for (const { threadId, messages } of load.talks)
      problems.push(...(await threadProblems(client, threadId, messages)));
    const { differences, runs } = await auditLedger(db.pool, { now: Date.now() });
    expect(problems.slice(0, 20)).toEqual([]);
    expect(differences).toEqual([]);
    expect(runs.compared).toBeGreaterThan(0);
    // The test proves something only if kills have hit active attempts.
    expect(inFlight).toBeGreaterThan(KILLS / 2);
    expect(load.runs.size).toBeGreaterThan(4);
  },
  timeoutFor(40_000),
);

type ShownMessage = { parts: { text?: string }[]; metadata: { status: string } };

test(
  'SIGKILL of the service in the middle of a text: the client begins the turn again, and every message is answered, in order',
  async () => {
    const { fake } = world;
    const post = async (path: string, body: object) => {
      const { status, body: answer } = await client.call('POST', path, body);
      expect(status, JSON.stringify(answer)).toBeLessThan(300);
      return answer;
    };
    const { id } = await post('/v1/chat/threads', {});
    const thread = `/v1/chat/threads/${id}`;
    const stream = (after?: string) =>
      openSse(`${service.url}${thread}/stream`, {
        Authorization: client.authorization,
        ...(after !== undefined && { 'Last-Event-ID': after }),
      });
    fake.script({
      answers: [
        { content: [{ text: 'Once upon' }, { hold: 'killed' }] },
        { content: [{ text: 'Once more, and whole.' }] },
        ...['Two.', 'Three.'].map(text => ({ content: [{ text }] })),
      ],
    });
    await post(`${thread}/messages`, { text: 'one' });
    await fake.held('killed');
    await post(`${thread}/messages`, { text: 'two' });
    await post(`${thread}/messages`, { text: 'three' });
    const before = await stream();
    const message = new MessageParts();
    await expect
      .poll(() => before.received.map(({ chunk }) => chunk))
      .toContainEqual(expect.objectContaining({ delta: 'Once upon' }));
    await service.kill();
    await before.ended;
    for (const { chunk } of before.received) message.add(chunk);
    expect(textOf(message.parts)).toBe('Once upon');

    await relaunch();
    const after = await stream(before.received.findLast(each => each.id !== null)?.id ?? undefined);
    await after.ended;
    expect(after.received[0]?.chunk).toEqual({ type: 'reset-step' });
    for (const { chunk } of after.received) message.add(chunk);
    expect(textOf(message.parts)).toBe('Once more, and whole.');

    const messages = async () => {
      const { body } = await client.call('GET', `${thread}/messages`);
      return (body.messages as ShownMessage[]).map(({ parts, metadata }) => [
        parts.map(({ text = '' }) => text).join(''),
        metadata.status,
      ]);
    };
    await expect.poll(messages).toEqual([
      ['one', 'sent'],
      ['Once more, and whole.', 'completed'],
      ['two', 'sent'],
      ['Two.', 'completed'],
      ['three', 'sent'],
      ['Three.', 'completed'],
    ]);
  },
  timeoutFor(20_000),
);

async function makeAgent(client: Client, { fake, tools }: World): Promise<string> {
  const post = async (path: string, body: object = {}) => {
    const answer = await client.call('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return String(answer.body.id);
  };
  await post('/v1/llm-provider-keys', { provider: 'openai_compatible', base_url: fake.url, models: ['scripted'] });
  const server = await post('/v1/mcp/servers', { name: 'Tools', canonical_url: tools.url, auth_mode: 'none' });
  await post(`/v1/mcp/servers/${server}/discover`);
  await post(`/v1/mcp/servers/${server}/versions`);
  const instance_id = await post('/v1/mcp/instances', { server_id: server, name: 'Tools' });
  return post('/v1/agents', {
    name: 'Clerk',
    model: 'openai_compatible/scripted',
    tools: [{ type: 'mcp', instance_id, tools: ['read', 'send'] }],
    limits: { context_tokens: 8_192 },
  });
}

/** Returns the number of steps whose attempt was interrupted by the kill. Waiting tasks do not count. */
async function startedAndNotEnded(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(DISTINCT (run_id, step_id))::int AS count FROM run_events e
      WHERE event_type = 'step_started' AND NOT EXISTS (
        SELECT FROM run_events o WHERE o.run_id = e.run_id AND o.step_id = e.step_id AND o.seq > e.seq
           AND o.event_type IN ('step_completed', 'step_failed', 'step_cancelled', 'step_expanded', 'task_pending'))`,
  );
  return rows[0]?.count ?? 0;
}

/** The events of a step. `allowed`: how often a person approved a repetition; null if repetitions need no approval. */
type Step = { started: number; ended: number; allowed: number | null };

/** Returns problems unless every run ended like an undisturbed one, each step ended once, and only requests in flight were repeated. */
async function runProblems(pool: Pool, load: AgentLoad, world: World, inFlight: number): Promise<string[]> {
  const problems: string[] = [];
  const { rows } = await pool.query<{ id: string; status: string; error: unknown }>(
    'SELECT id, status, error FROM runs',
  );
  const logs = await readRuns(
    pool,
    rows.map(({ id }) => id),
  );
  for (const id of load.runs) if (!logs.has(id)) problems.push(`${id}: its start was acknowledged and it is not there`);
  for (const { id, status, error } of rows)
    if (status !== 'completed') problems.push(`${id}: it is ${status} ${JSON.stringify(error)}`);
  const known = new Set<string>();
  let repeated = 0;
  for (const [runId, { events }] of logs) {
    for (const [step, { started, ended, allowed }] of stepsOf(events, note => problems.push(`${runId}: ${note}`))) {
      const key = `${runId}:${step}`;
      known.add(key);
      if (ended !== 1) problems.push(`${key} ended ${ended} times`);
      const seen = world.keys.get(key) ?? 0;
      if (seen > started) problems.push(`${key} was asked ${seen} times in ${started} attempts`);
      if (seen === 0 && /\.\d+(\.\d+)?$/.test(step)) problems.push(`${key} has ended and was never asked`);
      if (allowed !== null && seen > 1 + allowed)
        problems.push(`${key} was asked ${seen} times, and a person has had it repeated ${allowed} times`);
      // One attempt asks for approval, and another one executes the approved call.
      repeated += Math.max(0, started - 1 - (allowed ?? 0));
    }
    problems.push(...transcriptProblems(runId, world));
  }
  // The runs must have turns, calls, approvals and compactions for the kills to interrupt.
  for (const kind of [/\.\d+$/, /\.\d+\.\d+$/, /\.ok$/, /\.c\d+$/])
    if (![...known].some(key => kind.test(key))) problems.push(`no run has a step like ${kind}`);
  for (const key of world.keys.keys()) if (!known.has(key)) problems.push(`${key} was asked and is no step`);
  if (repeated > inFlight) problems.push(`${repeated} attempts were repeated, and ${inFlight} were in flight`);
  return problems;
}

function stepsOf(events: readonly RunEvent[], note: (problem: string) => unknown): Map<string, Step> {
  const steps = new Map<string, Step>();
  const stepOf = (id: string) => steps.get(id) ?? steps.set(id, { started: 0, ended: 0, allowed: null }).get(id);
  for (const event of events) {
    if (!('step' in event) || event.step === undefined) continue;
    const step = stepOf(event.step);
    if (step === undefined) continue;
    if (event.type === 'steps_added')
      for (const { id, type, fields } of event.data.steps) {
        const added = stepOf(id);
        if (added !== undefined && type === 'agent_tool' && fields?.tool === 'send') added.allowed = 0;
      }
    if (event.type === 'task_completed' && event.data.decision === 'repeat') step.allowed = (step.allowed ?? 0) + 1;
    if (step.ended > 0) note(`${event.type} of ${event.step} after its end`);
    // Starting an expanded step again for its next expansion is not a repetition.
    if (event.type === 'step_started' && !/^agent$/.test(event.step)) step.started += 1;
    if (['step_completed', 'step_failed', 'step_cancelled'].includes(event.type)) step.ended += 1;
  }
  return steps;
}

/** Returns a problem unless each call in the messages that the model read last is answered exactly once. */
function transcriptProblems(runId: string, { turns }: World): string[] {
  const called: string[] = [];
  const answered: string[] = [];
  for (const { role, tool_calls = [], tool_call_id = '' } of turns.get(runId)?.messages ?? []) {
    if (role === 'tool') answered.push(tool_call_id);
    called.push(...tool_calls.map(({ id }) => id));
  }
  if (called.toSorted().join() === answered.toSorted().join()) return [];
  return [`${runId}: the calls ${called.join()} have the results ${answered.join()}`];
}

type Message = { id: string; role: string; parts: { type: string; text?: string }[]; metadata: { status: string } };

/** Returns problems unless the thread has exactly the accepted messages in order, each with its complete answer. */
async function threadProblems(client: Client, threadId: string, sent: readonly string[]): Promise<string[]> {
  const { body } = await client.call('GET', `/v1/chat/threads/${threadId}/messages`);
  const messages = body.messages as Message[];
  const shown = messages.map(({ id, role, parts, metadata: { status } }) => {
    const text = parts.flatMap(part => (part.type === 'text' ? (part.text ?? '') : [])).join('');
    return role === 'user' ? id : `${status} ${text}`;
  });
  const answers = [ANSWER, SHORT_ANSWER];
  const expected = sent.flatMap((id, at) => [id, `completed ${answers[at]}`]);
  return shown.join('\n') === expected.join('\n') ? [] : [`thread ${threadId}: ${shown.join(' | ')}`];
}
