import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import type { AnyOperation } from '../../operation/operation.ts';
import { type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { newId } from '../../platform/ids.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestMember, createTestPat, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operations } from '../operations.ts';
import { createRegistry } from '../registry.ts';

type Json = Record<string, unknown>;
let service: TestContainer;
let acme: TestTenant;
let token: string;
let client: Client;

beforeAll(async () => {
  service = await startTestContainer();
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  token = await tokenOf(acme.owner, scopes);
  client = await connect(token);
});
afterAll(async () => {
  await client?.close();
  await service.close();
});

async function tokenOf(principal: Principal, granted: readonly Scope[]): Promise<string> {
  return (await createTestPat(service.container.services, principal, granted)).token;
}

async function connect(bearer: string, to = service): Promise<Client> {
  const mcp = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: `Bearer ${bearer}` };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${to.url}/mcp`), { requestInit: { headers } }));
  return mcp;
}

/** Returns the answer of a tool; the client itself validates structured content against the tool's output schema. */
async function use(name: string, args: Json = {}, as = client): Promise<Json> {
  const result = (await as.callTool({ name, arguments: args })) as CallToolResult;
  expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false);
  return result.structuredContent ?? {};
}

/** Returns the API's error body of a tool that refuses. */
async function refused(name: string, args: Json = {}, as = client): Promise<Json> {
  const result = (await as.callTool({ name, arguments: args })) as CallToolResult;
  expect(result.isError).toBe(true);
  const [block] = result.content;
  return JSON.parse(block?.type === 'text' ? block.text : '{}');
}

const names = async (of: Client) => (await of.listTools()).tools.map(tool => tool.name);
const graph = {
  steps: [
    { id: 'double', type: 'lua_script', script: 'return input.n * 2' },
    { id: 'approve', type: 'human_task', instructions: 'Is {{steps.double.result}} right?', depends_on: ['double'] },
  ],
};

async function publish(as = client): Promise<string> {
  const { id } = await use('workflows_create', { name: 'Doubled', graph }, as);
  await use('workflows_publish_version', { id, changelog: 'first' }, as);
  return String(id);
}

describe('an assistant with only a token', () => {
  test('creates, publishes, starts, watches and approves a run to its end', async () => {
    const id = await publish();
    expect(await use('workflows_validate', { id })).toMatchObject({ valid: true });
    const started = await use('workflows_execute_command', {
      id,
      command: 'start',
      params: { trigger_payload: { n: 21 } },
    });
    const run = { id, run_id: started.run_id };
    const seen = await use('workflows_stream_websocket', {
      workflow_id: id,
      run_id: started.run_id,
      after: 0,
      max_messages: 6,
      max_duration_ms: 30_000,
    });
    expect(seen).toMatchObject({ ended_by: 'messages', last_seq: 5 });
    const waiting = await use('tasks_list_pending_run', run);
    expect(waiting).toMatchObject({ tasks: [{ task_id: 'approve', instructions: 'Is 42 right?' }] });
    expect(await use('runs_get_summary', run)).toMatchObject({ orchestration_phase: 'blocked', trigger_type: 'mcp' });
    await use('tasks_complete', { ...run, task_id: 'approve', approved: true });
    const rest = await use('workflows_stream_websocket', {
      workflow_id: id,
      run_id: started.run_id,
      after: seen.last_seq,
      max_duration_ms: 30_000,
    });
    expect(rest.ended_by).toBe('run_ended');
    expect(await use('runs_get_summary', run)).toMatchObject({ status: 'completed', run_complete: true });
    expect(await use('runs_get_context', run)).toMatchObject({ input: { n: 21 } });
  });

  test('pauses and stops by the run id it chose', async () => {
    const id = await publish();
    const run_id = '01900000-0000-7000-8000-00000000abcd';
    await use('workflows_execute_command', { id, command: 'start', params: { run_id, n: 1 } });
    expect(await use('workflows_execute_command', { id, command: 'pause', params: { run_id } })).toMatchObject({
      status: 'paused',
    });
    expect(await use('workflows_execute_command', { id, command: 'stop', params: { run_id } })).toMatchObject({
      status: 'stopped',
    });
    expect(await refused('workflows_execute_command', { id, command: 'resume', params: { run_id } })).toMatchObject({
      code: 'run_already_ended',
    });
  });
});

test('an assistant learns which input a workflow accepts, and why its own is invalid', async () => {
  const input_schema = {
    type: 'object',
    required: ['order'],
    properties: { order: { type: 'object', properties: { price: { type: 'number', minimum: 0 } } } },
  };
  const fields = { name: 'Strict', graph: { ...graph, input_schema } };
  const { id } = await use('workflows_create', fields);
  await use('workflows_publish_version', { id, changelog: 'first' });
  expect(await use('workflows_get', { id })).toMatchObject({ graph: { input_schema } });
  for (const [params, path] of [
    [{ order: { price: -1 } }, 'input.order.price'],
    [{ trigger_payload: { order: 5 } }, 'input.order'],
    [{}, 'input'],
  ] as const) {
    const problem = { code: 'invalid_input', details: [{ path }] };
    expect(await refused('workflows_execute_command', { id, command: 'start', params })).toMatchObject(problem);
    expect(await refused('workflows_run', { id, params })).toMatchObject(problem);
  }
  const { tools } = await client.listTools();
  for (const tool of ['workflows_execute_command', 'workflows_run']) {
    const found = tools.find(({ name }) => name === tool);
    expect(JSON.stringify(found?.inputSchema.properties?.params), tool).toContain('input_schema');
  }
});

describe('the list of tools', () => {
  test('has every tool the specification names in the groups that are on', async () => {
    const specified =
      `workflows_list workflows_get workflows_create workflows_patch workflows_publish_version workflows_validate
      workflows_execute_command workflows_list_runs runs_get_summary runs_list_tenant runs_list_events runs_get_context tasks_list_pending
      tasks_list_pending_run tasks_complete health_summary catalog_bff_request workflows_stream_websocket memory_search memory_get_episode
      memory_get_continuation memory_propose_items memory_confirm_item memory_index_file`.split(/\s+/);
    const offered = await names(client);
    expect(offered).toEqual(expect.arrayContaining(specified));
  });

  test('states which tools only read and which are destructive', async () => {
    const { tools } = await client.listTools();
    const hints = new Map(tools.map(tool => [tool.name, tool.annotations]));
    expect(hints.get('workflows_get')).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(hints.get('workflows_create')).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(hints.get('catalog_bff_request')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(tools.find(tool => tool.name === 'runs_get_summary')?.inputSchema.required).toEqual(['id', 'run_id']);
    expect(tools.find(tool => tool.name === 'runs_get_summary')?.outputSchema).toBeDefined();
  });

  test('has no tool that the token cannot use, and such a call is the 403 of the API', async () => {
    const reader = await connect(await tokenOf(acme.owner, ['workflow:read']));
    const offered = await names(reader);
    expect(offered).toEqual(expect.arrayContaining(['workflows_list', 'runs_get_summary', 'health_summary']));
    for (const hidden of ['workflows_create', 'workflows_execute_command', 'tasks_complete', 'catalog_bff_request'])
      expect(offered).not.toContain(hidden);
    expect(await refused('workflows_create', { name: 'x' }, reader)).toMatchObject({ code: 'insufficient_scope' });
    await reader.close();
    const viewer = await createTestMember(service.container.services, acme, 'project_viewer', 'v@acme.example.com');
    const seeing = await connect(await tokenOf(viewer, scopes));
    expect(await names(seeing)).not.toContain('workflows_create');
    expect(await refused('workflows_create', { name: 'x' }, seeing)).toMatchObject({ code: 'insufficient_role' });
    await seeing.close();
  });

  test('has neither sensitive groups nor risk until the deployment names them', async () => {
    const offered = await names(client);
    expect(offered.filter(name => /^(pats|webhooks|connections)_/.test(name))).toEqual([]);
    await expect(client.callTool({ name: 'pats_create', arguments: {} })).rejects.toThrow('There is no tool');
    await using open = await startWith({ BATON_MCP_GROUPS: 'core,pat' });
    expect(await names(open.client)).toEqual(expect.arrayContaining(['pats_list', 'pats_revoke', 'workflows_list']));
    expect(await names(open.client)).not.toContain('pats_create');
    expect(await names(open.client)).not.toContain('workflows_stream_websocket');
    await using risky = await startWith({ BATON_MCP_GROUPS: 'pat', BATON_MCP_RISK: 'true' });
    expect(await names(risky.client)).toEqual(expect.arrayContaining(['pats_create', 'pats_reveal']));
    expect(await names(risky.client)).not.toContain('workflows_list');
  });
});

async function startWith(env: Record<string, string>) {
  const other = await startTestContainer(env);
  const tenant = await createTestTenant(other.container.services, { slug: 'acme' });
  const { token: bearer } = await createTestPat(other.container.services, tenant.owner, scopes);
  const mcp = await connect(bearer, other);
  return {
    client: mcp,
    async [Symbol.asyncDispose]() {
      await mcp.close();
      await other.close();
    },
  };
}

describe('a refusal of a tool', () => {
  test('is the error body of the API', async () => {
    expect(await refused('workflows_get', { id: '01900000-0000-7000-8000-000000000000' })).toMatchObject({
      code: 'not_found',
      error: 'Workflow not found.',
    });
    expect(await refused('workflows_create', { nmae: 'x' })).toMatchObject({
      code: 'validation_error',
      details: expect.arrayContaining([{ path: 'nmae', message: 'is not a known field' }]),
    });
    await expect(client.callTool({ name: 'memory_list', arguments: {} })).rejects.toThrow('There is no tool');
  });

  test('names a feature that the deployment has disabled', async () => {
    await using without = await startWith({ BATON_MEMORY: 'off' });
    expect(await names(without.client)).toEqual(expect.arrayContaining(['memory_search', 'memory_confirm_item']));
    const result = await without.client.callTool({ name: 'memory_search', arguments: { query: 'x' } });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result.content)).toContain('memory_not_configured');
  });

  test("is the same for another tenant's workflow as for one that does not exist", async () => {
    const rival = await createTestTenant(service.container.services, { slug: 'rival' });
    const theirs = await connect(await tokenOf(rival.owner, scopes));
    const id = await publish(theirs);
    await theirs.close();
    expect(await refused('workflows_get', { id })).toMatchObject({ code: 'not_found' });
    expect(await refused('workflows_stream_websocket', { workflow_id: id })).toMatchObject({ code: 'not_found' });
    await expect(client.readResource({ uri: `baton://workflows/${id}` })).rejects.toThrow('Workflow not found');
  });
});

