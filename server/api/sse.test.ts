import { get, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { MAX_BEHIND_BYTES } from '../domains/runs/events/stream.ts';
import { runOperations } from '../domains/runs/operations.ts';
import type { Principal } from '../operation/context.ts';
import { type StreamFrame, streamOperation } from '../operation/operation.ts';
import type { Alarm } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import { startTestApi, type TestApi } from '../testing/api.ts';
import { insertRun, insertWorkflow, liveEnd, liveEvent, TestFeed } from '../testing/event-feed.ts';
import {
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
} from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import type { OpenStreams } from './open-streams.ts';
import { createRegistry } from './registry.ts';
import { EventStream } from './sse.ts';

let db: TestDatabase;
let api: TestApi;
let tenant: TestTenant;
let other: TestTenant;
let token: string;
let workflowId: string;
const feed = new TestFeed();
const operations = runOperations.filter(({ name }) => name === 'runs_stream_events');
const services = (overrides = {}) => createTestServices(db, { orchestrator: feed.orchestrator(), ...overrides });
const clients: Client[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  tenant = await createTestTenant(services(), { slug: 'acme' });
  other = await createTestTenant(services(), { slug: 'other' });
  token = await patOf(tenant.viewer);
  workflowId = await insertWorkflow(db, tenant.viewer);
  api = await startTestApi(services(), operations, { stream: { recheckEveryMs: 20 } });
});
afterEach(async () => {
  feed.onSubscribe = () => undefined;
  for (const client of clients.splice(0)) client.leave();
  // Streams end when their clients have left.
  await expect.poll(() => feed.size).toBe(0);
});
afterAll(async () => {
  await api.close();
  await db.close();
});

const patOf = async (principal: Principal) => (await createTestPat(services(), principal, ['workflow:read'])).token;
const scope = (runId: string) => ({
  tenantId: tenant.viewer.tenantId,
  projectId: tenant.viewer.projectId,
  workflowId,
  runId,
});
const run = (count: number, status: 'running' | 'completed' = 'running') =>
  insertRun(db, { ...scope(''), workflowId }, count, status);
const liveEventOf = (runId: string, seq: number, lines?: string[]) => liveEvent(scope(runId), seq, lines);

type Event = { id: number; data: { seq: number; event_type: string } };
type Client = {
  status: number;
  headers: Headers;
  next: () => Promise<Event>;
  /** All events until the server ends the stream. */
  rest: () => Promise<Event[]>;
  leave: () => void;
};

/** Opens a stream with the viewer's token. A client reads event by event, as EventSource does. */
async function open(
  runId: string,
  { query = '', headers = {}, at = api, workflow = workflowId }: Partial<Opening> = {},
): Promise<Client> {
  const leaving = new AbortController();
  const response = await fetch(`${at.url}/v1/workflows/${workflow}/runs/${runId}/stream${query}`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  });
  const events = eventsOf(response);
  const next = async () => {
    const { value, done } = await events.next();
    return done ? expect.unreachable('the stream has ended') : value;
  };
  const rest = async () => {
    const all: Event[] = [];
    for await (const event of events) all.push(event);
    return all;
  };
  const client = { status: response.status, headers: response.headers, next, rest, leave: () => leaving.abort() };
  clients.push(client);
  return client;
}
type Opening = { query: string; headers: Record<string, string>; at: TestApi; workflow: string };

async function* eventsOf({ body }: Response): AsyncGenerator<Event, void> {
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const match = /^id: (\d+)\ndata: (.*)$/.exec(text.slice(0, end));
      text = text.slice(end + 2);
      if (match) yield { id: Number(match[1]), data: JSON.parse(match[2] ?? '') };
    }
  }
}

