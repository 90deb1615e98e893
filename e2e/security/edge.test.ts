import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { Installation, type Service } from '../fixtures/service.ts';

let db: TestDatabase;
let installation: Installation;
let service: Service;
const sockets: Socket[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  installation = await Installation.create({ DATABASE_URL: db.url }, { cheapPasswords: true });
  service = await installation.launch();
  await service.until('ready');
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await installation[Symbol.asyncDispose]();
  await db.close();
});

type Wire = { socket: Socket; text: () => string; closed: Promise<unknown> };

/** Opens a raw connection to the service, sends `bytes`, and never closes the client's side. */
async function send(bytes: string, to = service): Promise<Wire> {
  const { hostname, port } = new URL(to.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  sockets.push(socket);
  let text = '';
  socket.on('data', chunk => {
    text += chunk;
  });
  // A reset also counts as the end.
  socket.on('error', () => undefined);
  const closed = new Promise<void>(resolve => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve());
  });
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, text: () => text, closed };
}

const upgrade = (target: string, more = '') =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;

const within = <T>(ms: number, what: Promise<T>): Promise<T | 'late'> =>
  Promise.race([what, delay(ms, 'late' as const, { ref: false })]);

describe('an upgrade', () => {
  test.each(['//', '///', '/\\', '//[', '//a:b', 'http://', '*', '/v1/workflows/%/stream', '/v1/workflows//stream'])(
    'of %s ends nothing but its own connection',
    async target => {
      const { text, closed } = await send(upgrade(target));
      expect(await within(5_000, closed)).not.toBe('late');
      expect(text()).toMatch(/^HTTP\/1\.1 (400|401|404|405) /);
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    },
  );

  test('to a path without upgrades is answered and closed, with 300 at once', async () => {
    const targets = [
      '/',
      '/v1/workflows',
      '/_next/webpack-hmr',
      '/api/auth/session',
      '/demo/mcp',
      '/demo/api/orders',
      '/mcp',
    ];
    const wires = await Promise.all(
      Array.from({ length: 300 }, (_, n) => send(upgrade(targets[n % targets.length] ?? '/'))),
    );
    for (const { closed, text } of wires) {
      expect(await within(5_000, closed)).not.toBe('late');
      expect(text()).toMatch(/^HTTP\/1\.1 404 /);
    }
  });

  test('to another protocol than WebSocket is an ordinary request', async () => {
    const ask = `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`;
    const { text, closed } = await send(ask);
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

// These tests are last because each ends the process.
test('SIGTERM ends the process in order with hundreds of upgrades and half-sent requests open', async () => {
  const half = upgrade('/').slice(0, -2);
  const body = 'POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1';
  const unfinished = ['', 'GET / HT', half, body];
  await Promise.all(Array.from({ length: 300 }, (_, n) => send(unfinished[n % unfinished.length] ?? '')));
  expect(await within(20_000, service.terminate())).toBe(0);
});

// e2e/faults/processes.test.ts tests the restart, and a process that cannot even exit.
test('an uncaught error ends the process', async () => {
  const broken = await installation.launch();
  await broken.until('ready');
  await Promise.all(Array.from({ length: 20 }, () => send(upgrade('/').slice(0, -2), broken)));
  broken.control({ kind: 'defect', stuck: false });
  expect(await within(20_000, broken.exited())).toBe(1);
  expect(broken.lines('a defect made by a test')).toBeGreaterThan(0);
});
