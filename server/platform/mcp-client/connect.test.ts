import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CreateMessageResultSchema, ListRootsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startEverything, startSdkServer, startSseServer } from '../../testing/mcp-server.ts';
import { createEgress } from '../egress/egress.ts';
import { type CallToolResult, connectMcp, McpFailure } from './index.ts';

const TIMEOUT_MS = 10_000;

function tools(server: McpServer): void {
  server.registerTool(
    'add',
    {
      description: 'Adds',
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool('echo_meta', { inputSchema: {} }, (_args, { _meta, requestInfo }) => ({
    content: [{ type: 'text', text: JSON.stringify({ _meta, traceparent: requestInfo?.headers.traceparent }) }],
  }));
  server.registerTool('wait', { inputSchema: {} }, async (_args, { signal }) => {
    await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
    return { content: [{ type: 'text', text: 'cancelled' }] };
  });
  server.registerTool('count', { inputSchema: { to: z.number() } }, async ({ to }, { _meta, sendNotification }) => {
    for (let progress = 1; progress <= to; progress++) {
      const params = { progressToken: _meta?.progressToken ?? 0, progress, total: to, message: `step ${progress}` };
      await sendNotification({ method: 'notifications/progress', params });
    }
    return { content: [{ type: 'text', text: 'done' }] };
  });
  server.registerTool('ask_back', { inputSchema: {} }, async (_args, { sendRequest }) => {
    const prompt = {
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'hi' } }],
      maxTokens: 1,
    };
    const asked = [
      await sendRequest({ method: 'sampling/createMessage', params: prompt }, CreateMessageResultSchema).catch(String),
      await sendRequest({ method: 'roots/list' }, ListRootsResultSchema).catch(String),
    ];
    return { content: [{ type: 'text', text: JSON.stringify(asked) }] };
  });
}

const connect = (url: string, options: Partial<Parameters<typeof connectMcp>[0]> = {}) =>
  connectMcp({ url, headers: {}, fetch, timeoutMs: TIMEOUT_MS, ...options });

const failureOf = (work: Promise<unknown>): Promise<McpFailure> =>
  work.then(
    () => {
      throw new Error('did not fail');
    },
    error => {
      expect(error).toBeInstanceOf(McpFailure);
      return error;
    },
  );

const text = ({ content }: CallToolResult): unknown => content[0]?.text;