const refusal = async (runId: string, opening: Partial<Opening> = {}) => {
  const { at = api, workflow = workflowId, query = '', headers = {} } = opening;
  const response = await fetch(`${at.url}/v1/workflows/${workflow}/runs/${runId}/stream${query}`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
  return { status: response.status, body: await response.json() };
};

describe('events', () => {
  test('are those of the log, then the live ones, without gap or duplicate, until the run has ended', async () => {
    const id = await run(250);
    // Committed during the replay: once already in the log, once beyond it.
    feed.onSubscribe = () => feed.publish([liveEventOf(id, 250), liveEventOf(id, 251)]);
    const client = await open(id, { query: '?after=3' });
    const seqs: number[] = [];
    while (seqs.at(-1) !== 251) seqs.push((await client.next()).id);
    expect(seqs).toEqual(Array.from({ length: 248 }, (_, index) => index + 4));
    feed.publish([liveEventOf(id, 251), liveEventOf(id, 252)]);
    feed.publish([liveEnd(scope(id), 253), liveEventOf(id, 254)]);
    expect(await client.rest()).toEqual([
      {
        id: 252,
        data: {
          seq: 252,
          event_type: 'step_log',
          run_id: id,
          workflow_id: workflowId,
          step_id: 'a',
          attempt: 1,
          data: { lines: ['live'] },
          created_at: '1970-01-01T00:00:00.000Z',
        },
      },
      { id: 253, data: expect.objectContaining({ event_type: 'state_changed' }) },
    ]);
  });

  test('continue after the last id that a client has, even if its address names another position', async () => {
    const id = await run(5, 'completed');
    const client = await open(id, { query: '?after=1', headers: { 'Last-Event-ID': '3' } });
    expect((await client.rest()).map(event => event.id)).toEqual([4, 5]);
  });

  test('of a run that has ended are sent once; then 204 ends the reconnecting', async () => {
    const id = await run(3, 'completed');
    expect((await (await open(id)).rest()).map(event => event.id)).toEqual([1, 2, 3]);
    const again = await open(id, { headers: { 'Last-Event-ID': '3' } });
    expect([again.status, await again.rest()]).toEqual([204, []]);
  });

  test('that follow the end of a run are sent as well, and end the stream', async () => {
    const id = await run(3, 'completed');
    const late = { runId: id, seq: 4, eventType: 'step_log', stepId: 'a', attempt: 1, data: {}, createdAt: new Date() };
    await db.prisma.runEvent.create({ data: late });
    await db.prisma.run.update({ where: { id }, data: { lastSeq: 4 } });
    expect((await (await open(id, { query: '?after=3' })).rest()).map(event => event.id)).toEqual([4]);
  });

  test('of a refused start are a single event that reports the refusal', async () => {
    const runId = newId();
    const { tenantId, projectId } = scope(runId);
    const row = { runId, tenantId, projectId, workflowId, code: 'invalid_input', message: 'No.' };
    await db.prisma.runRejection.create({ data: { ...row, createdAt: new Date(0) } });
    expect(await (await open(runId)).rest()).toMatchObject([{ id: 1, data: { event_type: 'run_rejected' } }]);
    expect((await open(runId, { query: '?after=1' })).status).toBe(204);
  });

  test('end the stream after a gap in the feed or its interruption, so that the client reads the log', async () => {
    const id = await run(2);
    const gapped = await open(id, { query: '?after=1' });
    expect((await gapped.next()).id).toBe(2);
    feed.publish([liveEventOf(id, 4)]);
    expect(await gapped.rest()).toEqual([]);
    const interrupted = await open(id, { query: '?after=1' });
    expect((await interrupted.next()).id).toBe(2);
    feed.interrupt();
    expect(await interrupted.rest()).toEqual([]);
  });

  test('of another project are not shown', async () => {
    const id = await run(1);
    const client = await open(id);
    await client.next();
    const theirs = liveEventOf(id, 2);
    theirs.item.projectId = newId();
    feed.publish([theirs, liveEventOf(id, 2), liveEnd(scope(id), 3)]);
    expect((await client.rest()).map(event => event.id)).toEqual([2, 3]);
  });
});

describe('opening', () => {
  test('answers immediately, uncompressed and with headers that keep proxies and caches from buffering', async () => {
    const client = await open(await run(1), { headers: { 'Accept-Encoding': 'gzip, br' } });
    expect(client.status).toBe(200);
    expect(Object.fromEntries(client.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    expect(client.headers.has('content-encoding')).toBe(false);
  });

  test('HEAD begins no stream', async () => {
    const response = await fetch(`${api.url}/v1/workflows/${workflowId}/runs/${await run(1)}/stream`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${token}` },
    });
    expect([response.status, await response.text(), feed.size]).toEqual([200, '', 0]);
  });

  test('without a credential is 401, without the scope 403', async () => {
    const id = await run(1);
    expect((await refusal(id, { headers: { Authorization: '' } })).status).toBe(401);
    const { token: runner } = await createTestPat(services(), tenant.contributor, ['workflow:run']);
    expect(await refusal(id, { headers: { Authorization: `Bearer ${runner}` } })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
  });

  test("another tenant's run, one of another workflow and an unknown one are 404", async () => {
    const id = await run(1);
    expect((await refusal(id, { headers: { Authorization: `Bearer ${await patOf(other.viewer)}` } })).status).toBe(404);
    expect((await refusal(id, { workflow: await insertWorkflow(db, tenant.viewer) })).status).toBe(404);
    expect((await refusal(newId())).status).toBe(404);
  });

  test.each([
    ['?after=-1', {}],
    ['?after=x', {}],
    ['?nope=1', {}],
    ['', { 'Last-Event-ID': 'x' }],
    ['', { 'Last-Event-ID': '1234567890' }],
  ])('%s %o is 422', async (query, headers) => {
    expect(await refusal(await run(1), { query, headers })).toMatchObject({
      status: 422,
      body: { code: 'validation_error' },
    });
  });

  test('where another process leads is 503, but a run that has ended can be read', async () => {
    const standby = { ...feed.orchestrator(), leads: () => false };
    const at = await startTestApi(services({ orchestrator: standby }), operations);
    try {
      expect(await refusal(await run(1), { at })).toMatchObject({ status: 503, body: { code: 'not_leading' } });
      expect(await (await open(await run(2, 'completed'), { at })).rest()).toHaveLength(2);
    } finally {
      await at.close();
    }
  });
});

describe('open streams', () => {
  test('are counted with the WebSockets, until their clients have left', async () => {
    const at = await startTestApi(services({ config: testConfig({ BATON_MAX_STREAMS_PER_USER: '2' }) }), operations);
    const id = await run(1);
    const socket = new WebSocket(`${at.url.replace('http', 'ws')}/v1/workflows/${workflowId}/stream`, [
      'bearer',
      token,
    ]);
    await new Promise(resolve => socket.once('open', resolve));
    const first = await open(id, { at });
    for (let n = 0; n < 2; n++) {
      expect(await refusal(id, { at })).toMatchObject({ status: 429, body: { code: 'too_many_streams' } });
    }
    first.leave();
    await expect.poll(async () => (await open(id, { at })).status).toBe(200);
    socket.terminate();
    await at.close();
  });

  test('that have ended, or were refused, count nothing', async () => {
    const at = await startTestApi(services({ config: testConfig({ BATON_MAX_STREAMS_PER_USER: '1' }) }), operations);
    const id = await run(1, 'completed');
    for (let n = 0; n < 3; n++) expect((await refusal(newId(), { at })).status).toBe(404);
    for (let n = 0; n < 3; n++) expect(await (await open(id, { at })).rest()).toHaveLength(1);
    await at.close();
  });

  test('end when the token is revoked; others stay', async () => {
    const { contributor } = await createTestTenant(services(), { slug: `t-${newId().slice(-8)}` });
    const workflow = await insertWorkflow(db, contributor);
    const own = { tenantId: contributor.tenantId, projectId: contributor.projectId, workflowId: workflow };
    const id = await insertRun(db, own, 1);
    const client = await open(id, { workflow, headers: { Authorization: `Bearer ${await patOf(contributor)}` } });
    await client.next();
    const ownRun = await run(1);
    const bystander = await open(ownRun);
    await bystander.next();
    await db.pool.query('UPDATE pats SET revoked_at = now() WHERE user_id = $1', [contributor.userId]);
    expect(await client.rest()).toEqual([]);
    feed.publish([liveEventOf(ownRun, 2)]);
    expect((await bystander.next()).id).toBe(2);
  });

  test('end when the server shuts down', async () => {
    const at = await startTestApi(services(), operations);
    const client = await open(await run(1), { at });
    await client.next();
    await at.close();
    expect(await client.rest()).toEqual([]);
  });

  test('of a client that does not read are cut off', async () => {
    const id = await run(1);
    const url = `${api.url}/v1/workflows/${workflowId}/runs/${id}/stream`;
    const response = await new Promise<IncomingMessage>(resolve =>
      get(url, { headers: { Authorization: `Bearer ${token}` } }, resolve),
    );
    const closed = new Promise(resolve => response.once('close', resolve));
    response.on('error', () => undefined);
    // The stream has reached the end of the log: later events are live.
    await new Promise<void>(resolve => {
      response.on('data', piece => String(piece).includes('id: 1\n') && resolve());
    });
    response.pause();
    const lines = ['x'.repeat(MAX_BEHIND_BYTES / 4)];
    // More than the buffers of the system and our own bound together. In turns, so that the server can write.
    for (let seq = 2; feed.size > 0; seq++) {
      feed.publish([liveEventOf(id, seq, lines)]);
      await new Promise(setImmediate);
    }
    response.resume();
    await closed;
    expect(response.complete).toBe(false);
  });
});

describe('as a fetch handler', () => {
  const request = (id: string, signal?: AbortSignal) =>
    new Request(`http://localhost/v1/workflows/${workflowId}/runs/${id}/stream`, {
      headers: { Authorization: `Bearer ${token}` },
      signal,
    });

  test('it streams, and ends with the run', async () => {
    const id = await run(2);
    const events = eventsOf(await api.fetchHandler(request(id)));
    expect((await events.next()).value).toMatchObject({ id: 1 });
    expect((await events.next()).value).toMatchObject({ id: 2 });
    feed.publish([liveEnd(scope(id), 3)]);
    expect((await events.next()).value).toMatchObject({ id: 3 });
    expect((await events.next()).done).toBe(true);
  });

  /** Opens a stream, and reads its retry time and one event. */
  const beginStream = async (signal?: AbortSignal) => {
    const { body } = await api.fetchHandler(request(await run(1), signal));
    const reader = body?.getReader();
    for (let n = 0; n < 2; n++) await reader?.read();
    expect(feed.size).toBe(1);
    return reader;
  };

  test('it ends when the body is cancelled, or the request', async () => {
    await (await beginStream())?.cancel();
    await expect.poll(() => feed.size).toBe(0);
    const leaving = new AbortController();
    await beginStream(leaving.signal);
    leaving.abort();
    await expect.poll(() => feed.size).toBe(0);
  });
});

describe('the text', () => {
  const counted: string[] = [];
  const streams = {
    count: () => undefined,
    watch: () => () => counted.push('unwatched'),
    metrics: { sockets: { opened: () => counted.push('opened'), closed: (code: number) => counted.push(`${code}`) } },
  } as unknown as OpenStreams;
  const client = { credential: { kind: 'none' }, header: () => undefined, may: () => true } as const;
  const textOf = (stream: EventStream, frames: AsyncIterable<StreamFrame>, alarm?: Alarm) =>
    stream
      .open(streams, { ...client, principal: tenant.viewer }, frames, {
        ...(alarm && { alarm }),
        check: () => undefined,
        failed: () => '{"error":"No."}',
      })
      .text[Symbol.asyncIterator]();

  test('has a comment every 15 s while nothing comes, and no timer once it has ended', async () => {
    const bells = new Set<() => void>();
    const delays: number[] = [];
    const alarm: Alarm = (delayMs, ring) => {
      delays.push(delayMs);
      bells.add(ring);
      return () => bells.delete(ring);
    };
    const stream = new EventStream();
    const ended = new Promise<void>(resolve => stream.connection.signal.addEventListener('abort', () => resolve()));
    async function* frames() {
      yield { id: '1', json: '{}' };
      await ended;
    }
    const text = textOf(stream, frames(), alarm);
    expect([(await text.next()).value, (await text.next()).value]).toEqual(['retry: 1000\n\n', 'id: 1\ndata: {}\n\n']);
    for (let n = 0; n < 2; n++) {
      const next = text.next();
      for (const ring of bells) {
        bells.delete(ring);
        ring();
      }
      expect((await next).value).toBe(': ping\n\n');
    }
    stream.abandon();
    expect((await text.next()).done).toBe(true);
    expect([bells.size, new Set(delays)]).toEqual([0, new Set([15_000])]);
    expect(counted.splice(0)).toEqual(['opened', 'unwatched', '1000']);
  });

  test('says that the frames failed, and ends', async () => {
    const broken = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('broken')) }) };
    const stream = new EventStream();
    const text = textOf(stream, broken);
    await text.next();
    expect((await text.next()).value).toBe('event: error\ndata: {"error":"No."}\n\n');
    expect((await text.next()).done).toBe(true);
    expect(stream.connection.signal.aborted).toBe(true);
  });
});

describe('declaring a stream', () => {
  const declared = streamOperation({
    name: 'numbers_stream',
    path: '/v1/numbers',
    tag: 'Numbers',
    summary: 'Count',
    access: 'project_viewer',
    scope: 'workflow:read',
    input: z.strictObject({}),
    output: z.strictObject({ n: z.number() }),
    run: async () =>
      (async function* () {
        yield { json: '{"n":1}' };
        yield { json: '{"m":2}' };
      })(),
  });

  test('is for callers with a credential, and for no tool', () => {
    expect(() => createRegistry([{ ...declared, mcp: { group: 'core' } }])).toThrow('no MCP tool');
  });

  test('a frame that its schema does not allow is found in tests', async () => {
    const at = await startTestApi(services(), [declared]);
    const response = await fetch(`${at.url}/v1/numbers`, { headers: { Authorization: `Bearer ${token}` } });
    expect(await response.text()).toMatch(
      /^retry: 1000\n\ndata: \{"n":1\}\n\nevent: error\ndata: \{"error":"The server failed/,
    );
    await at.close();
  });
});
