import { request as httpRequest } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestPat, createTestTenant } from '../../testing/identity.ts';

type Json = Record<string, unknown>;
type Answer = { status: number; type: string | undefined; headers: Json; text: string };
let service: TestContainer;
let token: string;
let client: Client;

beforeAll(async () => {
  service = await startTestContainer();
  const acme = await createTestTenant(service.container.services, { slug: 'acme' });
  token = (await createTestPat(service.container.services, acme.owner, scopes)).token;
  client = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }));
});
afterAll(async () => {
  await client?.close();
  await service.close();
});

/** Sends exactly these headers, unlike fetch, which adds an `Accept`. */
function post(body: unknown, more: Record<string, string | undefined> = {}, path = '/mcp'): Promise<Answer> {
  const all = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: '*/*', ...more };
  const headers = Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(service.url + path, { method: 'POST', headers }, response => {
      let text = '';
      response.on('data', chunk => {
        text += chunk;
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, type: received['content-type'], headers: received, text });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

const requestOf = (method: unknown, params?: unknown, more: Json = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
  ...more,
});
const ping = requestOf('ping');
const pong = { jsonrpc: '2.0', id: 1, result: {} };

/** Calls a tool as a careless client; returns its structured answer. */
async function use(name: string, args: unknown): Promise<Json> {
  const { text } = await post(requestOf('tools/call', { name, arguments: args }));
  const { result } = JSON.parse(text) as { result: CallToolResult };
  expect(result.isError ?? false, text).toBe(false);
  return result.structuredContent ?? {};
}

/** Returns the error body of a refused call, and the content after it. */
async function refused(name: string, args: unknown): Promise<{ body: Json; rest: string[] }> {
  const { text } = await post(requestOf('tools/call', { name, arguments: args }));
  const { result } = JSON.parse(text) as { result: CallToolResult };
  expect(result.isError, text).toBe(true);
  const texts = result.content.map(block => (block.type === 'text' ? block.text : ''));
  return { body: JSON.parse(texts[0] ?? ''), rest: texts.slice(1) };
}

describe('Accept', () => {
  test.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, text/event-stream',
    'text/event-stream, application/json;q=0.1',
    'APPLICATION/JSON;charset=utf-8',
    'application/*',
    '*/*;q=0.1',
    '*',
    'text/html, */*;q=0.5',
    'application/json;q=nonsense',
    `${'text/html,'.repeat(30)}application/json`,
  ])('%s is answered with JSON', async Accept => {
    const { status, type, text } = await post(ping, { Accept });
    expect([status, type]).toEqual([200, 'application/json']);
    expect(JSON.parse(text)).toEqual(pong);
  });

  test.each(['text/event-stream', 'text/event-stream;q=0.2', 'text/*', 'application/json;q=0, */*'])(
    '%s is answered with a stream of one event',
    async Accept => {
      const { status, type, text } = await post(ping, { Accept });
      expect([status, type]).toEqual([200, 'text/event-stream']);
      const [, data = ''] = /^event: message\ndata: (.*)\n\n$/.exec(text) ?? [];
      expect(JSON.parse(data)).toEqual(pong);
    },
  );

  test.each(['text/html', 'application/xml, image/*', '*/*;q=0', 'application/json;q=0', ','])(
    '%s accepts neither',
    async Accept => {
      const { status, type, text } = await post(ping, { Accept });
      expect([status, type]).toEqual([406, 'application/json; charset=utf-8']);
      expect(JSON.parse(text)).toMatchObject({ code: 'not_acceptable' });
    },
  );

  test('does not affect refusals, which are JSON', async () => {
    for (const body of ['{', '5', [ping], { ...ping, jsonrpc: '1' }]) {
      const { status, type } = await post(body, { Accept: 'text/event-stream' });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(type).toMatch(/^application\/json/);
    }
  });
});