describe('a bounded read of a stream', () => {
  test('ends at each of its caps, and after a refused start', async () => {
    const id = await publish();
    const { run_id } = await use('workflows_execute_command', { id, command: 'start', params: { n: 1 } });
    const ref = { workflow_id: id, run_id, after: 0, max_duration_ms: 30_000 };
    await use('workflows_stream_websocket', { ...ref, max_messages: 6 });
    const one = await use('workflows_stream_websocket', { ...ref, max_messages: 1 });
    expect(one).toMatchObject({ ended_by: 'messages', last_seq: 1 });
    expect(one.frames).toHaveLength(1);
    const small = await use('workflows_stream_websocket', { ...ref, max_bytes: 700 });
    expect(small.ended_by).toBe('bytes');
    expect(Number(small.bytes)).toBeLessThanOrEqual(700);
    const first = await use('workflows_stream_websocket', { ...ref, max_bytes: 1 });
    expect(first.frames).toHaveLength(1);
    const brief = await use('workflows_stream_websocket', { ...ref, max_duration_ms: 0 });
    expect(brief.ended_by).toBe('duration');
    const none = { workflow_id: id, max_duration_ms: 0 };
    expect(await use('workflows_stream_websocket', none)).toMatchObject({
      frames: [{ type: 'ready' }],
      last_seq: null,
    });
    const { id: draft } = await use('workflows_create', { name: 'Draft', graph });
    const never = '01900000-0000-7000-8000-00000000dddd';
    await refused('workflows_execute_command', { id: draft, command: 'start', params: { run_id: never } });
    const rejected = await use('workflows_stream_websocket', { workflow_id: draft, run_id: never, after: 0 });
    expect(rejected).toMatchObject({ ended_by: 'run_ended', frames: [{ event: { event_type: 'run_rejected' } }] });
  });

  test.each([
    [{ max_duration_ms: 30_001 }, 'max_duration_ms'],
    [{ max_messages: 0 }, 'max_messages'],
    [{ max_messages: 1_001 }, 'max_messages'],
    [{ max_bytes: 1024 * 1024 + 1 }, 'max_bytes'],
    [{ after: 1 }, 'after'],
    [{ workflow_id: 'x' }, 'workflow_id'],
  ])('refuses %j', async (args, path) => {
    const error = await refused('workflows_stream_websocket', {
      workflow_id: '01900000-0000-7000-8000-000000000000',
      ...args,
    });
    expect(error).toMatchObject({ code: 'validation_error', details: [{ path }] });
  });
});

