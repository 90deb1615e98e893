import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type FakeModel, startFakeModel } from '../../bin/fake-model/server.ts';
import type { Graph } from '../../server/orchestrator/core/index.ts';
import { newId } from '../../server/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { Balancer } from '../fixtures/balancer.ts';
import { Installation, type Service } from '../fixtures/service.ts';

/**
 * Two real nodes behind a load balancer. The tests of this file share them and are in order: the later ones kill nodes.
 */
let db: TestDatabase;
let installation: Installation;
let balancer: Balancer;
let model: FakeModel;
/** The node that leads, and the one that does not. */
let leader: Service;
let other: Service;
let waiting: string;
let quick: string;
let hooked: string;

const script = { id: 'one', type: 'lua_script', depends_on: [], script: 'return { n = input.n }' };
const asks = { id: 'ask', type: 'human_task', depends_on: ['one'], instructions: 'Go on?' };

beforeAll(async () => {
  db = await createTestDatabase();
  const cluster = { BATON_CLUSTER: 'on', BATON_SHARDS: '1' };
  const env = { ...cluster, BATON_ENABLE_AGENTS: 'true', BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' };
  installation = await Installation.create({ DATABASE_URL: db.url, ...env }, { cheapPasswords: true });
  model = await startFakeModel({ script: { answers: [{ match: {}, content: [{ text: 'Yes.' }] }] } });
  leader = await installation.launch();
  await until(leader, 'leading', 1);
  other = await installation.launch();
  await until(other, 'standby', 2);
  await until(leader, 'leading', 2);
  balancer = await Balancer.start(() => [leader.url, other.url]);
  quick = await publish('quick', { steps: [script] });
  hooked = await publish('hooked', { steps: [script] });
  waiting = await publish('waiting', { steps: [script, asks] });
}, 240_000);
afterAll(async () => {
  await balancer?.[Symbol.asyncDispose]();
  await installation?.[Symbol.asyncDispose]();
  await model?.close();
  await db?.close();
});

async function until(node: Service, orchestrator: string, members: number): Promise<void> {
  await node.until('ready');
  const is = async () => expect((await node.readyz()).body).toMatchObject({ orchestrator, members });
  await vi.waitFor(is, { timeout: 60_000, interval: 50 });
}

type Answer = { status: number; headers: Headers; body: Record<string, unknown> };
async function send(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${installation.pat}`, 'Content-Type': 'application/json', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** Publishes through the load balancer: half of these requests reach the node that does not lead. */
async function publish(name: string, graph: Graph | { steps: unknown[] }): Promise<string> {
  const created = await send(balancer.url, 'POST', '/v1/workflows', { name, graph });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const id = String(created.body.id);
  expect((await send(balancer.url, 'POST', `/v1/workflows/${id}/versions`, { changelog: 'first' })).status).toBe(201);
  return id;
}

const start = (url: string, workflow: string, runId: string) =>
  send(url, 'POST', `/v1/workflows/${workflow}/command`, { command: 'start', params: { run_id: runId, n: 1 } });
async function statusOf(runId: string): Promise<string | undefined> {
  const { rows } = await db.pool.query<{ status: string }>('SELECT status FROM runs WHERE id = $1', [runId]);
  return rows[0]?.status;
}

test('runs start through the node that does not lead, over each surface, and everyone sees them', async () => {
  const runs = [newId(), newId(), newId()] as const;
  expect((await start(other.url, quick, runs[0])).status).toBe(200);
  const input = { id: quick, command: 'start', params: { run_id: runs[1], n: 1 } };
  expect((await send(other.url, 'POST', '/api/trpc/workflows_execute_command', input)).status).toBe(200);
  const params = { name: 'workflows_execute_command', arguments: { ...input, params: { run_id: runs[2], n: 1 } } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const called = await send(other.url, 'POST', '/mcp', message, { Accept: 'application/json' });
  expect(called.body, JSON.stringify(called.body)).toMatchObject({
    result: { structuredContent: { run_id: runs[2] } },
  });
  for (const run of runs) await expect.poll(() => statusOf(run)).toBe('completed');
  // The same start again, at the other node, is the same run.
  expect((await start(leader.url, quick, runs[0])).status).toBe((await start(other.url, quick, runs[0])).status);
});

test('a webhook is refused where it arrives and accepted where it leads, with the same answers at both nodes', async () => {
  const deliver = await webhookOf(quick);
  for (const { url } of [leader, other]) {
    expect((await deliver(url, newId(), { id: newId() })).status).toBe(401);
    expect((await deliver(url, newId(), { text: 'other' })).status).toBe(401);
    const { status, body } = await deliver(url, newId());
    expect(status, JSON.stringify(body)).toBe(202);
    await expect.poll(() => statusOf(String(body.run_id))).toBe('completed');
  }
});

test('a header that no node wrote is refused by both', async () => {
  for (const { url } of [leader, other]) {
    const forged = { 'X-Baton-Forwarded': `node, ${Date.now()}, 203.0.113.1, ${'A'.repeat(43)}` };
    const answer = await send(url, 'POST', '/v1/workflows', {}, forged);
    expect([answer.status, answer.body.code]).toEqual([400, 'forwarded_header_invalid']);
  }
});

type Frame = { type?: string; event?: { seq: number } };

/** A client that comes back with its position, as the console does. */
function follow(url: () => string, workflow: string, runId: string) {
  const seen: number[] = [];
  let socket: WebSocket | undefined;
  let isDone = false;
  let ready = 0;
  const open = () => {
    const after = seen.at(-1) ?? 0;
    const address = `${url().replace('http', 'ws')}/v1/workflows/${workflow}/stream?run_id=${runId}&after=${after}`;
    socket = new WebSocket(address, { headers: { Authorization: `Bearer ${installation.pat}` } });
    socket.on('error', () => undefined);
    socket.on('message', data => {
      const frame = JSON.parse(String(data)) as Frame;
      if (frame.type === 'ready') ready += 1;
      if (frame.event !== undefined) seen.push(frame.event.seq);
    });
    socket.once('close', () => !isDone && setTimeout(open, 100));
  };
  open();
  return {
    seen,
    ready: () => ready,
    async [Symbol.asyncDispose]() {
      isDone = true;
      if (socket !== undefined && socket.readyState !== WebSocket.CLOSED) {
        socket.terminate();
        await once(socket, 'close');
      }
    },
  };
}

/** Reads server-sent events, and comes back with the id of the last one. */
function followEvents(url: () => string, workflow: string, runId: string) {
  const seen: number[] = [];
  const left = new AbortController();
  const read = async () => {
    const headers = { Authorization: `Bearer ${installation.pat}`, 'Last-Event-ID': String(seen.at(-1) ?? 0) };
    const path = `/v1/workflows/${workflow}/runs/${runId}/stream`;
    const response = await fetch(url() + path, { headers, signal: left.signal });
    if (response.status !== 200) return void (await response.text());
    let text = '';
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const id = /^id: (\d+)$/m.exec(event)?.[1];
        if (id !== undefined) seen.push(Number(id));
      }
    }
  };
  const done = (async () => {
    while (!left.signal.aborted) {
      await read().catch(() => undefined);
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  })();
  return {
    seen,
    async [Symbol.asyncDispose]() {
      left.abort();
      await done;
    },
  };
}

test('streams through the node that does not lead go on when the leader is killed, and what is on its way is done once', async () => {
  const run = newId();
  expect((await start(other.url, waiting, run)).status).toBe(200);
  await using socket = follow(() => other.url, waiting, run);
  await using events = followEvents(() => other.url, waiting, run);
  await expect.poll(() => socket.ready()).toBe(1);
  await expect.poll(async () => (await pendingTasks(run)).length).toBe(1);
  await expect.poll(() => socket.seen.length).toBeGreaterThan(0);
  await expect.poll(() => events.seen.length).toBeGreaterThan(0);

  const deliver = await webhookOf(hooked);
  const asking = Array.from({ length: 5 }, newId);
  for (const id of asking) expect((await start(other.url, waiting, id)).status).toBe(200);
  for (const id of asking) await expect.poll(async () => (await pendingTasks(id)).length).toBe(1);
  const ids = Array.from({ length: 20 }, newId);
  const keys = Array.from({ length: 10 }, newId);
  const requests = [
    ...ids.map(id => () => start(other.url, quick, id)),
    ...keys.map(key => () => deliver(other.url, key)),
    ...asking.map(id => () => complete(other.url, id)),
  ];
  const began = performance.now();
  const asked = requests.map(async request => ({ ...(await request()), ms: performance.now() - began }));
  await Promise.race(asked);
  await leader.kill();
  for (const { status, headers, ms } of await Promise.all(asked)) {
    expect([200, 202, 503]).toContain(status);
    if (status === 503) expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(ms).toBeLessThan(15_000);
  }
  await expect.poll(async () => (await other.readyz()).body.orchestrator).toBe('leading');
  // A repetition with the same id or key does it once; 409 says that it was done.
  for (const request of requests) expect([200, 202, 409]).toContain((await request()).status);
  for (const id of [...ids, ...asking]) await expect.poll(() => statusOf(id)).toBe('completed');
  const runs = await db.pool.query('SELECT 1 FROM runs WHERE workflow_id = $1', [hooked]);
  expect(runs.rowCount).toBe(keys.length);

  leader = await installation.launch();
  [leader, other] = [other, leader];
  await until(other, 'standby', 2);
  const answered = await complete(other.url, run);
  expect(answered.status, JSON.stringify(answered.body)).toBeLessThan(300);
  await expect.poll(() => statusOf(run)).toBe('completed');
  const { rows } = await db.pool.query<{ seq: number }>('SELECT seq FROM run_events WHERE run_id = $1 ORDER BY seq', [
    run,
  ]);
  const all = rows.map(({ seq }) => Number(seq));
  await expect.poll(() => socket.seen).toEqual(all);
  await expect.poll(() => events.seen).toEqual(all);
});

test('a stop and a message of a chat that wait at the leader for their commit when it is killed are done once when they are repeated', async () => {
  const runs = Array.from({ length: 3 }, newId);
  for (const id of runs) expect((await start(other.url, waiting, id)).status).toBe(200);
  for (const id of runs) await expect.poll(async () => (await pendingTasks(id)).length).toBe(1);
  const threads = await openChats(3);
  const stops = runs.map(id => () => stop(other.url, id));
  const messages = threads.map(id => () => say(other.url, id));

  // While nothing can be committed, the leader has every request and can answer none.
  const lock = await db.pool.connect();
  let asked: Promise<Answer & { ms: number }>[];
  try {
    await lock.query('BEGIN; LOCK TABLE run_events IN SHARE MODE');
    const began = performance.now();
    const ask = (requests: (() => Promise<Answer>)[]) =>
      requests.map(async request => ({ ...(await request()), ms: performance.now() - began }));
    const stopping = ask(stops);
    await expect.poll(waitsForCommit).toBe(true);
    asked = [...stopping, ...ask(messages)];
    await expect.poll(async () => (await saidIn(threads)).length).toBe(threads.length);
    await leader.kill();
  } finally {
    // The database may still commit the statement of the dead leader.
    await lock.query('ROLLBACK');
    lock.release();
  }
  for (const { status, headers, ms } of await Promise.all(asked)) {
    expect([200, 202, 503]).toContain(status);
    if (status === 503) expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(ms).toBeLessThan(15_000);
  }
  await expect.poll(async () => (await other.readyz()).body.orchestrator).toBe('leading');

  for (const request of stops) expect([200, 202, 409]).toContain((await request()).status);
  const answers: Answer[] = [];
  for (const request of messages) answers.push(await request());
  expect(answers.map(({ status }) => status)).toEqual(threads.map(() => 202));
  for (const id of runs) await expect.poll(() => statusOf(id)).toBe('stopped');
  const answering = answers.map(({ body }) => String(body.run_id));
  for (const id of answering) await expect.poll(() => statusOf(id)).toBe('completed');
  const ended = await db.pool.query(
    "SELECT 1 FROM run_events WHERE run_id = ANY($1) AND event_type = 'state_changed' AND data->>'to' = 'stopped'",
    [runs],
  );
  expect(ended.rowCount).toBe(runs.length);
  // Each message was stored, answered by one run, and shown to the model once.
  expect((await saidIn(threads)).sort()).toEqual(answering.sort());
  expect(model.requests.map(({ headers }) => String(headers['idempotency-key']).split(':')[0]).sort()).toEqual(
    answering,
  );
});

const stop = (url: string, run: string) =>
  send(url, 'POST', `/v1/workflows/${waiting}/command`, { command: 'stop', params: { run_id: run } });
const say = (url: string, thread: string) =>
  send(url, 'POST', `/v1/chat/threads/${thread}/messages`, { text: 'Is it open?', message_id: thread });

/** Creates an agent that the model of this file answers for, and returns the ids of new chats with it. */
async function openChats(count: number): Promise<string[]> {
  const post = async (path: string, body: object) => {
    const answer = await send(other.url, 'POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return String(answer.body.id);
  };
  await post('/v1/llm-provider-keys', { provider: 'openai_compatible', base_url: model.url, models: ['scripted'] });
  const agent_id = await post('/v1/agents', { name: 'Clerk', model: 'openai_compatible/scripted' });
  const threads: string[] = [];
  for (let n = 0; n < count; n += 1) threads.push(await post('/v1/chat/threads', { agent_id }));
  return threads;
}

/** Returns the run of each message that the threads have been asked to answer. */
async function saidIn(threads: string[]): Promise<string[]> {
  const { rows } = await db.pool.query<{ run_id: string }>(
    "SELECT run_id FROM chat_messages WHERE thread_id = ANY($1) AND role = 'assistant'",
    [threads],
  );
  return rows.map(({ run_id }) => run_id);
}

/** Returns whether a statement waits until it may write events. */
async function waitsForCommit(): Promise<boolean> {
  const { rowCount } = await db.pool.query(
    "SELECT FROM pg_locks WHERE relation = 'run_events'::regclass AND NOT granted",
  );
  return rowCount !== 0;
}

const complete = (url: string, run: string) =>
  send(url, 'POST', `/v1/workflows/${waiting}/runs/${run}/tasks/ask/complete`, { approved: true });

/** Returns a function that delivers to a new webhook of the workflow, and signs by itself unless a signature is given. */
async function webhookOf(workflow: string) {
  const hook = await send(balancer.url, 'POST', '/v1/inbound-webhooks', { workflow_id: workflow, name: newId() });
  expect(hook.status, JSON.stringify(hook.body)).toBe(201);
  const own = String((hook.body.subscription as { id?: string } | undefined)?.id);
  const signed = (text: string) =>
    `sha256=${createHmac('sha256', String(hook.body.signing_secret)).update(text).digest('hex')}`;
  // With the same key, it is the same delivery.
  return (url: string, key: string, { id = own, text = JSON.stringify({ n: key }) } = {}) =>
    send(
      url,
      'POST',
      `/v1/inbound-webhooks/${id}`,
      { n: key },
      {
        'X-Service-Signature': signed(text),
        'Idempotency-Key': key,
      },
    );
}

async function pendingTasks(run: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ step_id: string }>(
    "SELECT step_id FROM human_tasks WHERE run_id = $1 AND state = 'pending'",
    [run],
  );
  return rows.map(({ step_id }) => step_id);
}
