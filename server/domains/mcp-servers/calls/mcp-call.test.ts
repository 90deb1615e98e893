import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../api/operations.ts';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { startSdkServer, type TestServer } from '../../../testing/mcp-server.ts';
import { reached } from '../../../testing/runs.ts';

const SECRET = 'tok_4f9a1c77d2b84e';

/** Fails the first time for each idempotency key. */
const failedOnce = new Set<unknown>();

function configure(server: McpServer): void {
  server.registerTool(
    'add',
    { inputSchema: z.strictObject({ a: z.number(), b: z.int(), unit: z.enum(['kg', 'g']).optional() }) },
    ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }] }),
  );
  server.registerTool('leak', { inputSchema: {} }, async (_args, { _meta, requestInfo, sendNotification }) => {
    const seen = String(requestInfo?.headers.authorization);
    const params = { progressToken: _meta?.progressToken ?? 0, progress: 1, message: `got ${seen}` };
    await sendNotification({ method: 'notifications/progress', params });
    return { content: [{ type: 'text', text: JSON.stringify({ seen, [seen]: 1, nested: [seen] }) }] };
  });
  server.registerTool('leak_error', { inputSchema: {} }, (_args, { requestInfo }) => ({
    isError: true,
    content: [{ type: 'text', text: `bad token: ${requestInfo?.headers.authorization}` }],
  }));
  server.registerTool('flaky', { inputSchema: {} }, (_args, { _meta }) => {
    const first = !failedOnce.has(_meta?.idempotency_key);
    failedOnce.add(_meta?.idempotency_key);
    return { isError: first, content: [{ type: 'text', text: JSON.stringify({ key: _meta?.idempotency_key }) }] };
  });
  server.registerTool('wait', { inputSchema: {} }, async (_args, { signal }) => {
    await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
    return { content: [] };
  });
  server.registerTool('large', { inputSchema: {} }, () => ({
    content: [{ type: 'text', text: JSON.stringify('x'.repeat(1_100_000)) }],
  }));
  server.registerTool('image', { inputSchema: {} }, () => ({
    content: [
      { type: 'text', text: 'a picture' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ],
  }));
}

type Made = { id: string } & Record<string, unknown>;
type Event = { event_type: string; step_id?: string; attempt?: number; data: Record<string, unknown> };

let service: TestContainer;
let acme: TestTenant;
let rival: TestTenant;
let tools: TestServer;
let call: ReturnType<typeof createCall<typeof operations>>;
let instance: string;
/** The answers to the next POSTs of tools/call, instead of results. */
let refusals: { status: number; headers?: Record<string, string> }[] = [];

const act = async (name: (typeof operations)[number]['name'], input: object, by = acme) =>
  (await call(by.contributor, name, input)) as Made;

async function connect(by: TestTenant): Promise<string> {
  const credentials = { token: SECRET };
  const connection = { display_name: 'Key', provider: 'custom', service: 'api_key', credentials };
  return (await act('connections_create', connection, by)).id;
}

async function makeInstance(by: TestTenant, more: object = {}): Promise<string> {
  const server = await act(
    'mcp_servers_create',
    { name: `Tools ${newId()}`, canonical_url: tools.url, auth_mode: 'token' },
    by,
  );
  const connection_id = await connect(by);
  await act('mcp_servers_discover', { id: server.id, connection_id }, by);
  await act('mcp_servers_publish_version', { id: server.id }, by);
  return (await act('mcp_instances_create', { server_id: server.id, name: 'Tools', connection_id, ...more }, by)).id;
}

beforeAll(async () => {
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_SHUTDOWN_GRACE_S: '0' });
  tools = await startSdkServer({
    configure,
    before: (request, response, body) => {
      if (request.headers.authorization !== `Bearer ${SECRET}`) {
        response.writeHead(401).end();
        return true;
      }
      const isCall = typeof body === 'object' && body !== null && Reflect.get(body, 'method') === 'tools/call';
      const refusal = isCall ? refusals.shift() : undefined;
      if (refusal) response.writeHead(refusal.status, refusal.headers).end();
      return refusal !== undefined;
    },
  });
  const { services } = service.container;
  acme = await createTestTenant(services, { slug: 'acme' });
  rival = await createTestTenant(services, { slug: 'rival' });
  call = createCall(services, operations);
  instance = await makeInstance(acme);
});
afterAll(async () => {
  await service.close();
  await tools[Symbol.asyncDispose]();
});

const step = (tool_name: string, more: object = {}) => ({
  id: 'call',
  type: 'mcp_call',
  instance_id: instance,
  tool_name,
  retry_delay_s: 0,
  ...more,
});

const create = (steps: object[], by = acme) => act('workflows_create', { name: `W ${newId()}`, graph: { steps } }, by);

async function publish(...steps: object[]): Promise<string> {
  const { id } = await create(steps);
  await act('workflows_publish_version', { id });
  return id;
}

async function start(id: string, trigger_payload: object = {}) {
  const started = await act('workflows_execute_command', { id, command: 'start', params: { trigger_payload } });
  return { id, runID: String(started.run_id) };
}