describe('a message', () => {
  test.each<[string, unknown]>([
    ['with null for everything that it leaves out', { ...ping, params: null, result: null, error: null }],
    ['with an empty list for an empty object', { ...ping, params: [] }],
    ['with fields of its own', { ...ping, session: 'x', trace: {} }],
    ['with odd metadata', requestOf('ping', { _meta: 'x' })],
    ['with a token for progress', requestOf('ping', { _meta: { progressToken: 1.5 }, task: null })],
  ])('%s is answered', async (_, message) => {
    expect(JSON.parse((await post(message)).text)).toEqual(pong);
  });

  test.each(['a', '', '0198c0de', 0, -1, 2 ** 53 - 1])('is answered with its id %j', async id => {
    expect(JSON.parse((await post({ ...ping, id })).text)).toEqual({ ...pong, id });
  });

  test.each<[unknown, number | null, string]>([
    [{ ...ping, id: null }, null, '`id` must be a string or an integer.'],
    [{ ...ping, id: 1.5 }, null, '`id` must be a string or an integer.'],
    [{ ...ping, id: {} }, null, '`id` must be a string or an integer.'],
    [{ id: 1, method: 'ping' }, 1, '`jsonrpc` must be "2.0".'],
    [{ ...ping, method: 5 }, 1, '`method` must be a string.'],
    [{ jsonrpc: '2.0', id: 1 }, 1, '`method` must be a string.'],
    ['null', null, 'The message must be a JSON object.'],
    ['"ping"', null, 'The message must be a JSON object.'],
  ])('%j is refused in words', async (message, id, reason) => {
    const { status, text } = await post(message);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id, error: { code: -32600, message: reason } });
  });

  test.each<[string, unknown, string]>([
    ['ping', 5, '`params` must be an object.'],
    ['tools/call', null, '`params.name` must be a string.'],
    ['tools/call', { name: 5 }, '`params.name` must be a string.'],
    ['tools/call', { name: 'health_summary', arguments: [1] }, '`params.arguments` must be an object.'],
    ['tools/call', { name: 'health_summary', arguments: 'x' }, '`params.arguments` must be an object.'],
    ['prompts/get', { name: 'build_workflow', arguments: 5 }, '`params.arguments` must be an object.'],
    ['resources/read', {}, '`params.uri` must be a string.'],
    ['resources/list', { cursor: 5 }, '`params.cursor` must be a string.'],
  ])('%s with %j is refused in words', async (method, params, reason) => {
    const { status, text } = await post(requestOf(method, params));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: reason } });
  });

  test.each(['logging/setLevel', 'completion/complete', 'resources/subscribe', 'tasks/list', '__proto__', 'x'])(
    '%s is no method',
    async method => {
      expect(JSON.parse((await post(requestOf(method, {}))).text)).toMatchObject({ error: { code: -32601 } });
    },
  );

  test.each<[string, unknown]>([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['a notification with nulls', { jsonrpc: '2.0', id: null, method: 'notifications/initialized', params: null }],
    ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/x', params: 5 }],
    ['a request that wants no answer', { jsonrpc: '2.0', method: 'tools/list' }],
    ['a cancellation', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: null } }],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }],
  ])('that is %s has no answer', async (_, message) => {
    expect(await post(message)).toMatchObject({ status: 202, type: undefined, text: '' });
  });

  test('of an unknown session is answered', async () => {
    const more = { 'Mcp-Session-Id': 'x', 'Last-Event-ID': '5' };
    const { status, headers } = await post(ping, more);
    expect([status, headers['mcp-session-id']]).toEqual([200, undefined]);
  });

  test('reaches the endpoint with a slash at its end, or a query', async () => {
    for (const path of ['/mcp/', '/mcp?x=1', '/mcp/?x=1']) expect((await post(ping, {}, path)).status).toBe(200);
    expect((await post(ping, {}, '/mcp//')).status).toBe(404);
  });
});

describe('initialize', () => {
  test.each<[string, unknown]>([
    ['as specified', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }],
    ['without a version of the client', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x' } }],
    ['with odd capabilities', { capabilities: { roots: null, sampling: true, tasks: [], x: 5 }, clientInfo: null }],
    ['with empty lists', { capabilities: [], clientInfo: [], _meta: [] }],
    ['with a protocol of the future', { protocolVersion: '2099-01-01' }],
    ['with a number for the protocol', { protocolVersion: 20251125 }],
    ['with nothing', null],
  ])('%s succeeds', async (_, params) => {
    const { status, text } = await post(requestOf('initialize', params));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      result: {
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'baton' },
        instructions: expect.stringContaining('describe_tool'),
      },
    });
  });

  test.each(['2025-06-18', '2025-03-26', '2024-11-05'])('agrees on the older protocol %s', async protocolVersion => {
    expect(JSON.parse((await post(requestOf('initialize', { protocolVersion }))).text)).toMatchObject({
      result: { protocolVersion },
    });
  });
});

