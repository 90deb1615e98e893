import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startBlockedPort } from '../../testing/blocked-port.ts';
import { json, startHttpServer, type TestHttpServer } from '../../testing/http-server.ts';
import { configureTools, startToolServer } from '../../testing/mcp-servers.ts';
import { startModelServer } from '../../testing/model-server.ts';
import { ManualClock } from '../clock.ts';
import { connectMcp } from '../mcp-client/index.ts';
import { askModel } from '../models/ask-model.ts';
import { createEgress, type Egress, EgressRefused } from './egress.ts';
import { redirectBefore } from './redirects.ts';

let egress: Egress;
let server: TestHttpServer;
let blocked: { url: string; close(): Promise<void> };

/** Returns a new egress guard, without connections to servers that used the same address before. */
function newEgress(): Egress {
  const made = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  onTestFinished(() => made.close());
  return made;
}

beforeAll(async () => {
  egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  server = await startHttpServer({
    '/ok': json({ ok: true }),
    '/see-other': (_, response) => void response.writeHead(303, { location: '/ok?of=order', 'x-order': '7' }).end(),
    '/lost': (_, response) => void response.writeHead(303, { location: '/cut' }).end(),
    '/again': (_, response) => void response.writeHead(307, { location: '/cut' }).end(),
    '/private': (_, response) => void response.writeHead(303, { location: 'http://10.0.0.1/' }).end(),
    '/cut': (_, response) => void response.destroy(),
  });
  blocked = await startBlockedPort(server.url);
});
afterAll(async () => {
  await blocked.close();
  await server.close();
  await egress.close();
});

describe('a port that the Fetch standard blocks', () => {
  test('is reached, directly and by a redirect', async () => {
    await expect(fetch(`${blocked.url}/ok`)).rejects.toMatchObject({ cause: { message: 'bad port' } });
    const direct = await egress.fetch(`${blocked.url}/ok?a=1#part`);
    expect([await direct.json(), direct.url]).toEqual([{ ok: true }, `${blocked.url}/ok?a=1`]);
    expect(server.seen.at(-1)?.headers.host).toBe(new URL(blocked.url).host);
    const redirected = await egress.fetch(`${blocked.url}/see-other`, { method: 'POST', body: 'x' });
    expect([await redirected.json(), redirected.url]).toEqual([{ ok: true }, `${blocked.url}/ok?of=order`]);
  });

  test('is refused on the private network like any other', async () => {
    const guarded = createEgress({ allowPrivate: [] });
    await expect(guarded.fetch(`${blocked.url}/ok`)).rejects.toThrow(EgressRefused);
    await guarded.close();
  });

  test('is reached by the client of MCP servers', async () => {
    await using tools = await startToolServer({ configure: configureTools });
    const port = await startBlockedPort(tools.url);
    const url = `${port.url}${new URL(tools.url).pathname}`;
    const session = await connectMcp({ url, headers: {}, fetch: newEgress().fetch, timeoutMs: 10_000 });
    expect((await session.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'echo']);
    await session.close();
    await port.close();
  });

  test('is reached by the client of models', async () => {
    const models = await startModelServer();
    models.reply({ text: 'Hello.' });
    const port = await startBlockedPort(models.url);
    const question = { provider: 'openai', apiKey: 'sk-0123456789', baseUrl: `${port.url}/v1` } as const;
    const signal = new AbortController().signal;
    const on = { fetch: newEgress().fetch, clock: new ManualClock(), signal };
    expect(await askModel({ ...question, model: 'tiny', prompt: 'Hi' }, on)).toMatchObject({ text: 'Hello.' });
    await port.close();
    await models.close();
  });
});

test('a GET carries a body if it is given one, on the same origin and after a redirect that keeps the method', async () => {
  const before = server.seen.length;
  const sent = await egress.fetch(`${server.url}/ok`, { method: 'GET', body: '{"q":1}' });
  expect(await sent.json()).toEqual({ ok: true });
  expect(server.seen.slice(before)).toMatchObject([{ method: 'GET', body: '{"q":1}' }]);
  await expect(egress.fetch(`${server.url}/ok`, { method: 'HEAD', body: 'x' })).rejects.toThrow(TypeError);
});

describe('following a redirect that answers a request', () => {
  const outcome = (path: string, method: string) =>
    egress.fetch(`${server.url}${path}`, { method }).catch((error: unknown) => error);

  test.each([
    ['/see-other', 'POST', 303],
    ['/lost', 'POST', 303],
    ['/lost', 'PUT', 303],
    ['/private', 'POST', 303],
    ['/see-other', 'GET', undefined],
    ['/again', 'POST', undefined],
    ['/cut', 'POST', undefined],
  ])('%s after %s: what follows says %s', async (path, method, status) => {
    expect(redirectBefore(await outcome(path, method))?.status).toBe(status);
  });
});
