import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../faults/client.ts';
import { Installation, type Service } from '../fixtures/service.ts';

/** A burst of event streams, all opened at once with a few tokens of one user. */
const SOCKETS = 1_500;
const MAX_PER_USER = 500;
/** CPU time of one turn of the event loop, which is the same on a busy machine. */
const MAX_TURN_MS = 1_000;

/** Frames without a payload (RFC 6455, 5.5.2); the mask of the pong is zeros. */
const PING = Buffer.from([0x89, 0]);
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

let installation: Installation;
let service: Service;
let workflow: string;
const tokens: string[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  installation = await Installation.create({ BATON_MAX_CONNECTIONS_PER_ADDRESS: '0' });
  service = await installation.launch();
  await service.until('ready');
  const client = new Client(service.url, installation.pat);
  const graph = { steps: [{ id: 'a', type: 'lua_script', script: 'return 1' }] };
  workflow = String((await client.call('POST', '/v1/workflows', { name: 'watched', graph })).body.id);
  for (const display_name of ['a', 'b', 'c']) {
    const { body } = await client.call('POST', '/v1/pats', { display_name, scopes: ['workflow:read'] });
    tokens.push(String(body.token));
  }
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await installation[Symbol.asyncDispose]();
});

/** Opens a stream; returns its status, and keeps the connection open if it is 101. */
async function open(token: string): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.url).port) });
  sockets.push(socket);
  await once(socket, 'connect');
  const lines = [
    `GET /v1/workflows/${workflow}/stream HTTP/1.1`,
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Authorization: Bearer ${token}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [chunk] = await once(socket, 'data');
  // A stream that does not answer pings is closed, which makes room for another one.
  socket.on('data', frames => frames.includes(PING) && socket.write(PONG));
  return Number(String(chunk).slice(9, 12));
}

test(`${SOCKETS} streams at once: a user gets ${MAX_PER_USER} across all tokens, and the service continues`, async () => {
  expect(new Set(tokens).size).toBe(3);
  await service.measure({ collectGarbage: true });
  const statuses = await Promise.all(Array.from({ length: SOCKETS }, (_, n) => open(tokens[n % 3] ?? '')));
  const { turnMs } = await service.measure({ collectGarbage: true });
  expect(Map.groupBy(statuses, status => status).get(101)?.length).toBe(MAX_PER_USER);
  expect(new Set(statuses)).toEqual(new Set([101, 429]));
  expect(turnMs).toBeLessThan(MAX_TURN_MS);
  expect(await service.terminate()).toBe(0);
});