test.each([
  ['', 200],
  [' ', 200],
  ['2025-06-18', 200],
  ['2024-11-05', 200],
  ['2025-06-18, 2025-06-18', 200],
  ['2025-06-18, 2025-03-26', 400],
  ['2099-01-01', 400],
  ['x', 400],
])('MCP-Protocol-Version: %s', async (version, status) => {
  const answer = await post(ping, { 'MCP-Protocol-Version': version });
  expect([answer.status, answer.type]).toEqual([status, 'application/json']);
});

describe('arguments of careless clients', () => {
  test('may be null instead of absent, and JSON in text, at any depth', async () => {
    const graph = {
      steps: [{ id: 'a', type: 'lua_script', script: 'return input.n', note: '{"n":1}', nothing: null }],
      input_schema: null,
      on_failure: null,
    };
    const made = await use('workflows_create', { name: 'Careless', description: null, graph: JSON.stringify(graph) });
    // A step may hold any JSON until it is published, so its fields are left alone.
    expect(made).toMatchObject({ description: '', graph: { steps: graph.steps } });
    expect(Object.keys(made.graph as Json)).toEqual(['steps']);
    const { id } = made;
    const edits = [{ type: 'update_step', step: 'a', set: '{"script":"return 1"}', unset: '["note","nothing"]' }];
    await use('workflows_edit', JSON.stringify({ id, edits: JSON.stringify(edits) }));
    expect(await use('workflows_get', { id })).toMatchObject({
      graph: { steps: [{ id: 'a', type: 'lua_script', script: 'return 1' }] },
    });
    await use('workflows_publish_version', { id, changelog: '42' });
    const params = '{"n":"5","text":"[1]"}';
    const started = await use('workflows_run', { id, wait_s: '30', params });
    expect(started).toMatchObject({ status: 'completed', output: 1 });
    const run = { id, run_id: started.run_id };
    // The input takes any JSON: its texts are texts.
    expect(await use('runs_get_context', run)).toMatchObject({ input: { n: '5', text: '[1]' } });
    const page = { ...run, limit: '1', cursor: null, after: null, step_id: null, failures: null };
    expect(await use('runs_list_events', page)).toMatchObject({ events: [{ seq: 1 }] });
    const listed = await use('workflows_list_runs', { id, test: false, from: null });
    expect(listed.runs).toHaveLength(1);
    expect(await use('workflows_diff_versions', { id, a: '1', b: 'draft' })).toMatchObject({ steps: [] });
    const watched = { workflow_id: id, run_id: started.run_id, after: '0', max_messages: '1', max_bytes: null };
    expect(await use('workflows_stream_websocket', watched)).toMatchObject({ ended_by: 'messages' });
  });

  test.each([null, undefined, '', '{}', []])('are refused if they are %j', async args => {
    expect(await use('health_summary', args)).toMatchObject({ tenant_id: 'acme' });
    expect(await use('workflows_list', args)).toMatchObject({ workflows: expect.any(Array) });
  });

  test('of the catalog are fitted to the route that they reach', async () => {
    const server = { name: 'Mine', canonical_url: 'https://mcp.example.com/mcp', mode: null, auth_mode: null };
    const body = JSON.stringify(server);
    const made = await use('catalog_bff_request', { method: 'POST', path: '/v1/mcp/servers', query: null, body });
    expect(made).toMatchObject({ status: 201, body: { name: 'Mine', mode: 'third_party' } });
    const listed = { method: 'GET', path: '/v1/mcp/servers', query: '{"limit":"1","cursor":null}', body: null };
    expect(await use('catalog_bff_request', listed)).toMatchObject({
      status: 200,
      body: { servers: [{ name: 'Mine' }] },
    });
  });

  test('of a prompt may be null or numbers', async () => {
    const { text } = await post(requestOf('prompts/get', { name: 'build_workflow', arguments: { goal: 42, x: null } }));
    expect(text).toContain('does this: 42');
  });

  test('are strict over REST', async () => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    for (const body of [
      { name: 'x', description: null },
      { name: 'x', graph: '{"steps":[]}' },
    ]) {
      const answer = await fetch(`${service.url}/v1/workflows`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(422);
    }
  });
});