describe('catalog_bff_request', () => {
  const refusal = (method: string, path: string, more: Json = {}, as = client) =>
    refused('catalog_bff_request', { method, path, ...more }, as);
  const made = { display_name: 'Key', provider: 'custom', service: 'api_key', credentials: { token: 't' } };

  test('calls routes of the catalog with query and body, as REST does', async () => {
    await using open = await startWith({ BATON_MCP_GROUPS: 'catalog,vault' });
    const request = (method: string, path: string, more: Json = {}) =>
      use('catalog_bff_request', { method, path, ...more }, open.client);
    const created = await request('POST', '/v1/mcp/connections', { body: made });
    expect(created).toMatchObject({ status: 201, body: { name: 'Key', credential_keys: ['token'] } });
    const listed = await request('GET', '/v1/mcp/connections', { query: { limit: 1 } });
    expect(listed).toMatchObject({ status: 200, body: { connections: [{ name: 'Key' }] } });
    const { id } = created.body as { id: string };
    expect(await request('DELETE', `/v1/mcp/connections/${id}`)).toEqual({ status: 204, body: null });
    expect(await refusal('GET', `/v1/mcp/connections/${id}`, {}, open.client)).toMatchObject({ code: 'not_found' });
    expect(await refusal('GET', '/v1/mcp/servers', { query: { colour: 'red' } })).toMatchObject({
      code: 'validation_error',
    });
    expect(await refusal('GET', '/v1/mcp/servers', { body: { a: 1 } })).toMatchObject({ details: [{ path: 'body' }] });
    expect(await refusal('GET', '/v1/mcp/servers?limit=1')).toMatchObject({ details: [{ path: 'path' }] });
    expect(await refusal('TRACE', '/v1/mcp/servers')).toMatchObject({ code: 'validation_error' });
  });

  test.each([
    '/v1/workflows',
    '/v1/mcp/../workflows',
    '/v1/mcp/%2e%2e/workflows',
    '/v1/mcp/%2e%2e%2fworkflows',
    '/v1/mcp/../../v1/pats',
    'http://localhost/v1/workflows',
    '//localhost/v1/workflows',
    '\\v1\\workflows',
    '/v1/mcp/',
    '/v1/mcp',
    'v1/mcp/servers/',
    '/V1/MCP/SERVERS',
  ])('reaches nothing else: %s', async path => {
    expect(await refusal('GET', path)).toMatchObject({ code: 'not_found' });
  });

  test('needs the risk group for credentials, however the path is written', async () => {
    await using open = await startWith({ BATON_MCP_GROUPS: 'catalog,vault' });
    const creating = { method: 'POST', path: '/v1/mcp/connections', body: made };
    const { body } = await use('catalog_bff_request', creating, open.client);
    const path = `/v1/mcp/connections/${(body as { id: string }).id}/credentials`;
    for (const written of [
      path,
      path.replace('credentials', 'cr%65dentials'),
      `/v1/mcp/x/..${path.slice('/v1/mcp'.length)}`,
    ]) {
      expect(await refusal('GET', written, {}, open.client), written).toMatchObject({ code: 'not_found' });
    }
    await using risky = await startWith({ BATON_MCP_GROUPS: 'catalog,vault', BATON_MCP_RISK: 'true' });
    const there = (await use('catalog_bff_request', creating, risky.client)).body as { id: string };
    const metadata = { method: 'GET', path: `/v1/mcp/connections/${there.id}/credentials` };
    const answer = await use('catalog_bff_request', metadata, risky.client);
    expect(JSON.stringify(answer)).toContain('token');
  });

  test('reaches no operation of a disabled group, by any route', async () => {
    const registry = createRegistry(operations);
    const groupOf = new Map(
      operations.flatMap((each: AnyOperation) => (each.mcp === undefined ? [] : [[each.run, each.mcp.group] as const])),
    );
    const routes = registry.operations
      .map(({ operation }) => operation)
      .filter(({ path }) => path.startsWith('/v1/mcp/'));
    const sensitive = routes.filter(({ run }) => (groupOf.get(run) ?? 'catalog') !== 'catalog');
    expect(sensitive.map(({ name }) => name)).toContain('mcp_connections_create');
    const { description: described } = await use('describe_tool', { name: 'catalog_bff_request' });
    expect(described).toContain('GET /v1/mcp/servers:');
    for (const { method, path } of sensitive) {
      const written = path.replace(/\{\w+\}/g, newId());
      expect(await refusal(method, written), path).toMatchObject({ code: 'not_found', error: 'Route not found.' });
      expect(described).not.toContain(`${method} ${path}:`);
    }
  });

  test('requires the scope of the operation itself', async () => {
    const reader = await connect(await tokenOf(acme.owner, ['mcp:read']));
    expect(await names(reader)).toContain('catalog_bff_request');
    expect(await use('catalog_bff_request', { method: 'GET', path: '/v1/mcp/servers' }, reader)).toMatchObject({
      status: 200,
    });
    const server = { name: 'Mine', canonical_url: 'https://mcp.example.com/mcp' };
    expect(await refusal('POST', '/v1/mcp/servers', { body: server }, reader)).toMatchObject({
      code: 'insufficient_scope',
    });
    await reader.close();
  });
});