async function outcome(ref: { id: string; runID: string }) {
  await reached(service.container.services, acme.contributor, ref);
  const listed = await act('runs_list_events', { ...ref, limit: 200 });
  const events = listed.events as unknown as Event[];
  const eventsOfType = (type: string) => events.filter(event => event.event_type === type);
  return {
    events,
    eventsOfType,
    result: eventsOfType('step_completed')[0]?.data.result,
    error: eventsOfType('step_failed')[0]?.data.error,
  };
}

/** An instance of the same tenant in another project. */
async function inOtherProject(): Promise<string> {
  const id = await makeInstance(acme);
  await service.db.pool.query('UPDATE mcp_instances SET project_id = $2 WHERE id = $1', [id, newId()]);
  return id;
}

/** Returns the calls of a tool as the server received them. */
const callsOf = (name: string) => sent().filter(({ params }) => params.name === name);
const Sent = z.object({ name: z.string(), _meta: z.object({ idempotency_key: z.string() }) });
const sent = () =>
  tools.seen.flatMap(({ message, params }) => (message === 'tools/call' ? { params: Sent.parse(params) } : []));

const runs = async (...steps: object[]) => outcome(await start(await publish(...steps)));

async function problems(...steps: object[]): Promise<{ path: string; code: string }[]> {
  const { id } = await create(steps);
  const { errors } = (await act('workflows_validate', { id })) as unknown as {
    errors: { path: string; code: string }[];
  };
  return errors.map(({ path, code }) => ({ path, code }));
}

describe('publishing checks an mcp_call', () => {
  test('its instance, which must belong to this tenant and project', async () => {
    const unknown = { path: 'instance_id', code: 'unknown_instance' };
    expect(await problems(step('add', { instance_id: newId() }))).toEqual([unknown]);
    expect(await problems(step('add', { instance_id: 'no id' }))).toEqual([unknown]);
    const foreign = await makeInstance(rival);
    expect(await problems(step('add', { instance_id: foreign }))).toEqual([unknown]);
    expect(await problems(step('add', { instance_id: await inOtherProject() }))).toEqual([unknown]);
    const server = await act('mcp_servers_create', { name: 'Forgotten', canonical_url: tools.url, auth_mode: 'token' });
    await act('mcp_servers_discover', { id: server.id, connection_id: await connect(acme) });
    await act('mcp_servers_publish_version', { id: server.id });
    const bound = await act('mcp_instances_create', { server_id: server.id, name: 'Bound' });
    await service.db.pool.query("UPDATE mcp_servers SET status = 'draft' WHERE id = $1", [server.id]);
    expect(await problems(step('add', { instance_id: bound.id, tool_args: { a: 1, b: 1 } }))).toEqual([
      { path: 'instance_id', code: 'mcp_server_not_published' },
    ]);
  });

  test('its tool and its arguments, in which templates stand for any value', async () => {
    expect(await problems(step('subtract'))).toEqual([{ path: 'tool_name', code: 'unknown_tool' }]);
    expect(await problems(step('add', { tool_args: { a: 1, b: 2 } }))).toEqual([]);
    expect(await problems(step('add', { tool_args: { a: '{{input.a}}', b: '{{input.b}}' } }))).toEqual([]);
    expect(await problems(step('add', { tool_args: { a: '{{input.a}} kg', b: 2.5, c: 1, unit: 'lb' } }))).toEqual([
      { path: 'tool_args.a', code: 'tool_args_invalid' },
      { path: 'tool_args.b', code: 'tool_args_invalid' },
      { path: 'tool_args.c', code: 'tool_arg_unknown' },
      { path: 'tool_args.unit', code: 'tool_args_invalid' },
    ]);
    expect(await problems(step('add', { tool_args: { b: '{{input.b}}' } }))).toEqual([
      { path: 'tool_args.a', code: 'tool_arg_missing' },
    ]);
  });
});

