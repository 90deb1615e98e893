import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { newId } from '../../platform/ids.ts';
import { insertRun, insertWorkflow, liveEvent, TestFeed } from '../../testing/event-feed.ts';
import { createTestPat, createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { startTestNode, type TestNode } from '../../testing/two-nodes.ts';

let db: TestDatabase;
let tenant: TestTenant;
let token: string;
let workflowId: string;
let near: TestNode;
let far: TestNode;
const feed = new TestFeed();
const sockets: WebSocket[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  const services = createTestServices(db, { orchestrator: feed.orchestrator() });
  tenant = await createTestTenant(services, { slug: 'acme' });
  token = (await createTestPat(services, tenant.viewer, ['workflow:read'])).token;
  workflowId = await insertWorkflow(db, tenant.viewer);
  far = await startTestNode('far', services, []);
  far.owner = { kind: 'here' };
  near = await startTestNode('near', createTestServices(db), []);
  near.owner = { kind: 'node', id: 'far', url: far.url };
});
afterEach(async () => {
  near.owner = { kind: 'node', id: 'far', url: far.url };
  for (const socket of sockets.splice(0)) socket.terminate();
  await expect.poll(() => feed.size).toBe(0);
});
afterAll(async () => {
  await near.close();
  await far.close();
  await db.close();
});

type Client = { socket: WebSocket; messages: string[]; closed: Promise<[number, string]> };

function openSocket(query = '', headers: Record<string, string> = { Authorization: `Bearer ${token}` }): Client {
  const url = `${near.url.replace('http', 'ws')}/v1/workflows/${workflowId}/stream${query}`;
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  const messages: string[] = [];
  socket.on('message', data => messages.push(String(data)));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').then(([code, why]): [number, string] => [Number(code), String(why)]);
  return { socket, messages, closed };
}

const scope = (runId: string) => {
  const { tenantId, projectId } = tenant.viewer;
  return { tenantId, projectId, workflowId, runId };
};

test('a socket sends what the leader has, from the log and live, until the client leaves', async () => {
  const runId = await insertRun(db, scope(''), 3);
  const { socket, messages } = openSocket(`?run_id=${runId}&after=0`);
  await expect.poll(() => messages.length).toBe(4);
  feed.publish([liveEvent(scope(runId), 4)]);
  await expect.poll(() => messages.length).toBe(5);
  expect(messages.map(text => JSON.parse(text).event?.seq)).toEqual([1, 2, 3, undefined, 4]);
  const ponged = once(socket, 'pong');
  socket.ping();
  await ponged;
  socket.close();
  await expect.poll(() => feed.size).toBe(0);
});

test('a client that pauses its reading gets every event', async () => {
  const runId = newId();
  const client = openSocket(`?run_id=${runId}`);
  await expect.poll(() => client.messages.length).toBe(1);
  client.socket.pause();
  const lines = ['x'.repeat(50_000)];
  for (let seq = 1; seq <= 60; seq++) feed.publish([liveEvent(scope(runId), seq, lines)]);
  client.socket.resume();
  await expect.poll(() => client.messages.length, { timeout: 10_000 }).toBe(61);
  expect(client.messages.slice(1).map(text => JSON.parse(text).event?.seq)).toEqual(
    Array.from({ length: 60 }, (_, at) => at + 1),
  );
});

test('a refusal of the leader reaches the client', async () => {
  const socket = new WebSocket(`${near.url.replace('http', 'ws')}/v1/workflows/${newId()}/stream`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const [, response] = await once(socket, 'unexpected-response');
  expect(response.statusCode).toBe(404);
  expect(near.outcomes.at(-1)).toBe('answered');
  const unknown = new WebSocket(`${near.url.replace('http', 'ws')}/v1/workflows/${newId()}/stream`);
  const [, refused] = await once(unknown, 'unexpected-response');
  expect(refused.statusCode).toBe(401);
});

test('an interrupted feed closes the client’s socket with the leader’s code', async () => {
  const client = openSocket();
  await expect.poll(() => client.messages.length).toBe(1);
  feed.interrupt();
  expect(await client.closed).toEqual([1012, 'the feed was interrupted; resume with ?after=']);
});

test('the token in a subprotocol is forwarded', async () => {
  const url = `${near.url.replace('http', 'ws')}/v1/workflows/${workflowId}/stream`;
  const socket = new WebSocket(url, ['bearer', token]);
  sockets.push(socket);
  await once(socket, 'message');
  expect(socket.protocol).toBe('bearer');
});

/** Starts a node that accepts the upgrade and sends these bytes. `close` resets its connections. */
async function startDying(bytes: Buffer) {
  const { createHash } = await import('node:crypto');
  const open = new Set<Socket>();
  const server = createServer(socket => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', head => {
      const key = /sec-websocket-key: (.*)\r\n/i.exec(String(head))?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of open) socket.resetAndDestroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test.each([
  ['between two frames', Buffer.from([0x81, 1, 0x61]), 1012],
  ['within a frame', Buffer.from([0x81, 1, 0x61, 0x81, 5, 0x62]), 1006],
])('a leader that dies %s makes the client reconnect', async (_, bytes, code) => {
  const dying = await startDying(bytes);
  near.owner = { kind: 'node', id: 'far', url: dying.url };
  const client = openSocket();
  await expect.poll(() => client.messages).toEqual(['a']);
  await dying.close();
  expect((await client.closed)[0]).toBe(code);
});

test('a leader that cannot be reached is 503', async () => {
  near.owner = { kind: 'node', id: 'far', url: 'http://127.0.0.1:1' };
  const socket = new WebSocket(`${near.url.replace('http', 'ws')}/v1/workflows/${workflowId}/stream`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const [, response] = await once(socket, 'unexpected-response');
  expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '2']);
});