describe('resources and prompts', () => {
  test('a workflow and a run can be read', async () => {
    const id = await publish();
    const { run_id } = await use('workflows_execute_command', { id, command: 'start', params: { n: 1 } });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain(`baton://workflows/${id}`);
    const readJson = async (uri: string): Promise<Json> => {
      const [content] = (await client.readResource({ uri })).contents;
      return JSON.parse(content && 'text' in content ? content.text : '{}');
    };
    expect(await readJson(`baton://workflows/${id}`)).toMatchObject({ id, name: 'Doubled' });
    expect(await readJson(`baton://workflows/${id}/runs/${run_id}`)).toMatchObject({ run_id });
    await expect(client.readResource({ uri: 'baton://workflows/../pats' })).rejects.toThrow('There is no resource');
    const why = await client.getPrompt({
      name: 'explain_failed_run',
      arguments: { workflow_id: id, run_id: String(run_id) },
    });
    expect(why.messages).toHaveLength(3);
    const build = await client.getPrompt({ name: 'build_workflow', arguments: { goal: 'pay invoices' } });
    expect(JSON.stringify(build.messages)).toContain('pay invoices');
    await expect(client.getPrompt({ name: 'build_workflow' })).rejects.toThrow('goal');
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toThrow('There is no prompt');
  });
});

