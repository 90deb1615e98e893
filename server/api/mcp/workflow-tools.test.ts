import { request as httpRequest } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runEndsOf } from '../../domains/runs/waiting/run-ends.ts';
import type { Principal } from '../../operation/context.ts';
import { type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { createCall } from '../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { operations } from '../operations.ts';

type Json = Record<string, unknown>;
let service: TestContainer;
let acme: TestTenant;
let globex: TestTenant;
let client: Client;
let call: ReturnType<typeof createCall<typeof operations>>;
const open: Client[] = [];

beforeAll(async () => {
  service = await startTestContainer({
    BATON_MCP_GROUPS: 'core,workflows',
    BATON_MCP_WORKFLOW_WAIT_S: '60',
    BATON_SHUTDOWN_GRACE_S: '0',
  });
  const { services } = service.container;
  call = createCall(services, operations);
  acme = await createTestTenant(services, { slug: 'acme' });
  globex = await createTestTenant(services, { slug: 'globex' });
  client = await connect(acme.contributor);
});
afterAll(async () => {
  for (const each of open) await each.close();
  await service.close();
});

async function connect(as: Principal, granted: readonly Scope[] = scopes, to = service): Promise<Client> {
  const { token } = await createTestPat(to.container.services, as, granted);
  const mcp = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: `Bearer ${token}` };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${to.url}/mcp`), { requestInit: { headers } }));
  open.push(mcp);
  return mcp;
}

const double = { id: 'double', type: 'lua_script', script: 'return input.n * 2' };
async function publish(name: string, graph: Json = {}, as = acme.contributor): Promise<string> {
  const { id } = (await call(as, 'workflows_create', {
    name,
    graph: { steps: [double], tool: {}, ...graph },
  })) as { id: string };
  await call(as, 'workflows_publish_version', { id });
  return id;
}
/** Returns the names of the tools that are workflows, from all pages. */
async function listedTools(of = client): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await of.listTools(cursor === undefined ? {} : { cursor });
    found.push(...page.tools.filter(({ annotations }) => annotations?.title === undefined).map(({ name }) => name));
    cursor = page.nextCursor;
    more = cursor !== undefined;
  }
  return found.filter(name => !call_names.has(name));
}
const call_names = new Set<string>([...operations.map(({ name }) => name), 'describe_tool', 'health_summary']);
const use = async (name: string, args: Json = {}, as = client) =>
  (await as.callTool({ name, arguments: args })) as CallToolResult;
const textOf = ({ content: [block] }: CallToolResult): Json =>
  JSON.parse(block?.type === 'text' ? block.text : 'null') as Json;
const archive = (id: string, as = acme.contributor) => call(as, 'workflows_archive', { id });

describe('a published workflow that declares a tool', () => {
  test('is listed, described and called', async () => {
    const input_schema = {
      type: 'object',
      required: ['n'],
      properties: { n: { type: 'integer', minimum: 1, description: 'What to double' }, mode: { type: 'string' } },
    };
    const tool = { name: 'double', description: 'Doubles a number. Says nothing else.', read_only: true };
    const id = await publish('Doubling', { input_schema, tool });
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'double')).toMatchObject({
      description: tool.description,
      inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
    });
    const described = await use('describe_tool', { name: 'double', output: true });
    expect(described.structuredContent).toMatchObject({ inputSchema: input_schema, description: tool.description });
    const resource = await client.readResource({ uri: 'baton://tools/double' });
    expect(JSON.stringify(resource.contents)).toContain('What to double');

    const result = await use('double', { n: 21, mode: 'episode' });
    expect(result.isError ?? false).toBe(false);
    expect(result.structuredContent).toMatchObject({ workflow_id: id, status: 'completed', output: 42 });
    expect(textOf(result)).toEqual(result.structuredContent);
    // Arguments are input, regardless of their names.
    const { run_id } = result.structuredContent as { run_id: string };
    expect(await call(acme.contributor, 'runs_get_context', { id, runID: run_id })).toMatchObject({
      input: { n: 21, mode: 'episode' },
    });
    expect(await call(acme.contributor, 'runs_get_summary', { id, runID: run_id })).toMatchObject({
      trigger_type: 'mcp',
      started_by: acme.contributor.email,
    });
    await archive(id);
    expect(await listedTools()).not.toContain('double');
  });

  test('is listed only after its publication, and only while the latest version declares it', async () => {
    const as = acme.contributor;
    const { id } = (await call(as, 'workflows_create', { name: 'Late', graph: { steps: [double], tool: {} } })) as {
      id: string;
    };
    expect(await listedTools()).not.toContain('late');
    await call(as, 'workflows_publish_version', { id });
    expect(await listedTools()).toContain('late');
    await call(as, 'workflows_edit', { id, edits: [{ type: 'update_graph', unset: ['tool'] }] });
    expect(await listedTools()).toContain('late');
    await call(as, 'workflows_publish_version', { id });
    expect(await listedTools()).not.toContain('late');
    await expect(use('late')).rejects.toThrow('There is no tool late');
    await archive(id);
  });

  test('never takes over the calls of another workflow or of the service’s own tools', async () => {
    const first = await publish('One', { tool: { name: 'pay' } });
    expect(await listedTools()).toContain('pay');
    const second = await publish('Other', { tool: { name: 'pay' } });
    const ownToolName = (id: string, name: string) => `${name}_${id.replaceAll('-', '').slice(-12)}`;
    expect(await listedTools()).toEqual(
      expect.arrayContaining([ownToolName(first, 'pay'), ownToolName(second, 'pay')]),
    );
    expect(await listedTools()).not.toContain('pay');
    await expect(use('pay')).rejects.toThrow('There is no tool pay');
    expect((await use(ownToolName(second, 'pay'), { n: 1 })).structuredContent).toMatchObject({ workflow_id: second });
    const report = await call(acme.contributor, 'workflows_validate', { id: second });
    expect(report).toMatchObject({ valid: true, warnings: [{ path: 'tool.name', code: 'tool_name_taken' }] });

    const third = await publish('Tasks', { tool: { name: 'tasks_complete' } });
    expect(await listedTools()).toContain(ownToolName(third, 'tasks_complete'));
    for (const id of [first, second, third]) await archive(id);
  });
});

describe('no other caller', () => {
  test('sees or calls the tools of another workspace or project', async () => {
    const id = await publish('Secret', { tool: { name: 'ours' } });
    const { contributor } = await createTestProject(service.container.services, acme, 'elsewhere');
    for (const stranger of [globex.owner, contributor]) {
      const theirs = await connect(stranger);
      expect(await listedTools(theirs)).toEqual([]);
      // The message is the same as for a tool that does not exist.
      await expect(use('ours', { n: 1 }, theirs)).rejects.toThrow('There is no tool ours');
      await expect(use('nothing', {}, theirs)).rejects.toThrow('There is no tool nothing');
      expect(textOf(await use('describe_tool', { name: 'ours' }, theirs))).toMatchObject({ code: 'not_found' });
      await expect(theirs.readResource({ uri: 'baton://tools/ours' })).rejects.toThrow('There is no resource');
    }
    await archive(id);
  });

  test('sees or calls them without the role and the scopes of a start, or those of its steps', async () => {
    const plain = await publish('Plain', { tool: { name: 'plain' } });
    const asks = { id: 'think', type: 'llm_call', provider: 'openai', model: 'x', prompt: 'Hi' };
    const { id: thinking } = (await call(acme.contributor, 'workflows_create', {
      name: 'Thinking',
      graph: { steps: [asks], tool: { name: 'thinking' } },
    })) as { id: string };
    // Published without a model key, which validation would want.
    const { pool } = service.db;
    await pool.query(
      `INSERT INTO workflow_versions (workflow_id, version, tenant_id, graph_snapshot, run_setup, changelog, graph_checksum, published_by, published_at)
       SELECT id, 1, tenant_id, graph, run_setup, '', graph_checksum, created_by, created_at FROM workflows WHERE id = $1`,
      [thinking],
    );
    await pool.query(`UPDATE workflows SET latest_version = 1, status = 'published' WHERE id = $1`, [thinking]);

    const enough: Scope[] = ['workflow:read', 'workflow:run'];
    const both = ['plain', 'thinking'];
    const expected: [Principal, readonly Scope[], string[]][] = [
      [acme.contributor, scopes, both],
      [acme.owner, [...enough, 'ai:use'], both],
      [acme.contributor, enough, ['plain']],
      [acme.contributor, ['workflow:run'], []],
      [acme.contributor, ['workflow:read'], []],
      [acme.viewer, scopes, []],
    ];
    for (const [who, granted, names] of expected) {
      const theirs = await connect(who, granted);
      expect(await listedTools(theirs), `${who.email} ${granted.length}`).toEqual(names);
      for (const name of both.filter(each => !names.includes(each)))
        await expect(use(name, { n: 1 }, theirs)).rejects.toThrow(`There is no tool ${name}`);
    }
    for (const id of [plain, thinking]) await archive(id);
  });

  test('is offered them if the deployment has not turned the group on', async () => {
    const other = await startTestContainer();
    try {
      const tenant = await createTestTenant(other.container.services, { slug: 'acme' });
      const run = createCall(other.container.services, operations);
      const graph = { steps: [double], tool: { name: 'double' } };
      const { id } = (await run(tenant.owner, 'workflows_create', { name: 'D', graph })) as { id: string };
      await run(tenant.owner, 'workflows_publish_version', { id });
      const mcp = await connect(tenant.owner, scopes, other);
      expect((await mcp.listTools()).tools.map(({ name }) => name)).not.toContain('double');
      await expect(use('double', { n: 1 }, mcp)).rejects.toThrow('There is no tool double');
      await mcp.close();
    } finally {
      await other.close();
    }
  });
});

describe('a call that does not end with an output', () => {
  test('says what is wrong with the arguments, under their own names', async () => {
    const input_schema = {
      type: 'object',
      properties: { n: { type: 'integer' }, o: { type: 'object', properties: { p: { minimum: 1 } } } },
    };
    const id = await publish('Strict', { input_schema });
    const refused = textOf(await use('strict', { n: 1, o: { p: 0 } }));
    expect(refused).toMatchObject({ code: 'invalid_input', details: [{ path: 'o.p' }] });
    await archive(id);
  });

  test('says why the run failed, at which step, and its id', async () => {
    const id = await publish('Failing', { steps: [{ ...double, script: 'error("no money")' }] });
    const result = await use('failing', { n: 1 });
    expect(result.isError).toBe(true);
    const body = textOf(result) as { error: string; details: Json[] };
    expect(body).toMatchObject({ code: 'run_failed' });
    const runs = (await call(acme.contributor, 'runs_list_tenant', { workflow_id: id })) as {
      runs: { run_id: string }[];
    };
    expect(body.error).toContain(`Run ${runs.runs[0]?.run_id} failed at the step “double”`);
    expect(body.details[0]).toEqual({ path: 'run_id', message: runs.runs[0]?.run_id });
    await archive(id);
  });

  test('says that its output is too large for an answer, and how to read it', async () => {
    const id = await publish('Large', { steps: [{ ...double, script: 'return string.rep("x", 300000)' }] });
    expect((await use('large')).structuredContent).toMatchObject({
      status: 'completed',
      output: null,
      output_error: { code: 'output_too_large', message: expect.stringContaining('runs_get_summary') },
    });
    await archive(id);
  });
});

const waiting = { steps: [{ id: 'ask', type: 'human_task', instructions: 'Well?' }], tool: { name: 'waits' } };

describe('a run is durable', () => {
  test('and continues when the time of the call is up: the answer says how to read the result', async () => {
    const other = await startTestContainer({ BATON_MCP_GROUPS: 'workflows', BATON_MCP_WORKFLOW_WAIT_S: '0' });
    try {
      const tenant = await createTestTenant(other.container.services, { slug: 'acme' });
      const run = createCall(other.container.services, operations);
      const { id } = (await run(tenant.owner, 'workflows_create', { name: 'W', graph: waiting })) as { id: string };
      await run(tenant.owner, 'workflows_publish_version', { id });
      const mcp = await connect(tenant.owner, scopes, other);
      const { structuredContent: answer } = await use('waits', {}, mcp);
      expect(answer).toMatchObject({ status: 'running', next: expect.stringContaining(`"run_id":"`) });
      expect(answer).not.toHaveProperty('output');
      await mcp.close();
    } finally {
      await other.close();
    }
  });

  test('and continues when the client disconnects or cancels: only the call stops waiting', async () => {
    const id = await publish('Waits', waiting);
    const { services } = service.container;
    const { token } = await createTestPat(services, acme.contributor, scopes);
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: '*/*' };
    const left = httpRequest(`${service.url}/mcp`, { method: 'POST', headers });
    left.on('error', () => undefined);
    left.end(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'waits' } }));
    const { reserved } = runEndsOf(services);
    await expect.poll(() => runEndsOf(services).reserved).toBe(reserved + 1);
    const pending = () =>
      call(acme.contributor, 'tasks_list_pending', { workflow_id: id }) as Promise<{ tasks: Json[] }>;
    await expect.poll(async () => (await pending()).tasks.length).toBe(1);
    // A notification belongs to no connection: it is accepted and does nothing.
    const cancelled = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }),
    });
    expect(cancelled.status).toBe(202);
    expect(runEndsOf(services).reserved).toBe(reserved + 1);
    left.destroy();
    await expect.poll(() => runEndsOf(services).reserved, { timeout: 30_000 }).toBe(reserved);
    expect((await pending()).tasks).toHaveLength(1);
    await archive(id);
  });
});