describe.each([
  ['Streamable HTTP with event streams', 'streamable_http', () => startSdkServer({ configure: tools })],
  ['Streamable HTTP with JSON', 'streamable_http', () => startSdkServer({ configure: tools, json: true })],
  ['Streamable HTTP that resumes', 'streamable_http', () => startSdkServer({ configure: tools, resumable: true })],
  ['SSE (404)', 'sse', () => startSseServer(tools, 404)],
  ['SSE (405)', 'sse', () => startSseServer(tools, 405)],
  ['SSE (400)', 'sse', () => startSseServer(tools, 400)],
] as const)('over %s', (name, transport, start) => {
  test('a session lists tools, calls one and leaves no connection open', async () => {
    await using server = await start();
    const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
    const session = await connect(server.url, { fetch: egress.fetch, headers: { Authorization: 'Bearer s3cret' } });
    expect(session).toMatchObject({ transport, usable: true });
    expect(session.serverInfo).toMatchObject({ protocolVersion: '2025-11-25', version: expect.any(String) });
    const { tools: listed, warnings } = await session.listTools();
    expect(warnings).toEqual([]);
    expect(listed.map(tool => tool.name)).toEqual(['add', 'echo_meta', 'wait', 'count', 'ask_back']);
    expect(listed[0]).toMatchObject({
      description: 'Adds',
      inputSchema: { type: 'object', required: ['a', 'b'] },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    });
    const result = await session.callTool({ name: 'add', args: { a: 2, b: 3 }, timeoutMs: TIMEOUT_MS });
    expect(result.structuredContent).toEqual({ sum: 5 });
    await session.close();
    expect(session.usable).toBe(false);
    expect(server.seen.every(one => one.headers.authorization === 'Bearer s3cret')).toBe(true);
    if (transport === 'streamable_http') await server.until(() => server.messages().at(-1) === 'DELETE');
    await egress.close();
    await server.until(() => server.sockets() === 0);
  });

  test('cancelling a call notifies the server, and the session continues', async () => {
    await using server = await start();
    const session = await connect(server.url);
    const abort = new AbortController();
    const call = failureOf(session.callTool({ name: 'wait', args: {}, signal: abort.signal, timeoutMs: TIMEOUT_MS }));
    await server.until(() => server.messages().includes('tools/call'));
    abort.abort();
    expect(await call).toMatchObject({ code: 'mcp_cancelled', retryable: false });
    await server.until(() => server.messages().includes('notifications/cancelled'));
    const result = await session.callTool({ name: 'add', args: { a: 1, b: 1 }, timeoutMs: TIMEOUT_MS });
    expect(result.structuredContent).toEqual({ sum: 2 });
    await session.close();
  });

  test('progress is reported, the server’s requests are refused, and the trace is sent', async () => {
    await using server = await start();
    const session = await connect(server.url);
    const reported: unknown[] = [];
    const counting = {
      name: 'count',
      args: { to: 3 },
      timeoutMs: TIMEOUT_MS,
      onProgress: (one: unknown) => void reported.push(one),
    };
    expect(text(await session.callTool(counting))).toBe('done');
    // A server that answers with JSON has no stream for progress.
    if (!name.includes('JSON')) {
      expect(reported).toEqual([1, 2, 3].map(progress => ({ progress, total: 3, message: `step ${progress}` })));
      const asked = text(await session.callTool({ name: 'ask_back', args: {}, timeoutMs: TIMEOUT_MS }));
      expect(String(asked).match(/Method not found/g)).toHaveLength(2);
    }
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const meta = { idempotency_key: 'run:step', traceparent };
    const seen = text(await session.callTool({ name: 'echo_meta', args: {}, meta, timeoutMs: TIMEOUT_MS }));
    expect(JSON.parse(String(seen))).toMatchObject({ _meta: meta, traceparent });
    await session.close();
  });

  test('a silent call times out, is cancelled at the server and may be retried', async () => {
    await using server = await start();
    const session = await connect(server.url);
    const failure = await failureOf(session.callTool({ name: 'wait', args: {}, timeoutMs: 100 }));
    expect(failure).toMatchObject({ code: 'mcp_timeout', retryable: true, unsent: false });
    await server.until(() => server.messages().includes('notifications/cancelled'));
    const inAll = { name: 'wait', args: {}, timeoutMs: TIMEOUT_MS, maxTotalMs: 100 };
    expect(await failureOf(session.callTool(inAll))).toMatchObject({ code: 'mcp_timeout', retryable: true });
    await session.close();
  });

  test('a server that disconnects during a call makes it fail immediately', async () => {
    await using server = await start();
    const session = await connect(server.url);
    const call = failureOf(session.callTool({ name: 'wait', args: {}, timeoutMs: TIMEOUT_MS }));
    await server.until(() => server.messages().includes('tools/call'));
    if (name.includes('resumes')) await server[Symbol.asyncDispose]();
    else server.dropConnections();
    expect(await call).toMatchObject({ code: 'mcp_connection_lost', retryable: true, unsent: false });
    await session.close();
  });

  test('a wrong tool and wrong arguments are reported in the server’s words', async () => {
    await using server = await start();
    const session = await connect(server.url);
    const wrong = await session.callTool({ name: 'add', args: { a: 'x' }, timeoutMs: TIMEOUT_MS });
    expect(wrong.isError).toBe(true);
    const unknown = await session.callTool({ name: 'nothing', args: {}, timeoutMs: TIMEOUT_MS });
    expect(unknown.isError).toBe(true);
    await session.close();
  });
});

describe('a stream that breaks', () => {
  test('is resumed where it broke, and the call succeeds', async () => {
    await using server = await startSdkServer({
      resumable: true,
      configure: mcp => {
        mcp.registerTool('late', { inputSchema: {} }, async (_args, { _meta, sendNotification }) => {
          const params = { progressToken: _meta?.progressToken ?? 0, progress: 1 };
          await sendNotification({ method: 'notifications/progress', params });
          await server.until(() => server.seen.some(one => one.headers['last-event-id'] !== undefined));
          return { content: [{ type: 'text', text: 'after all' }] };
        });
      },
    });
    const session = await connect(server.url);
    const onProgress = () => server.dropConnections();
    const call = session.callTool({ name: 'late', args: {}, timeoutMs: TIMEOUT_MS, onProgress });
    expect(text(await call)).toBe('after all');
    expect(server.messages().filter(message => message === 'tools/call')).toHaveLength(1);
    await session.close();
  });
});

describe('server-everything, the reference server', () => {
  test.each(['streamableHttp', 'sse'] as const)('over %s', { timeout: 60_000 }, async mode => {
    await using server = await startEverything(mode);
    const session = await connect(server.url);
    expect(session.transport).toBe(mode === 'sse' ? 'sse' : 'streamable_http');
    const { tools: listed, warnings } = await session.listTools();
    expect(warnings).toEqual([]);
    expect(listed.map(tool => tool.name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']));
    const sum = await session.callTool({ name: 'get-sum', args: { a: 40, b: 2 }, timeoutMs: TIMEOUT_MS });
    expect(text(sum)).toContain('42');
    const structured = await session.callTool({
      name: 'get-structured-content',
      args: { location: 'Chicago' },
      timeoutMs: TIMEOUT_MS,
    });
    expect(structured.structuredContent).toMatchObject({ temperature: expect.any(Number) });
    const reported: number[] = [];
    const long = await session.callTool({
      name: 'trigger-long-running-operation',
      args: { duration: 0.2, steps: 4 },
      timeoutMs: TIMEOUT_MS,
      onProgress: one => void reported.push(one.progress),
    });
    expect(text(long)).toContain('completed');
    expect(reported).toEqual([1, 2, 3, 4]);
    await session.close();
  });
});