describe('the endpoint', () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const headers = () => ({
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  });

  /** Node's own client, since fetch sets Host itself. */
  function send(
    extra: Record<string, string | undefined>,
    body: unknown = message,
    method = 'POST',
  ): Promise<{ status: number; body: Json }> {
    const url = new URL(`${service.url}/mcp`);
    const all = Object.entries({ ...headers(), ...extra }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(url, { method, headers: Object.fromEntries(all) }, response => {
        let text = '';
        response.on('data', chunk => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) }),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(method !== 'POST' ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    });
  }

  test('answers a well-formed message', async () => {
    expect(await send({})).toMatchObject({ status: 200, body: { result: { tools: expect.anything() } } });
  });
  test.each([
    ['no token', { Authorization: undefined }, 401, 'unauthenticated'],
    ['a token that is none', { Authorization: 'Bearer pat_x' }, 401, 'unauthenticated'],
    ['a session cookie', { Authorization: undefined, Cookie: 'next-auth.session-token=x' }, 401, 'unauthenticated'],
    ['X-Tenant-Id', { 'X-Tenant-Id': 'acme' }, 400, 'tenant_header_not_allowed'],
    ['an empty X-Tenant-Id', { 'X-Tenant-Id': '' }, 400, 'tenant_header_not_allowed'],
    ["a rebound name's Host", { Host: 'evil.example.com' }, 403, 'foreign_host'],
    ['a page of another site', { Origin: 'https://evil.example.com' }, 403, 'foreign_origin'],
    ['an opaque origin', { Origin: 'null' }, 403, 'foreign_origin'],
    ['a form', { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
  ])('refuses %s', async (_, extra, status, code) => {
    expect(await send(extra)).toMatchObject({ status, body: { code } });
  });
  test('accepts its own origin', async () => {
    expect((await send({ Origin: 'http://localhost:3000' })).status).toBe(200);
  });
  test('refuses bodies that are not a message, and accepts only POST', async () => {
    expect(await send({}, '{')).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
    expect(await send({}, [message])).toMatchObject({ status: 422, body: { code: 'batch_not_supported' } });
    expect((await send({}, { hello: 1 })).status).toBe(400);
    expect(await send({}, 'x'.repeat(1024 * 1024 + 1))).toMatchObject({ status: 413 });
    expect(await send({}, undefined, 'GET')).toMatchObject({ status: 405 });
    expect(await send({}, undefined, 'DELETE')).toMatchObject({ status: 405 });
  });
});

test("the MCP inspector's command line lists and calls the tools", async () => {
  // Its entry reads ../package.json of its working directory; the launcher next to it expects the whole inspector.
  const inspector = fileURLToPath(new URL('index.js', import.meta.resolve('@modelcontextprotocol/inspector-cli')));
  const run = async (...args: string[]): Promise<Json> => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [inspector, `${service.url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`, ...args],
      { cwd: dirname(inspector) },
    );
    return JSON.parse(stdout);
  };
  expect((await run('--method', 'tools/list')).tools).toHaveLength((await names(client)).length);
  const health = await run('--method', 'tools/call', '--tool-name', 'health_summary');
  expect(health).toMatchObject({ structuredContent: { tenant_id: 'acme', service: { status: 'ready' } } });
});
