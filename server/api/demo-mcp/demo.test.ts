import { once } from 'node:events';
import { createServer, request as httpRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../operation/config.ts';
import { demoMcpAddresses, demoMcpUrl } from '../../operation/demo-mcp.ts';
import { createEgress, EgressRefused } from '../../platform/egress/egress.ts';
import { connectMcp, type McpSession } from '../../platform/mcp-client/index.ts';
import { freePort } from '../../platform/postgres/free-port.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { serveSurfaces } from '../node-http.ts';

const TIMEOUT_MS = 10_000;
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

/** fetch sets Host itself; a rebinding browser sends the attacker's name. */
function post(url: string, headers: Record<string, string>, body = initialize): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers: { ...json, ...headers } }, response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

describe('the demo MCP server', () => {
  let service: TestContainer;
  let session: McpSession;
  beforeAll(async () => {
    service = await startTestContainer({ BATON_DEMO_MCP: 'true' });
    session = await connectMcp({ url: `${service.url}/demo/mcp`, headers: {}, fetch, timeoutMs: TIMEOUT_MS });
  });
  afterAll(async () => {
    await session.close();
    await service.close();
  });

  test('describes its tools completely', async () => {
    expect(session).toMatchObject({ transport: 'streamable_http', serverInfo: { name: 'baton-demo' } });
    const { tools } = await session.listTools();
    expect(tools.map(tool => tool.name)).toEqual([
      'lookup_exchange_rate',
      'create_invoice',
      'read_feed',
      'slow_count',
      'fail',
    ]);
    for (const tool of tools) {
      expect(tool).toMatchObject({ title: expect.any(String), description: expect.any(String), annotations: {} });
      expect(tool.inputSchema).toMatchObject({ type: 'object' });
      if (tool.name !== 'fail') expect(tool.outputSchema).toMatchObject({ type: 'object' });
    }
  });

  test('looks up rates in a table that does not change', async () => {
    const args = { from: 'USD', to: 'EUR', amount: 1_172.1 };
    const { structuredContent } = await session.callTool({ name: 'lookup_exchange_rate', args, timeoutMs: TIMEOUT_MS });
    expect(structuredContent).toEqual({
      from: 'USD',
      to: 'EUR',
      rate: 0.85317,
      as_of: '2026-01-02',
      converted: 1_000,
    });
  });

  test('returns the same invoice to a second attempt of a step', async () => {
    const args = { customer: 'ACME', lines: [{ description: 'Work', quantity: 2, unit_price: 50.25 }] };
    const invoice = async (idempotency_key?: string) => {
      const meta = idempotency_key === undefined ? {} : { meta: { idempotency_key } };
      return (await session.callTool({ name: 'create_invoice', args, ...meta, timeoutMs: TIMEOUT_MS }))
        .structuredContent;
    };
    const first = await invoice('run-1:bill');
    expect(first).toMatchObject({ customer: 'ACME', currency: 'EUR', total: 100.5, status: 'draft' });
    expect(await invoice('run-1:bill')).toEqual(first);
    expect(await invoice('run-2:bill')).not.toEqual(first);
    expect(await invoice()).toEqual(await invoice());
  });

  test('counts with progress, and stops when it is told to', async () => {
    const messages: unknown[] = [];
    const slow = { name: 'slow_count', args: { to: 3, delay_ms: 10 }, timeoutMs: TIMEOUT_MS };
    const counted = await session.callTool({ ...slow, onProgress: one => void messages.push(one.message) });
    expect(counted.structuredContent).toEqual({ counted: 3 });
    expect(messages).toEqual(['counted to 1', 'counted to 2', 'counted to 3']);
    const abort = new AbortController();
    const args = { to: 60, delay_ms: 1_000 };
    const call = session.callTool({ name: 'slow_count', args, signal: abort.signal, timeoutMs: TIMEOUT_MS });
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'mcp_cancelled' });
  });

  test('fails when it is asked to', async () => {
    const failed = await session.callTool({ name: 'fail', args: { message: 'as asked' }, timeoutMs: TIMEOUT_MS });
    expect(failed).toMatchObject({ isError: true, content: [{ type: 'text', text: 'as asked' }] });
  });

  test('refuses other sites and other names', async () => {
    const url = `${service.url}/demo/mcp`;
    expect(await post(url, {})).toBe(200);
    expect(await post(url, { origin: service.url })).toBe(200);
    expect(await post(url, { host: 'evil.example' })).toBe(403);
    expect(await post(url, { host: 'evil.example:80' })).toBe(403);
    expect(await post(url, { origin: 'https://evil.example' })).toBe(403);
    expect(await post(url, { origin: 'null' })).toBe(403);
  });

  test('keeps a limited number of sessions, and accepts no large messages', async () => {
    const url = `${service.url}/demo/mcp`;
    const first = await connectMcp({ url, headers: {}, fetch, timeoutMs: TIMEOUT_MS });
    for (let opened = 0; opened < 70; opened++) await post(url, {});
    const late = first.callTool({ name: 'fail', args: {}, timeoutMs: TIMEOUT_MS });
    await expect(late).rejects.toMatchObject({ code: 'mcp_session_lost', retryable: true, unsent: true });
    expect(await post(url, {}, JSON.stringify({ filler: 'x'.repeat(70_000) }))).toBe(413);
    expect(await post(url, {}, '{')).toBe(400);
    expect((await fetch(url)).status).toBe(405);
    await first.close();
    session = await connectMcp({ url, headers: {}, fetch, timeoutMs: TIMEOUT_MS });
  });

  test('can be switched off', () => {
    expect(readConfig({ BATON_SEED: 'none' }).demoMcp).toBe(false);
    expect(readConfig({ BATON_SEED: 'example' }).demoMcp).toBe(true);
    expect(readConfig({ BATON_SEED: 'example', BATON_DEMO_MCP: 'false' }).demoMcp).toBe(false);
    const request = Object.assign(new IncomingMessage(new Socket()), { url: '/demo/mcp' });
    const off = { ...service.container, demoMcp: null };
    expect(serveSurfaces(off, request, new ServerResponse(request), 0)).toBeNull();
  });
});

