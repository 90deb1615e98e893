import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Edge, type EdgeOptions, type Frontend, listen } from './edge.ts';

const edges: Edge[] = [];
const sockets: Socket[] = [];
const logged: string[] = [];
const logger = {
  error: ({ err }: { err: unknown }) => void logged.push(String(err)),
} as unknown as EdgeOptions['logger'];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(edges.splice(0).map(edge => edge.close(0)));
  logged.length = 0;
});

const quiet: Frontend = {
  request: (_, response) => void response.end('fine'),
  upgrade: () => false,
};

async function edgeOf(frontend: Partial<Frontend>, limits: Partial<EdgeOptions> = {}): Promise<Edge> {
  const options = { logger, maxConnections: 100, maxConnectionsPerAddress: 0, trustedProxies: 0, ...limits };
  const edge = await listen({ host: '127.0.0.1', port: 0 }, () => ({ ...quiet, ...frontend }), options);
  edges.push(edge);
  return edge;
}

/** Opens a connection and sends `bytes`. */
async function open({ port }: Edge, bytes = ''): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  sockets.push(socket);
  let text = '';
  socket.on('data', chunk => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  // A reset also counts as the end.
  const answer = new Promise<string>(resolve => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve(text));
  });
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  return { socket, answer };
}
const get = (more = '', path = '/') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const upgrading = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const closing = 'Connection: close\r\n';
const statusOf = async (answer: Promise<string>) => Number(/^HTTP\/1\.1 (\d{3}) /.exec(await answer)?.[1] ?? 0);
const ask = async (edge: Edge, bytes = get(closing)) => statusOf((await open(edge, bytes)).answer);

describe('an error of a handler affects only its own connection', () => {
  const broken = new Error('a defect');
  const handlers: [string, Partial<Frontend>, string, number][] = [
    [
      'a request, at once',
      {
        request: () => {
          throw broken;
        },
      },
      get(closing),
      500,
    ],
    ['a request, later', { request: async () => Promise.reject(broken) }, get(closing), 500],
    [
      'an upgrade',
      {
        upgrade: () => {
          throw broken;
        },
      },
      get(upgrading),
      0,
    ],
  ];
  test.each(handlers)('%s', async (_, frontend, bytes, status) => {
    const edge = await edgeOf(frontend);
    expect(await ask(edge, bytes)).toBe(status);
    expect(await ask(edge, bytes)).toBe(status);
    // The same failure is logged once: a flood must not fill the disk.
    expect(logged).toEqual(['Error: a defect']);
  });

  test('an answer in progress is cut off', async () => {
    const edge = await edgeOf({
      request: async (_, response) => {
        response.writeHead(200, { 'Content-Length': '9' });
        response.write('half');
        throw broken;
      },
    });
    const { answer } = await open(edge, get(closing));
    expect((await answer).endsWith('half') || (await answer) === '').toBe(true);
  });

  test('an error of an upgraded connection', async () => {
    let upgraded: Socket | undefined;
    const edge = await edgeOf({
      upgrade: (_, socket) => {
        upgraded = socket as Socket;
        return true;
      },
    });
    const { answer } = await open(edge, get(upgrading));
    await expect.poll(() => upgraded).toBeDefined();
    upgraded?.destroy(new Error('reset by the peer'));
    expect(await answer).toBe('');
  });
});

test('malformed HTTP is 400, but never instead of a pending answer', async () => {
  let answer = () => {};
  const edge = await edgeOf({
    request: (_, response) => {
      answer = () => response.end('due');
    },
  });
  expect(await ask(edge, 'nonsense\r\n\r\n')).toBe(400);
  expect(await ask(edge, `${get()}nonsense\r\n\r\n`)).toBe(0);
  answer();
});

describe('connections of one address', () => {
  test('are limited, and closed ones no longer count', async () => {
    const edge = await edgeOf({}, { maxConnectionsPerAddress: 2 });
    const first = await open(edge);
    expect(await ask(edge)).toBe(200);
    const second = await open(edge);
    // Nothing was requested yet, so it is closed without an answer.
    expect(await ask(edge)).toBe(0);
    first.socket.destroy();
    await expect.poll(() => ask(edge)).toBe(200);
    second.socket.destroy();
  });

  test('behind a proxy are counted where they can be distinguished: as upgrades', async () => {
    const held: Socket[] = [];
    const edge = await edgeOf(
      { upgrade: (_, socket) => held.push(socket as Socket) > 0 },
      { maxConnectionsPerAddress: 1, trustedProxies: 1 },
    );
    const from = (address: string) => get(`${upgrading}X-Forwarded-For: ${address}\r\n`);
    await open(edge, from('192.0.2.1'));
    await expect.poll(() => held.length).toBe(1);
    expect(await ask(edge, from('192.0.2.1'))).toBe(429);
    expect(await ask(edge, from('192.0.2.1, 192.0.2.1'))).toBe(429);
    await open(edge, from('192.0.2.2'));
    await expect.poll(() => held.length).toBe(2);
    expect(await ask(edge)).toBe(200);
  });

  test('of all addresses together are limited too', async () => {
    const edge = await edgeOf({}, { maxConnections: 1 });
    await open(edge);
    expect(await ask(edge)).toBe(0);
  });
});

test('a shutdown cuts connections that do not end by themselves: upgraded, half sent, or waiting for its answer', async () => {
  const edge = await edgeOf({ request: () => undefined, upgrade: () => true });
  const waiting = await Promise.all(['', 'GET', get(), get(upgrading)].map(bytes => open(edge, bytes)));
  await edge.close(20);
  for (const { answer } of waiting) expect(await answer).toBe('');
});