test('the list has pages, and each tool in it is short', async () => {
  const properties = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`field_${n}`, { type: 'string' }]));
  const { pool } = service.db;
  const first = await publish('Many', {
    input_schema: { type: 'object', properties },
    tool: { description: 'x'.repeat(2_000) },
  });
  // Copies of it, for the number.
  await pool.query(
    `WITH copies AS (
       INSERT INTO workflows (id, tenant_id, project_id, name, description, status, graph, run_setup, revision, latest_version,
         graph_checksum, kind, created_by, created_at, updated_at)
       SELECT gen_random_uuid(), tenant_id, project_id, 'Many ' || n, '', status, graph, run_setup, 1, 1, graph_checksum, kind,
         created_by, created_at, updated_at FROM workflows, generate_series(1, 70) n WHERE id = $1 RETURNING *)
     INSERT INTO workflow_versions (workflow_id, version, tenant_id, graph_snapshot, run_setup, changelog, graph_checksum, published_by, published_at)
     SELECT id, 1, tenant_id, graph, run_setup, '', graph_checksum, created_by, created_at FROM copies`,
    [first],
  );
  const one = await client.listTools();
  const two = await client.listTools({ cursor: String(one.nextCursor) });
  const isMany = ({ name }: { name: string }) => name.startsWith('many');
  expect([one.tools.filter(isMany).length, two.tools.length, two.nextCursor]).toEqual([50, 21, undefined]);
  expect(new Set([...one.tools, ...two.tools].map(({ name }) => name)).size).toBe(one.tools.length + 21);
  for (const tool of two.tools) expect(JSON.stringify(tool).length).toBeLessThan(3_000);
  await expect(client.listTools({ cursor: '%' })).rejects.toThrow('The cursor is not one of this list');
  await pool.query(`UPDATE workflows SET status = 'archived' WHERE name LIKE 'Many%'`);
});
