import { describe, expect, test } from 'vitest';
import { startSdkServer, startSseServer } from '../../testing/mcp-server.ts';
import { ManualClock } from '../clock.ts';
import { type CallToolResult, connectMcp, McpFailure, type McpSession, SessionPool } from './index.ts';

const TIMEOUT_MS = 10_000;

const serve = () =>
  startSdkServer({
    configure(server) {
      server.registerTool('hello', { inputSchema: {} }, () => ({ content: [{ type: 'text', text: 'hello' }] }));
      server.registerTool('wait', { inputSchema: {} }, async (_args, { signal }) => {
        await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
        return { content: [] };
      });
    },
  });

const hello = (session: McpSession): Promise<CallToolResult> =>
  session.callTool({ name: 'hello', args: {}, timeoutMs: TIMEOUT_MS });
const count = (messages: string[], method: string): number => messages.filter(one => one === method).length;

function poolFor(url: string, options: { most?: number } = {}) {
  const clock = new ManualClock();
  const pool = new SessionPool({ clock, idleMs: 1_000, ...options });
  const connect = (signal: AbortSignal) => connectMcp({ url, headers: {}, fetch, timeoutMs: TIMEOUT_MS, signal });
  return {
    clock,
    pool,
    on: <T>(key: string, work: (session: McpSession) => Promise<T>, signal?: AbortSignal) =>
      pool.run(key, connect, work, signal),
  };
}

describe('a pool of sessions', () => {
  test('connects once for concurrent callers, and keeps the session for later ones', async () => {
    await using server = await serve();
    const { pool, on } = poolFor(server.url);
    await Promise.all(Array.from({ length: 20 }, () => on('a', hello)));
    await on('a', hello);
    expect(count(server.messages(), 'initialize')).toBe(1);
    expect(count(server.messages(), 'tools/call')).toBe(21);
    await on('b', hello);
    expect(count(server.messages(), 'initialize')).toBe(2);
    await pool.close();
    expect(server.sessions.size).toBe(0);
    await expect(on('a', hello)).rejects.toMatchObject({ code: 'mcp_connection_lost', unsent: true });
  });

  test('closes sessions that were idle for a while, but none in use', async () => {
    await using server = await serve();
    const { clock, pool, on } = poolFor(server.url);
    await on('a', hello);
    const abort = new AbortController();
    const waiting = on('b', session =>
      session.callTool({ name: 'wait', args: {}, timeoutMs: TIMEOUT_MS, signal: abort.signal }),
    );
    waiting.catch(() => undefined);
    await server.until(() => count(server.messages(), 'tools/call') === 2);
    clock.advance(999);
    await pool.sweep();
    expect(pool.size).toBe(2);
    clock.advance(1);
    await pool.sweep();
    expect(pool.size).toBe(1);
    expect(count(server.messages(), 'DELETE')).toBe(1);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'mcp_cancelled' });
    await pool.close();
  });

  test('continues once with a new session if the server has forgotten the kept one', async () => {
    await using server = await serve();
    const { pool, on } = poolFor(server.url);
    await on('a', hello);
    server.sessions.clear();
    await on('a', hello);
    expect(count(server.messages(), 'initialize')).toBe(2);
    let tries = 0;
    const lost = on('a', async () => {
      tries++;
      throw new McpFailure('mcp_session_lost', 'gone', true, { unsent: true });
    });
    await expect(lost).rejects.toMatchObject({ code: 'mcp_session_lost' });
    expect(tries).toBe(2);
    await pool.close();
  });

  test('drops a session after a failure that it may not have survived, and connects again', async () => {
    await using server = await serve();
    const { pool, on } = poolFor(server.url);
    const slow = on('a', session => session.callTool({ name: 'wait', args: {}, timeoutMs: 50 }));
    await expect(slow).rejects.toMatchObject({ code: 'mcp_timeout' });
    expect(pool.size).toBe(0);
    await on('a', hello);
    expect(count(server.messages(), 'initialize')).toBe(2);
    await pool.close();
  });

  test('drops a session whose event stream ended', async () => {
    await using server = await startSseServer(mcp => {
      mcp.registerTool('hello', { inputSchema: {} }, () => ({ content: [] }));
    });
    const { pool, on } = poolFor(server.url);
    const session = await on('a', async one => one);
    server.dropConnections();
    await server.until(() => server.sockets() === 0);
    await expect.poll(() => session.usable).toBe(false);
    expect((await on('a', hello)).content).toEqual([]);
    await pool.close();
  });

  test('limits its sessions: the least recently used one is closed for a new one, unless all are in use', async () => {
    await using server = await serve();
    const { pool, on } = poolFor(server.url, { most: 2 });
    await on('a', hello);
    await on('b', hello);
    await on('a', hello);
    await on('c', hello);
    await on('a', hello);
    expect(count(server.messages(), 'initialize')).toBe(3);
    const abort = new AbortController();
    const wait = (session: McpSession) =>
      session.callTool({ name: 'wait', args: {}, timeoutMs: TIMEOUT_MS, signal: abort.signal });
    const waiting = Promise.allSettled([on('a', wait), on('c', wait)]);
    await server.until(() => count(server.messages(), 'tools/call') === 7);
    await expect(on('d', hello)).rejects.toMatchObject({ code: 'mcp_busy', retryable: true, unsent: true });
    abort.abort();
    await waiting;
    await pool.close();
  });

  test('a failed connection fails all waiting callers, and is not kept', async () => {
    await using server = await serve();
    const { pool } = poolFor(server.url);
    let connects = 0;
    const refuse = async (): Promise<McpSession> => {
      connects++;
      throw new McpFailure('mcp_unreachable', 'no', true, { unsent: true });
    };
    const both = await Promise.allSettled([pool.run('a', refuse, hello), pool.run('a', refuse, hello)]);
    expect(both.map(one => one.status)).toEqual(['rejected', 'rejected']);
    expect(connects).toBe(1);
    expect(pool.size).toBe(0);
    await expect(pool.run('a', refuse, hello)).rejects.toMatchObject({ code: 'mcp_unreachable' });
    await pool.close();
  });

  test('a caller that stops waiting for a connection does not end it for the others', async () => {
    await using server = await serve();
    const { pool, on } = poolFor(server.url);
    const abort = new AbortController();
    const first = on('a', hello, abort.signal);
    const second = on('a', hello);
    abort.abort();
    await expect(first).rejects.toMatchObject({ code: 'mcp_cancelled', unsent: true });
    expect((await second).content).toHaveLength(1);
    await pool.close();
  });

  test('closing ends calls in progress', async () => {
    await using server = await serve();
    const { pool, on } = poolFor(server.url);
    const call = on('a', session => session.callTool({ name: 'wait', args: {}, timeoutMs: TIMEOUT_MS }));
    call.catch(() => undefined);
    await server.until(() => server.messages().includes('tools/call'));
    await pool.close();
    await expect(call).rejects.toMatchObject({ code: 'mcp_connection_lost' });
    expect(server.sessions.size).toBe(0);
  });
});