describe('wrong arguments are named with what is expected', () => {
  test.each<[string, Json, string, string | RegExp]>([
    ['workflows_create', { name: 5 }, 'name', 'expected string'],
    ['workflows_create', { name: null }, 'name', 'expected string'],
    ['workflows_create', { name: 'x', colour: null }, 'colour', 'is not a known field'],
    ['workflows_create', { name: 'x', graph: '{"steps":"x"}' }, 'graph.steps', 'expected array'],
    ['workflows_edit', { edits: [{ type: 'nope' }] }, 'edits[0].type', "'add_step' | 'update_step'"],
    ['workflows_edit', { edits: '[{"type":"add_step","step":{"id":1}}]' }, 'edits[0].step.id', 'expected string'],
    ['workflows_edit', { edits: '[' }, 'edits', 'expected array'],
    ['workflows_execute_command', { command: 'go' }, 'command', '"start"|"pause"'],
    ['agents_create', { name: 'x', model: 'a/b', limits: { max_turns: 'x' } }, 'limits.max_turns', 'expected number'],
    ['workflows_stream_websocket', { workflow_id: 'x' }, 'workflow_id', 'UUID'],
    ['runs_get_summary', {}, 'run_id', 'expected string'],
    ['runs_get_summary', { run_id: 5 }, 'run_id', 'expected string'],
    ['workflows_get', { id: 'Invoices' }, 'id', 'UUID'],
    ['workflows_diff_versions', { a: 'latest', b: 'draft' }, 'a', 'expected'],
  ])('%s %j', async (name, args, path, expected) => {
    const id = name.startsWith('workflows_create') || name === 'agents_create' || name === 'workflows_stream_websocket';
    const { body, rest } = await refused(name, id ? args : { id: '01900000-0000-7000-8000-00000000abcd', ...args });
    const details = body.details as { path: string; message: string }[];
    expect(details.find(detail => detail.path === path)?.message).toMatch(expected);
    if (body.code === 'validation_error') {
      expect(rest).toEqual([`describe_tool {"name":"${name}"} returns the schema of the arguments.`]);
    }
  });
});

describe('describe_tool', () => {
  test('and the resource of a tool contain the details that the list leaves out', async () => {
    const { tools } = await client.listTools();
    const listed = tools.find(({ name }) => name === 'workflows_edit');
    expect(JSON.stringify(listed)).not.toContain('rename_step');
    const described = await use('describe_tool', { name: 'workflows_edit' });
    expect(described).toMatchObject({
      name: 'workflows_edit',
      title: 'Apply edits to the draft: all of them, or none',
      description: expect.stringContaining('REST: POST /v1/workflows/{id}/edits'),
      inputSchema: { properties: { id: { format: 'uuid' } }, required: ['id', 'edits'] },
      annotations: listed?.annotations,
    });
    expect(JSON.stringify(described)).toContain('rename_step');
    expect(described).not.toHaveProperty('outputSchema');
    const whole = await use('describe_tool', { name: 'workflows_edit', output: 'true' });
    expect(whole.outputSchema).toMatchObject({ type: 'object', properties: { workflow: {} } });
    const { contents } = await client.readResource({ uri: 'baton://tools/workflows_edit' });
    const [content] = contents;
    expect(JSON.parse(content && 'text' in content ? content.text : '')).toEqual(whole);
  });

  test('describes every tool that is listed, and no other', async () => {
    const { tools } = await client.listTools();
    for (const { name } of tools) expect(await use('describe_tool', { name }), name).toMatchObject({ name });
    for (const name of ['pats_create', 'nothing', '__proto__', '']) {
      expect((await refused('describe_tool', { name })).body, name).toMatchObject({ code: 'not_found' });
      await expect(client.readResource({ uri: `baton://tools/${name}` })).rejects.toThrow('There is no resource');
    }
  });

  test('describes no tool that the token may not use', async () => {
    const acme = await createTestTenant(service.container.services, { slug: 'reading' });
    const { token: reading } = await createTestPat(service.container.services, acme.owner, ['workflow:read']);
    const call = requestOf('tools/call', { name: 'describe_tool', arguments: { name: 'workflows_create' } });
    const more = { Authorization: `Bearer ${reading}` };
    expect((await post(call, more)).text).toContain('not_found');
    expect((await post(requestOf('resources/read', { uri: 'baton://tools/workflows_create' }), more)).text).toContain(
      '-32602',
    );
    expect((await post(requestOf('tools/list'), more)).text).toContain('"describe_tool"');
  });
});

test('answers fit the output schemas that describe_tool gives', async () => {
  // The official client checks structured content against the schema in the list, which says only that it is an object.
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'workflows_list')?.outputSchema).toEqual({ type: 'object' });
  await expect(client.callTool({ name: 'workflows_list', arguments: {} })).resolves.toMatchObject({
    structuredContent: { workflows: expect.any(Array) },
  });
});
