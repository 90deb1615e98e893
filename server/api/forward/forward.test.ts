import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operation, type StreamFrame, streamOperation } from '../../operation/operation.ts';
import { createRequestLimiter, type RequestLimiter } from '../../operation/rate-limits.ts';
import type { Owner } from '../../orchestrator/ports/orchestrator.ts';
import { systemClock } from '../../platform/clock.ts';
import { unavailable } from '../../platform/errors.ts';
import { createTestPat, createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { startTestNode, type TestNode, testSeal } from '../../testing/two-nodes.ts';

const common = { tag: 'Things', summary: 'For tests' } as const;
/** The calls that each node has carried out, by the name of the node. */
const calls: { node: string; address: string | undefined; requestId: string }[] = [];
const frames = new Map<string, { push(frame: StreamFrame): void; ended: boolean }>();

function operationsOf(node: string) {
  return [
    operation({
      ...common,
      name: 'things_write',
      method: 'POST',
      path: '/v1/things/{id}',
      status: 201,
      access: 'project_contributor',
      scope: 'workflow:write',
      headers: ['Idempotency-Key'],
      input: z.strictObject({ id: z.string(), text: z.string().optional(), fail: z.boolean().optional() }),
      output: z.strictObject({ by: z.string(), text: z.string(), key: z.string().nullable() }),
      mcp: { group: 'core' },
      async run(ctx, { text = '', fail = false }) {
        calls.push({ node, address: ctx.clientAddress, requestId: ctx.requestId });
        if (fail) throw unavailable('not_leading', 'In the middle.');
        ctx.responseHeaders.set('ETag', '"7"');
        return { by: node, text, key: ctx.headers.get('idempotency-key') ?? null };
      },
    }),
    operation({
      ...common,
      name: 'things_read',
      method: 'GET',
      path: '/v1/things',
      status: 200,
      access: 'project_viewer',
      scope: 'workflow:read',
      input: z.strictObject({ live: z.boolean().optional() }),
      output: z.strictObject({ by: z.string() }),
      run: async (_, { live = false }) => {
        if (live && node === 'near') throw unavailable('not_leading', 'Not here.');
        return { by: node };
      },
    }),
    streamOperation({
      ...common,
      name: 'things_stream',
      method: 'GET',
      path: '/v1/things/{id}/stream',
      access: 'project_viewer',
      scope: 'workflow:read',
      input: z.strictObject({ id: z.string() }),
      output: z.unknown(),
      async run({ stream }, { id }) {
        if (node === 'near') throw unavailable('not_leading', 'Not here.');
        return feedOf(id, stream?.signal);
      },
    }),
  ];
}

async function* feedOf(id: string, signal: AbortSignal | undefined): AsyncGenerator<StreamFrame, void> {
  const waiting: StreamFrame[] = [];
  let wake: () => void = () => undefined;
  const feed = {
    ended: false,
    push(frame: StreamFrame) {
      waiting.push(frame);
      wake();
    },
  };
  frames.set(id, feed);
  signal?.addEventListener('abort', () => {
    feed.ended = true;
    wake();
  });
  while (!signal?.aborted) {
    const next = waiting.shift();
    if (next !== undefined) yield next;
    else
      await new Promise<void>(resolve => {
        wake = resolve;
      });
  }
}

let db: TestDatabase;
let tenant: TestTenant;
let token: string;
let near: TestNode;
let far: TestNode;
let limiter: RequestLimiter;

beforeAll(async () => {
  db = await createTestDatabase();
  const services = createTestServices(db);
  tenant = await createTestTenant(services, { slug: 'acme' });
  token = (await createTestPat(services, tenant.contributor, ['workflow:read', 'workflow:write'])).token;
});
beforeEach(async () => {
  calls.length = 0;
  const now = systemClock.now();
  limiter = createRequestLimiter({ principal: 5, address: 100, signIn: 0, wrongCodes: 0 }, { now: () => now });
  near = await startTestNode('near', createTestServices(db, { rateLimiter: limiter }), operationsOf('near'));
  const closed = createRequestLimiter({ principal: 1, address: 1, signIn: 0, wrongCodes: 0 }, systemClock);
  far = await startTestNode('far', createTestServices(db, { rateLimiter: closed }), operationsOf('far'));
  far.owner = { kind: 'here' };
  near.owner = ownerAt(far);
});
afterEach(async () => {
  await near.close();
  await far.close();
});
afterAll(() => db.close());

const ownerAt = ({ url }: { url: string }): Owner => ({ kind: 'node', id: 'far', url });

type Answer = { status: number; headers: IncomingMessage['headers']; text: string };

/** Sends a request with headers that `fetch` does not send. */
function send(
  method: string,
  url: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers };
    const request = httpRequest(url, { method, headers: all }, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', part => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
const write = (node: TestNode, body: unknown = { text: 'a' }, headers: Record<string, string> = {}) =>
  send('POST', `${node.url}/v1/things/1`, { body: JSON.stringify(body), headers });

describe('a write', () => {
  test('is executed by the node that leads the workspace, and returns its answer', async () => {
    const text = 'x'.repeat(5_000);
    const asked = { 'Idempotency-Key': 'k', 'X-Request-Id': 'mine', 'Accept-Encoding': 'gzip' };
    const url = (node: TestNode) => `${node.url}/v1/things/1`;
    const body = JSON.stringify({ text });
    const there = await send('POST', url(far), { body, headers: asked });
    const here = await send('POST', url(near), { body, headers: asked });
    expect([here.status, there.status]).toEqual([201, 201]);
    const { date: _, 'ratelimit-limit': limit, ...headers } = here.headers;
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', etag: '"7"', 'x-request-id': 'mine' });
    expect(Object.keys(here.headers).sort()).toEqual(Object.keys(there.headers).sort());
    expect(limit).toBe('5');
    expect(here.text).toBe(there.text);
    expect(calls.map(({ node }) => node)).toEqual(['far', 'far']);
    expect(near.outcomes).toEqual(['answered']);
  });

  test('keeps one request id on its way, and the client’s address', async () => {
    const { headers } = await write(near);
    expect(calls).toEqual([{ node: 'far', address: '127.0.0.1', requestId: headers['x-request-id'] }]);
  });

  test('counts once against the limits, where it arrives', async () => {
    const answers: number[] = [];
    for (let at = 0; at < 7; at++) answers.push((await write(near)).status);
    // The other node allows one request a minute.
    expect(answers).toEqual([201, 201, 201, 201, 201, 429, 429]);
  });

  test('is refused here if its sender is unknown, its body too large or cut short', async () => {
    const unknown = await write(near, {}, { Authorization: 'Bearer pat_unknown' });
    expect(unknown.status).toBe(401);
    const large = await send('POST', `${near.url}/v1/things/1`, {
      body: JSON.stringify({ text: 'x'.repeat(1_100_000) }),
    });
    expect(large.status).toBe(413);
    expect(near.outcomes).toEqual([]);
  });

  test('of a workspace without a known leader is executed locally', async () => {
    near.owner = { kind: 'unknown' };
    const { text } = await send('POST', `${near.url}/v1/things/1`, { body: '{}' });
    expect(JSON.parse(text).by).toBe('near');
  });

  test('reaches a leader that is found while it waits', async () => {
    near.owner = { kind: 'node', id: 'gone', url: 'http://127.0.0.1:1' };
    const answer = send('POST', `${near.url}/v1/things/1`, { body: '{}' });
    await expect.poll(() => limiterUsed()).toBe(1);
    near.owner = ownerAt(far);
    expect(JSON.parse((await answer).text).by).toBe('far');
  });

  test('that reaches no node is 503 within the time of the retries', async () => {
    near.owner = { kind: 'node', id: 'gone', url: 'http://127.0.0.1:1' };
    const { status, headers, text } = await send('POST', `${near.url}/v1/things/1`, { body: '{}' });
    expect([status, headers['retry-after'], JSON.parse(text).code]).toEqual([503, '2', 'not_leading']);
    expect(near.outcomes).toEqual(['undelivered']);
    expect(calls).toEqual([]);
  });

  test('whose answer breaks off is 503, and not sent again', async () => {
    let received = 0;
    const broken = await startBroken(socket => {
      received += 1;
      socket.write('HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{"by":');
      socket.end();
    });
    near.owner = ownerAt(broken);
    const { status, headers, text } = await send('POST', `${near.url}/v1/things/1`, { body: '{}' });
    expect([status, headers['retry-after'], JSON.parse(text).code]).toEqual([503, '2', 'outcome_unknown']);
    expect(received).toBe(1);
    expect(near.outcomes).toEqual(['unanswered']);
    await broken.close();
  });

  test('refused by the engine in the middle is not sent again', async () => {
    const { status } = await send('POST', `${near.url}/v1/things/1`, { body: '{"fail":true}' });
    expect(status).toBe(503);
    expect(calls).toHaveLength(1);
  });
});

async function limiterUsed(): Promise<number> {
  const { limit, remaining } = await limiter.take(
    'principal',
    `user:${tenant.contributor.userId}:${tenant.contributor.tenantId}`,
  );
  await limiter.refund('principal', `user:${tenant.contributor.userId}:${tenant.contributor.tenantId}`);
  return limit - remaining - 1;
}

describe('a forwarded request', () => {
  test('is not forwarded again, and its sender finds the leader', async () => {
    far.owner = ownerAt(near);
    const answer = send('POST', `${near.url}/v1/things/1`, { body: '{}' });
    await expect.poll(() => limiterUsed()).toBe(1);
    far.owner = { kind: 'here' };
    expect(JSON.parse((await answer).text).by).toBe('far');
    expect(far.outcomes).toEqual([]);
  });

  test('between two nodes that take each other for the leader is 503', async () => {
    far.owner = ownerAt(near);
    const { status, headers } = await send('POST', `${near.url}/v1/things/1`, { body: '{}' });
    expect([status, headers['x-baton-forwarded']]).toEqual([503, undefined]);
    expect(calls).toEqual([]);
  });

  test('with a header that no node wrote for it is 400', async () => {
    const target = '/v1/things/1';
    const host = new URL(far.url).host;
    const sealFor = (method: string, path: string, bearer = token) =>
      testSeal().seal(
        { from: 'near', address: '203.0.113.9' },
        { method, target: path, header: name => ({ host, authorization: `Bearer ${bearer}` })[name] },
      );
    const sendWith = (value: string) =>
      send('POST', far.url + target, { body: '{}', headers: { 'X-Baton-Forwarded': value } });
    const forged = [
      '',
      'near',
      sealFor('POST', '/v1/other'),
      sealFor('DELETE', target),
      sealFor('POST', target, 'other'),
    ];
    for (const value of [...forged, sealFor('POST', target).replace('203.0.113.9', '203.0.113.8')]) {
      const { status, text } = await sendWith(value);
      expect([status, JSON.parse(text).code], value).toEqual([400, 'forwarded_header_invalid']);
    }
    expect(calls).toEqual([]);
    expect((await sendWith(sealFor('POST', target))).status).toBe(201);
    expect(calls.map(({ address }) => address)).toEqual(['203.0.113.9']);
  });
});

describe('a read', () => {
  test('is answered by the node that receives it', async () => {
    expect((await send('GET', `${near.url}/v1/things`)).text).toBe('{"by":"near"}');
  });

  test('that only the leader can answer is answered by it', async () => {
    expect((await send('GET', `${near.url}/v1/things?live=true`)).text).toBe('{"by":"far"}');
    const query = encodeURIComponent('{"live":true}');
    const { text } = await send('GET', `${near.url}/api/trpc/things_read?input=${query}`);
    expect(JSON.parse(text)).toEqual({ result: { data: { by: 'far' } } });
  });
});

describe('the other surfaces', () => {
  const mutate = (node: TestNode, names: string, body: unknown) =>
    send('POST', `${node.url}/api/trpc/${names}${names.includes(',') ? '?batch=1' : ''}`, {
      body: JSON.stringify(body),
    });

  test('forward mutations, alone and in a batch that counts each', async () => {
    expect(JSON.parse((await mutate(near, 'things_write', { id: '1' })).text).result.data.by).toBe('far');
    const { text, headers } = await mutate(near, 'things_write,things_write', { 0: { id: '1' }, 1: { id: '2' } });
    expect(JSON.parse(text).map((each: { result: { data: { by: string } } }) => each.result.data.by)).toEqual([
      'far',
      'far',
    ]);
    expect(headers['ratelimit-remaining']).toBe('2');
    const over = await mutate(near, 'things_write,things_write,things_write', { 0: {}, 1: {}, 2: {} });
    expect(over.text).toContain('rate_limited');
  });

  test('say for each mutation that the leader cannot be reached', async () => {
    near.owner = { kind: 'node', id: 'gone', url: 'http://127.0.0.1:1' };
    const { status, text } = await mutate(near, 'things_write,things_write', { 0: { id: '1' }, 1: { id: '2' } });
    expect(status).toBe(503);
    const data = { code: 'not_leading', status: 503, httpStatus: 503 };
    expect(JSON.parse(text)).toMatchObject([{ error: { data } }, { error: { data } }]);
  });

  test('forward calls of tools', async () => {
    const params = { name: 'things_write', arguments: { id: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const { text } = await send('POST', `${near.url}/mcp`, { body, headers: { Accept: 'application/json' } });
    expect(JSON.parse(text).result.structuredContent.by).toBe('far');
  });
});

describe('a stream of events', () => {
  type Streaming = { response: IncomingMessage; text(): string; ended: Promise<'end' | 'broken'>; leave(): void };
  const open = (id: string): Promise<Streaming> =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}` };
      const request = httpRequest(`${near.url}/v1/things/${id}/stream`, { headers }, response => {
        let text = '';
        response.on('data', part => {
          text += part;
        });
        const ended = new Promise<'end' | 'broken'>(settle => {
          response.on('end', () => settle('end'));
          response.on('error', () => settle('broken'));
        });
        resolve({ response, text: () => text, ended, leave: () => request.destroy() });
      });
      request.on('error', reject);
      request.end();
    });
  const feed = (id: string) => {
    const found = frames.get(id);
    if (found === undefined) throw new Error('The stream is not open.');
    return found;
  };

  test('comes from the leader as it happens, and ends there when the client leaves', async () => {
    const stream = await open('a');
    expect(stream.response.headers['content-type']).toContain('text/event-stream');
    await expect.poll(() => stream.text()).toBe('retry: 1000\n\n');
    feed('a').push({ id: '1', json: '{}' });
    await expect.poll(() => stream.text()).toContain('id: 1\ndata: {}\n\n');
    stream.leave();
    await expect.poll(() => feed('a').ended).toBe(true);
  });

  test('ends between two events when the leader dies, so that the client reconnects', async () => {
    const whole = await startBroken(socket =>
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n',
      ),
    );
    near.owner = ownerAt(whole);
    const stream = await open('b');
    await expect.poll(() => stream.text()).toBe('data: 1\n\n');
    await whole.close();
    expect(await stream.ended).toBe('end');
  });

  test('is cut off within an event when the leader dies', async () => {
    const part = await startBroken(socket =>
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: 1\r\n',
      ),
    );
    near.owner = ownerAt(part);
    const stream = await open('c');
    await expect.poll(() => stream.text()).toBe('data: 1');
    await part.close();
    expect(await stream.ended).toBe('broken');
  });
});

/** Starts a node that answers with these bytes. Closing it breaks its connections. */
async function startBroken(answer: (socket: Socket) => unknown) {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.resetAndDestroy();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