describe('an mcp_call', () => {
  test('calls the tool with rendered arguments, its key and its credentials', async () => {
    const id = await publish(step('add', { tool_args: { a: '{{input.a}}', b: 3 } }));
    const ref = await start(id, { a: 1.5 });
    const { result, eventsOfType } = await outcome(ref);
    expect(result).toEqual({ sum: 4.5 });
    expect(eventsOfType('step_completed')).toHaveLength(1);
    const seen = tools.seen.filter(one => one.message === 'tools/call').at(-1);
    expect(seen?.params).toMatchObject({
      name: 'add',
      arguments: { a: 1.5, b: 3 },
      _meta: { idempotency_key: `${ref.runID}:call` },
    });
    expect(seen?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  test('whose rendered arguments are invalid fails before anything is sent', async () => {
    const before = tools.messages().filter(message => message === 'tools/call').length;
    const id = await publish(step('add', { retry_count: 3, tool_args: { a: '{{input.a}}', b: 3 } }));
    const { error, eventsOfType } = await outcome(await start(id, { a: 'many' }));
    expect(error).toMatchObject({ code: 'tool_args_invalid', message: expect.stringContaining('tool_args.a') });
    expect(eventsOfType('step_retrying')).toEqual([]);
    expect(tools.messages().filter(message => message === 'tools/call')).toHaveLength(before);
  });

  test('is retried with the same key if the tool failed, after the delay that the server requests', async () => {
    const { result, eventsOfType } = await runs(step('flaky', { retry_count: 1 }));
    expect(eventsOfType('step_retrying')).toMatchObject([{ data: { error: { code: 'tool_failed' } } }]);
    const keys = callsOf('flaky').map(({ params }) => params._meta.idempotency_key);
    expect(keys.map(key => ({ key }))).toEqual([result, result]);
    refusals = [{ status: 503, headers: { 'retry-after': '1' } }];
    const later = await runs(step('add', { retry_count: 1, tool_args: { a: 1, b: 1 } }));
    expect(later.eventsOfType('step_retrying')).toMatchObject([
      { data: { error: { code: 'mcp_unavailable' }, delay_ms: 1_000 } },
    ]);
    expect(later.result).toEqual({ sum: 2 });
  });

  test('is not retried if the credentials are refused', async () => {
    refusals = [{ status: 401 }];
    const { error, eventsOfType } = await runs(step('add', { retry_count: 3, tool_args: { a: 1, b: 1 } }));
    expect(error).toMatchObject({ code: 'mcp_unauthorized' });
    expect(eventsOfType('step_retrying')).toEqual([]);
  });

  test('never lets a credential into results, errors or log lines', async () => {
    const leaked = await runs(step('leak'));
    expect(leaked.eventsOfType('step_log')).not.toEqual([]);
    expect(leaked.eventsOfType('step_completed')).toHaveLength(1);
    const failed = await runs(step('leak_error'));
    expect(failed.error).toMatchObject({ code: 'tool_failed', message: expect.stringContaining('bad token: Bearer') });
    expect(JSON.stringify([leaked.events, failed.events])).not.toContain(SECRET);
    const { rows } = await service.db.pool.query(
      "SELECT count(*)::int AS count FROM run_events WHERE data::text LIKE '%' || $1 || '%'",
      [SECRET],
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  test('keeps other content unchanged, and fails if it is too large', async () => {
    expect((await runs(step('image'))).result).toEqual({
      content: [
        { type: 'text', text: 'a picture' },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      ],
    });
    expect((await runs(step('large'))).error).toMatchObject({ code: 'result_too_large' });
  });

  test('is cancelled at the server when its run is stopped', async () => {
    const ref = await start(await publish(step('wait')));
    await tools.until(() => callsOf('wait').length > 0);
    const cancelled = tools.until(() => tools.messages().includes('notifications/cancelled'));
    await act('workflows_execute_command', {
      id: ref.id,
      command: 'stop',
      params: { run_id: ref.runID, mode: 'immediate' },
    });
    await cancelled;
    expect((await outcome(ref)).eventsOfType('step_cancelled')).toHaveLength(1);
  });

  test('of a deleted instance, or another tenant’s, fails and sends nothing', async () => {
    const foreign = await makeInstance(rival);
    const elsewhere = await inOtherProject();
    const before = tools.seen.length;
    const id = await publish(step('add', { instance_id: '{{input.instance}}', tool_args: { a: 1, b: 1 } }));
    for (const target of [foreign, elsewhere, newId(), 'x']) {
      const { error } = await outcome(await start(id, { instance: target }));
      expect(error).toMatchObject({ code: 'unknown_instance' });
    }
    expect(tools.seen).toHaveLength(before);
  });

  test('without a connection uses no other credentials', async () => {
    const bare = await makeInstance(acme, { connection_id: null });
    const before = tools.seen.length;
    const { error } = await runs(step('add', { instance_id: bare, tool_args: { a: 1, b: 1 } }));
    expect(error).toMatchObject({ code: 'mcp_connection_missing' });
    expect(tools.seen).toHaveLength(before);
  });

  test('uses the active profile’s connection before the instance’s own, and its settings', async () => {
    const mine = await makeInstance(acme, { config: { default_args: { b: 2, nonsense: 1 }, region: 'eu' } });
    const other = {
      display_name: 'Wrong',
      provider: 'custom',
      service: 'api_key',
      credentials: { token: 'wrong_token' },
    };
    const { id: connection_id } = await act('connections_create', other);
    const call = step('add', { instance_id: mine, tool_args: { a: 1 } });
    expect((await runs(call)).result).toEqual({ sum: 3 });
    expect(tools.seen.at(-1)?.params).toMatchObject({ _meta: { config: { region: 'eu' } } });
    const profile = await act('mcp_config_profiles_create', {
      id: mine,
      name: 'P',
      settings: { default_args: { b: 9 } },
      connection_id,
    });
    await act('mcp_config_profiles_set_active', { id: mine, profile_id: profile.id });
    expect((await runs(call)).error).toMatchObject({ code: 'mcp_unauthorized' });
    await act('mcp_config_profiles_patch', { id: mine, profile_id: profile.id, connection_id: null });
    expect((await runs(call)).result).toEqual({ sum: 10 });
  });
});