describe('the address of the demo server', () => {
  const http = { host: '0.0.0.0', port: 3999, url: 'https://baton.example' };

  test('is this machine, whatever the public address is', () => {
    expect(demoMcpUrl(http)).toBe('http://127.0.0.1:3999/demo/mcp');
    expect(demoMcpUrl({ ...http, host: '::' })).toBe('http://[::1]:3999/demo/mcp');
    expect(demoMcpUrl({ ...http, host: 'baton.local' })).toBe('http://baton.local:3999/demo/mcp');
  });

  test('is the only one of this machine that may be called', async () => {
    const egress = createEgress({ allowPrivate: [], exempt: demoMcpAddresses(http) });
    await egress.check('http://127.0.0.1:3999/demo/mcp');
    await egress.check('http://localhost:3999/demo/mcp');
    for (const near of ['/demo/mcp/..', '/demo', '/v1/me', '/mcp', '/demo/mcp/x']) {
      await expect(egress.check(`http://127.0.0.1:3999${near}`)).rejects.toBeInstanceOf(EgressRefused);
    }
    await expect(egress.check('http://127.0.0.1:4000/demo/mcp')).rejects.toBeInstanceOf(EgressRefused);
    await egress.close();
  });

  test('can be called through the egress guard of the service, which refuses everything else on this machine', async () => {
    const port = await freePort();
    const { container, close } = await startTestContainer({ BATON_DEMO_MCP: 'true', PORT: String(port) });
    const server = createServer((request, response) => void serveSurfaces(container, request, response, 0));
    await once(server.listen(port, '127.0.0.1'), 'listening');
    const { config, egress } = container.services;
    const url = demoMcpUrl(config.http);
    const session = await connectMcp({ url, headers: {}, fetch: egress.fetch, timeoutMs: TIMEOUT_MS });
    expect((await session.listTools()).tools).toHaveLength(5);
    await session.close();
    const elsewhere = egress.fetch(url.replace('/demo/mcp', '/v1/me'));
    await expect(elsewhere).rejects.toBeInstanceOf(EgressRefused);
    server.closeAllConnections();
    server.close();
    await close();
  });
});
