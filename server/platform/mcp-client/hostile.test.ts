import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Handler, startHttpServer } from '../../testing/mcp-server.ts';
import { ManualClock } from '../clock.ts';
import { createEgress } from '../egress/egress.ts';
import { freePort } from '../postgres/free-port.ts';
import { connectMcp, McpFailure } from './index.ts';

const TIMEOUT_MS = 5_000;
const MEBIBYTE = 1024 * 1024;

const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'hostile', version: '1' },
};
type Message = { id?: number; method?: string; params?: { _meta?: { progressToken?: number }; cursor?: string } };

const answer = (id: number | undefined, result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });
const event = (data: string, id?: string) => `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
const events = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const json = (response: ServerResponse, body: string) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
const progress = (token: number | undefined, at: number) =>
  event(
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: token, progress: at },
    }),
  );

/** Starts a server that behaves well until a tool is listed or called; then `misbehave` answers. */
function startHostile(misbehave: (message: Message, response: ServerResponse) => void, more: { get?: Handler } = {}) {
  return startHttpServer((request, response, body) => {
    const message = (body ?? {}) as Message;
    if (request.method === 'GET' && more.get) return more.get(request, response, body);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (message.method === 'initialize') {
      response.setHeader('mcp-session-id', 'session-1');
      return void json(response, answer(message.id, initialized));
    }
    if (message.id === undefined) return void response.writeHead(202).end();
    misbehave(message, response);
  });
}

const connect = (url: string) => connectMcp({ url, headers: { 'X-Key': 'secret' }, fetch, timeoutMs: TIMEOUT_MS });

async function failure(work: Promise<unknown>): Promise<McpFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof McpFailure)) throw new Error('no McpFailure', { cause: error });
  return error;
}

async function startTcp(talk: (socket: Socket) => void): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(socket => talk(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

async function callFailure(
  misbehave: (message: Message, response: ServerResponse) => void,
  more: { get?: Handler; timeoutMs?: number } = {},
): Promise<McpFailure> {
  await using server = await startHostile(misbehave, more);
  const session = await connect(server.url);
  const failed = await failure(session.callTool({ name: 'x', args: {}, timeoutMs: more.timeoutMs ?? TIMEOUT_MS }));
  await session.close();
  return failed;
}

describe('a tool call survives a server that', () => {
  test('sends endless JSON', async () => {
    const failed = await callFailure((_message, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(64 * 1024)));
      };
      response.on('drain', more);
      more();
    });
    expect(failed).toMatchObject({ code: 'mcp_response_too_large', retryable: false, unsent: false });
  });

  test('sends one endless line in an event stream', async () => {
    const failed = await callFailure((_message, response) => {
      events(response);
      const more = (): void => {
        while (!response.destroyed && response.write('data: x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    });
    expect(failed).toMatchObject({ code: 'mcp_response_too_large' });
  });

  test('reports progress as fast as it can: it is read at a limited rate, and the call ends in time', async () => {
    await using server = await startHostile(({ params }, response) => {
      events(response);
      const chunk = progress(params?._meta?.progressToken, 1).repeat(1_000);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    const session = await connect(server.url);
    let count = 0;
    const call = { name: 'x', args: {}, timeoutMs: TIMEOUT_MS, maxTotalMs: 2_000, onProgress: () => void count++ };
    expect(await failure(session.callTool(call))).toMatchObject({ code: 'mcp_timeout' });
    expect(count).toBeGreaterThan(100);
    // Read at full speed, it would be 20,000 a second.
    expect(count).toBeLessThan(15_000);
    await session.close();
  });

  test('sends a long line byte by byte without costing quadratic time', async () => {
    const text = 'x'.repeat(3 * MEBIBYTE);
    const lines: number[] = [];
    await using server = await startHostile(({ id }, response) => {
      const message = event(answer(id, { content: [{ type: 'text', text }] }));
      events(response);
      for (let at = 0; at < message.length; at += 512) response.write(message.slice(at, at + 512));
      response.end();
    });
    const session = await connect(server.url);
    const result = await session.callTool({
      name: 'x',
      args: {},
      timeoutMs: TIMEOUT_MS,
      onProgress: () => lines.push(1),
    });
    expect(result.content).toEqual([{ type: 'text', text }]);
    await session.close();
  });

  test('never answers, and keeps no connection open', async () => {
    await using server = await startHostile(() => undefined);
    const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
    const session = await connectMcp({ url: server.url, headers: {}, fetch: egress.fetch, timeoutMs: TIMEOUT_MS });
    const failed = await failure(session.callTool({ name: 'x', args: {}, timeoutMs: 50 }));
    expect(failed).toMatchObject({ code: 'mcp_timeout', retryable: true });
    await server.until(() => server.messages().includes('notifications/cancelled'));
    await session.close();
    await egress.close();
    await server.until(() => server.sockets() === 0);
  });

  test('reports progress for longer than the call may take in total', async () => {
    await using server = await startHostile(({ params }, response) => {
      const one = progress(params?._meta?.progressToken, 1);
      events(response);
      response.write(one + one);
      const timer = setInterval(() => response.write(one), 10);
      response.once('close', () => clearInterval(timer));
    });
    const session = await connect(server.url);
    let count = 0;
    const call = { name: 'x', args: {}, timeoutMs: TIMEOUT_MS, maxTotalMs: 1_000, onProgress: () => void count++ };
    expect(await failure(session.callTool(call))).toMatchObject({ code: 'mcp_timeout' });
    expect(count).toBeGreaterThan(1);
    await session.close();
  });

  test('answers in violation of the protocol', async () => {
    const cases: [(message: Message, response: ServerResponse) => void, string][] = [
      [(_m, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi'), 'mcp_invalid_response'],
      [(_m, response) => json(response, '{"jsonrpc":'), 'mcp_invalid_response'],
      [(_m, response) => json(response, '{"hello":1}'), 'mcp_invalid_response'],
      [(_m, response) => json(response, answer(999, { content: [] })), 'mcp_connection_lost'],
      [(_m, response) => response.writeHead(202).end(), 'mcp_invalid_response'],
      [(_m, response) => events(response).end(), 'mcp_connection_lost'],
      [(_m, response) => events(response).end(event('no json')), 'mcp_connection_lost'],
      [(_m, response) => response.destroy(), 'mcp_connection_lost'],
      [(_m, response) => events(response).write(': hi\n\n', () => response.destroy()), 'mcp_connection_lost'],
    ];
    for (const [misbehave, code] of cases) expect((await callFailure(misbehave)).code).toBe(code);
  });

  test('has a stream resumed repeatedly without delay', async () => {
    let resumed = 0;
    const failed = await callFailure((_m, response) => events(response).end(`retry: 0\n${event('', 'a')}`), {
      get(_request, response) {
        resumed++;
        events(response).end(`retry: 0\n${event('', `b${resumed}`)}`);
      },
    });
    expect(failed).toMatchObject({ code: 'mcp_connection_lost', retryable: true });
    expect(resumed).toBe(20);
  });

  test('refuses every resumption, or uses event ids that no header can contain', async () => {
    const refusing = await callFailure((_m, response) => events(response).end(`retry: 5\n${event('', 'a')}`), {
      get: (_request, response) => void response.writeHead(500).end(),
    });
    expect(refusing).toMatchObject({ code: 'mcp_connection_lost' });
    const odd = await callFailure((_m, response) => events(response).end(`retry: 5\n${event('', '日本')}`));
    expect(odd).toMatchObject({ code: 'mcp_connection_lost' });
  });

  test('keeps the stream open after the answer: the connection is closed', async () => {
    let ended = 0;
    await using server = await startHostile(({ id }, response) => {
      response.once('close', () => ended++);
      events(response).write(event(answer(id, { content: [] })));
    });
    const session = await connect(server.url);
    await session.callTool({ name: 'x', args: {}, timeoutMs: TIMEOUT_MS });
    await server.until(() => ended === 1);
    expect(session.usable).toBe(true);
    await session.close();
  });

  test('redirects to another origin, or to a private address', async () => {
    await using other = await startHttpServer((_request, response) => void response.end());
    const failed = await callFailure((_m, response) => response.writeHead(307, { location: other.url }).end());
    expect(failed).toMatchObject({ code: 'mcp_redirect_refused', retryable: false });
    expect(other.seen).toEqual([]);
  });

  test('reports failures by HTTP', async () => {
    const failWith = (status: number, headers: Record<string, string> = {}, body = '') =>
      callFailure((_m, response) => response.writeHead(status, headers).end(body));
    expect(await failWith(401)).toMatchObject({ code: 'mcp_unauthorized', retryable: false, unsent: true });
    expect(await failWith(403)).toMatchObject({ code: 'mcp_unauthorized', retryable: false, unsent: true });
    expect(await failWith(404)).toMatchObject({ code: 'mcp_session_lost', retryable: true, unsent: true });
    expect(await failWith(429, { 'retry-after': '7' })).toMatchObject({
      code: 'mcp_rate_limited',
      retryable: true,
      retryAfterMs: 7_000,
      unsent: true,
    });
    expect(await failWith(503, { 'retry-after': 'soon' })).toMatchObject({
      code: 'mcp_unavailable',
      retryAfterMs: undefined,
    });
    expect(await failWith(500)).toMatchObject({ code: 'mcp_http_error', retryable: true, unsent: false });
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32602, message: 'a is missing' } });
    const refused = await failWith(422, { 'content-type': 'application/json' }, body);
    expect(refused).toMatchObject({ code: 'mcp_http_error', retryable: false });
    expect(refused.message).toContain('a is missing');
    expect(await failWith(500, {}, 'x'.repeat(MEBIBYTE))).toMatchObject({ code: 'mcp_http_error' });
  });

  test('reports failures by JSON-RPC', async () => {
    const failWith = (code: number) =>
      callFailure(({ id }, response) =>
        json(response, JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'because' } })),
      );
    expect(await failWith(-32602)).toMatchObject({ code: 'mcp_invalid_params', retryable: false });
    expect(await failWith(-32603)).toMatchObject({ code: 'mcp_internal_error', retryable: true });
    expect(await failWith(-32601)).toMatchObject({ code: 'mcp_error', retryable: false });
    expect(await failWith(-32042)).toMatchObject({ code: 'mcp_elicitation_required', retryable: false });
    expect(await failWith(-32603)).toMatchObject({ message: expect.stringContaining('because') });
  });
});

describe('listing tools survives a server that', () => {
  const tool = (name: string, description = '') => ({ name, description, inputSchema: { type: 'object' } });
  async function listFailure(page: (cursor: number) => unknown): Promise<McpFailure> {
    await using server = await startHostile(({ id, params }, response) =>
      json(response, answer(id, page(Number(params?.cursor ?? 0)))),
    );
    const session = await connect(server.url);
    const failed = await failure(session.listTools());
    await session.close();
    return failed;
  }

  test('has endless pages, tools or bytes', async () => {
    const endless = await listFailure(cursor => ({ tools: [tool(`t${cursor}`)], nextCursor: String(cursor + 1) }));
    expect(endless.code).toBe('mcp_too_many_tools');
    const many = await listFailure(() => ({ tools: Array.from({ length: 1_001 }, (_, at) => tool(`t${at}`)) }));
    expect(many.code).toBe('mcp_too_many_tools');
    const large = await listFailure(cursor => ({
      tools: [tool(`t${cursor}`, 'x'.repeat(2 * MEBIBYTE))],
      nextCursor: `${cursor + 1}`,
    }));
    expect(large.code).toBe('mcp_too_many_tools');
  });

  test('lists a tool that is nested without end: the others stay', async () => {
    const schema = `{"type":"object","properties":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}`;
    const tools = `[{"name":"deep","inputSchema":${schema}},{"name":"good","inputSchema":{"type":"object"}}]`;
    await using server = await startHostile(({ id }, response) =>
      json(response, `{"jsonrpc":"2.0","id":${id},"result":{"tools":${tools}}}`),
    );
    const session = await connect(server.url);
    expect(await session.listTools()).toEqual({
      tools: [{ name: 'good', inputSchema: { type: 'object' } }],
      warnings: ['The tool “deep” was left out: it is nested too deeply.'],
    });
    await session.close();
  });

  test('answers without a list', async () => {
    expect((await listFailure(() => ({}))).code).toBe('mcp_invalid_response');
    expect((await listFailure(() => ({ tools: 'none' }))).message).toBe(
      "The MCP server's answer holds no list of tools",
    );
  });
});

describe('connecting', () => {
  const connectFailure = (url: string, options: Partial<Parameters<typeof connectMcp>[0]> = {}) =>
    failure(connectMcp({ url, headers: {}, fetch, timeoutMs: TIMEOUT_MS, ...options }));

  test('to a closed port is unsent and may be retried', async () => {
    const failed = await connectFailure(`http://127.0.0.1:${await freePort()}/mcp`);
    expect(failed).toMatchObject({ code: 'mcp_unreachable', retryable: true, unsent: true });
    expect(failed.message).not.toContain('127.0.0.1');
  });

  test('to a private address is refused before anything is sent', async () => {
    await using server = await startHostile(() => undefined);
    const egress = createEgress({ allowPrivate: [] });
    const failed = await connectFailure(server.url, { fetch: egress.fetch });
    expect(failed).toMatchObject({ code: 'egress_refused', retryable: false, unsent: true });
    expect(server.seen).toEqual([]);
    await egress.close();
  });

  test('to a port that is silent or does not speak HTTP ends', async () => {
    await using silent = await startTcp(socket => socket.resume());
    const failed = await connectFailure(silent.url, { timeoutMs: 100 });
    expect(failed).toMatchObject({ code: 'mcp_timeout', retryable: true, unsent: true });
    await using rude = await startTcp(socket => socket.resume().end('hello\r\n\r\n'));
    expect(await connectFailure(rude.url)).toMatchObject({ code: 'mcp_connection_lost', unsent: true });
  });

  test('can be cancelled', async () => {
    await using server = await startHttpServer(() => undefined);
    const abort = new AbortController();
    const failed = connectFailure(server.url, { signal: abort.signal });
    await server.until(() => server.seen.length > 0);
    abort.abort();
    expect(await failed).toMatchObject({ code: 'mcp_cancelled', retryable: false });
  });

  test('to something that is not an MCP server reports its answer', async () => {
    await using page = await startHttpServer((_request, response) => void response.writeHead(404).end());
    const failed = await connectFailure(page.url);
    expect(failed).toMatchObject({ code: 'mcp_not_a_server', retryable: false, unsent: true });
    expect(failed.message).toContain('404');
    await using web = await startHttpServer(
      (_request, response) => void response.setHeader('content-type', 'text/html').end('<p>'),
    );
    expect(await connectFailure(web.url)).toMatchObject({ code: 'mcp_invalid_response', retryable: false });
  });

  test('does not fall back if the credentials are refused, or the server is busy', async () => {
    for (const [status, code] of [
      [401, 'mcp_unauthorized'],
      [403, 'mcp_unauthorized'],
      [503, 'mcp_unavailable'],
    ] as const) {
      await using server = await startHttpServer(
        (_request, response) =>
          void response.writeHead(status, { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }).end(),
      );
      const failed = await connectFailure(server.url, { clock: new ManualClock(Date.UTC(2026, 0, 1)) });
      expect(failed).toMatchObject({ code, unsent: true });
      if (status === 503) expect(failed.retryAfterMs).toBe(9_000);
      expect(server.seen.map(one => one.method)).toEqual(['POST']);
    }
  });

  test('to a server of another protocol version fails, and ends the session', async () => {
    await using server = await startHttpServer((request, response, body) => {
      if (request.method === 'DELETE') return void response.end();
      response.setHeader('mcp-session-id', 'one');
      json(response, answer((body as Message).id, { ...initialized, protocolVersion: '1999-01-01' }));
    });
    expect(await connectFailure(server.url)).toMatchObject({ code: 'mcp_invalid_response' });
    await server.until(() => server.messages().length > 1);
    expect(server.messages()).toEqual(['initialize', 'DELETE']);
  });

  test('to an older server that sends its messages elsewhere, or names no address, fails', async () => {
    const older = (first: string) =>
      startHttpServer((request, response) => {
        if (request.method !== 'GET') return void response.writeHead(405).end();
        events(response).write(first);
      });
    await using elsewhere = await older('event: endpoint\ndata: http://169.254.169.254/latest\n\n');
    expect((await connectFailure(elsewhere.url)).code).toBe('mcp_not_a_server');
    await using mute = await older(': nothing\n\n');
    expect(await connectFailure(mute.url, { timeoutMs: 100 })).toMatchObject({ code: 'mcp_timeout', unsent: true });
  });
});
