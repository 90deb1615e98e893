import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopes } from '../../server/orchestrator/ports/authority.ts';
import { createTestMember, createTestPat } from '../../server/testing/identity.ts';
import { startToolServer } from '../../server/testing/mcp-servers.ts';
import { reached } from '../../server/testing/runs.ts';
import { registry, startTestWorlds, type TestWorlds } from '../../server/testing/world.ts';

/**
 * Calls every operation as a contributor who wants to read a colleague's credentials. The contributor moves servers and model keys to their
 * own server, names connections wherever an operation accepts one, and starts runs that call both servers. The contributor's server records
 * everything that reaches it.
 */
let worlds: TestWorlds;
let owner: string;
let intruder: string;
let honest: Awaited<ReturnType<typeof startToolServer>>;
let second: Awaited<ReturnType<typeof startToolServer>>;

const TOOL_SECRET = 'tool-secret-c41d8f0b7e';
const MODEL_SECRET = 'model-secret-9a2e6d35f1';

beforeAll(async () => {
  honest = await startToolServer();
  second = await startToolServer();
  worlds = await startTestWorlds();
  const { services } = worlds.service.container;
  owner = (await createTestPat(services, worlds.acme.owner, scopes)).token;
  const colleague = await createTestMember(services, worlds.acme, 'project_contributor', 'intruder@acme.example.com');
  intruder = (await createTestPat(services, colleague, scopes)).token;
});
afterAll(async () => {
  await worlds.close();
  await honest[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const base = (server: { url: string }) => `${new URL(server.url).origin}/v1`;
/** Removes the ends of idle sessions: each arrives a minute after the last call, during an unrelated operation. */
const withoutSessionEnds = (seen: typeof honest.seen) => seen.filter(({ method }) => method !== 'DELETE');
/** Returns whether a credential arrived at a server, in any part of a request and in any form. */
function receivedCredential({ seen }: { seen: readonly unknown[] }): boolean {
  const text = JSON.stringify(seen);
  return [TOOL_SECRET, MODEL_SECRET].some(
    secret => text.includes(secret) || text.includes(Buffer.from(secret).toString('base64').slice(0, -4)),
  );
}

async function expectSuccess(
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, string>> {
  const answer = await worlds.request(method, path, { token, body });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
}

/** A step that sends a connection's credential to a server. */
const request = (server: { url: string }, connection: string) => ({
  type: 'http_request',
  method: 'PUT',
  url: `${new URL(server.url).origin}/fetched`,
  connection_id: connection,
});

/** Stores credentials for `server` with `token`, and creates an instance and a workflow that use them. */
async function credentialsFor(token: string, server: { url: string }) {
  const { id: connection = '' } = await expectSuccess(token, 'POST', '/v1/connections', {
    display_name: 'Key',
    provider: 'custom',
    service: 'api_key',
    credentials: { token: TOOL_SECRET },
  });
  const { id: tools = '' } = await expectSuccess(token, 'POST', '/v1/mcp/servers', {
    name: 'Tools',
    canonical_url: server.url,
    auth_mode: 'token',
  });
  await expectSuccess(token, 'POST', `/v1/mcp/servers/${tools}/discover`, {});
  await expectSuccess(token, 'POST', `/v1/mcp/servers/${tools}/versions`, { changelog: 'first' });
  const bound = { server_id: tools, name: 'Tools', connection_id: connection };
  const { id: instance = '' } = await expectSuccess(token, 'POST', '/v1/mcp/instances', bound);
  const { id: key = '' } = await expectSuccess(token, 'POST', '/v1/llm-provider-keys', {
    provider: 'openai',
    api_key: MODEL_SECRET,
    base_url: base(server),
  });
  // The steps run sequentially: the last one fails, and a request of a parallel step would arrive after the run's end.
  const graph = {
    steps: [
      { id: 'tool', type: 'mcp_call', instance_id: instance, tool_name: 'add', tool_args: { a: 1, b: 2 } },
      // The server's answer does not matter.
      { id: 'fetch', ...request(server, connection), on_error: 'continue', depends_on: ['tool'] },
      { id: 'ask', type: 'llm_call', model: 'openai/tiny', prompt: 'Hi.', depends_on: ['fetch'] },
    ],
  };
  const { id: workflow = '' } = await expectSuccess(token, 'POST', '/v1/workflows', { name: 'Calls', graph });
  await expectSuccess(token, 'POST', `/v1/workflows/${workflow}/versions`, { changelog: 'first' });
  return { connection, tools, instance, key, workflow };
}

type TestObjects = Awaited<ReturnType<typeof credentialsFor>>;

function idsOf(objects: TestObjects) {
  return {
    ...worlds.acme.ids,
    'workflows/id': objects.workflow,
    'connections/id': objects.connection,
    'mcp/connections/id': objects.connection,
    'connections/connection_id': objects.connection,
    'servers/id': objects.tools,
    'instances/id': objects.instance,
    'llm-provider-keys/id': objects.key,
  };
}

/** Returns the fields of an operation that determine the destination or the credentials of a request. */
function fieldsFor(entry: (typeof registry.operations)[number], objects: TestObjects): Record<string, unknown> {
  const all: Record<string, unknown> = {
    connection_id: objects.connection,
    canonical_url: second.url,
    base_url: base(second),
    origins: [new URL(second.url).origin],
    config: { base_url: base(second) },
    auth_mode: 'header',
  };
  const properties = Object.keys(entry.inputSchema.properties ?? {});
  const known = properties.filter(name => name in all && !entry.pathParameters.includes(name));
  return Object.fromEntries(known.map(name => [name, all[name]]));
}

const calledOperations = registry.operations.filter(
  ({ operation: { method, access, name } }) =>
    method !== 'DELETE' && access !== 'public' && name !== 'pats_create' && !name.startsWith('me_'),
);

/** Waits until the run in an answer, if any, has ended: its steps send their requests after the answer. */
async function waitForRunEnd({ body }: { body: unknown }, workflow: string): Promise<void> {
  const runID = typeof body === 'object' && body !== null && 'run_id' in body ? String(body.run_id) : null;
  // Not read from the run's row, which may lag behind the answer for a moment.
  if (runID !== null) await reached(worlds.service.container.services, worlds.acme.owner, { id: workflow, runID });
}

/**
 * Calls every operation, once with its required fields and once with every field above; waits for the started runs, and
 * returns the operations that sent a credential to `target`.
 */
async function operationsThatSend(token: string, objects: TestObjects, target: typeof honest): Promise<string[]> {
  const sending = new Set<string>();
  for (const entry of calledOperations) {
    if (fieldsFor(entry, objects).canonical_url !== undefined && entry.operation.name === 'mcp_servers_patch') continue;
    // `runs_start_bulk` repeats runs later, during the call of another operation; the commands of a workflow start the same runs.
    if (entry.operation.name === 'runs_start_bulk') continue;
    for (const extra of [{}, fieldsFor(entry, objects)]) {
      const before = target.seen.length;
      const answer = await worlds.call(entry, idsOf(objects), { token }, extra);
      if (entry.operation.name.startsWith('workflows_')) await waitForRunEnd(answer, objects.workflow);
      if (receivedCredential({ seen: withoutSessionEnds(target.seen.slice(before)) }))
        sending.add(entry.operation.name);
    }
  }
  return [...sending].sort();
}

test('no operation sends a credential to an origin that it was not stored for', async () => {
  const objects = await credentialsFor(owner, honest);
  // Every contributor may do both: move the server and the key to another address, and publish the server's tools.
  await worlds.request('PATCH', `/v1/mcp/servers/${objects.tools}`, {
    token: intruder,
    body: { canonical_url: second.url },
  });
  await worlds.request('POST', `/v1/mcp/servers/${objects.tools}/discover`, { token: intruder, body: {} });
  await worlds.request('POST', `/v1/mcp/servers/${objects.tools}/versions`, {
    token: intruder,
    body: { changelog: 'x' },
  });
  const moved = { base_url: base(second) };
  await worlds.request('PATCH', `/v1/llm-provider-keys/${objects.key}`, { token: intruder, body: moved });
  await worlds.request('PATCH', `/v1/connections/${objects.key}`, { token: intruder, body: { config: moved } });
  expect(await operationsThatSend(intruder, objects, second)).toEqual([]);
  expect(second.messages()).toContain('initialize');
  expect(receivedCredential(second)).toBe(false);
}, 120_000);

test('the calls reach every operation that sends a credential', async () => {
  const objects = await credentialsFor(owner, second);
  expect(await operationsThatSend(owner, objects, second)).toEqual([
    'llm_provider_keys_test',
    'mcp_instances_validate',
    'mcp_servers_discover',
    'mcp_servers_validate',
    'mcp_servers_validate_connection',
    'workflows_execute_command',
    'workflows_run',
    'workflows_start_test_run',
  ]);
}, 120_000);

test('no request of a workflow sends a credential to an origin that it was not stored for', async () => {
  const objects = await credentialsFor(owner, honest);
  const before = second.seen.length;
  const step = { id: 'fetch', ...request(second, objects.connection) };
  const { id: own = '' } = await expectSuccess(intruder, 'POST', '/v1/workflows', {
    name: 'Own',
    graph: { steps: [step] },
  });
  const asIntruder = { token: intruder };
  const published = await worlds.request('POST', `/v1/workflows/${own}/versions`, {
    ...asIntruder,
    body: { changelog: 'x' },
  });
  expect(published.status).toBe(422);
  for (const body of [{}, { step: 'fetch' }])
    await waitForRunEnd(await worlds.request('POST', `/v1/workflows/${own}/test-runs`, { ...asIntruder, body }), own);
  const params = { trigger_steps: { fetch: { url: step.url } } };
  // The same step sends the credential to the origin for which it was stored.
  for (const each of [{}, params]) {
    const start = { command: 'start', params: each };
    const body = await expectSuccess(intruder, 'POST', `/v1/workflows/${objects.workflow}/command`, start);
    await waitForRunEnd({ body }, objects.workflow);
  }
  expect(receivedCredential({ seen: withoutSessionEnds(second.seen.slice(before)) })).toBe(false);
  const fetched = honest.seen.filter(({ method }) => method === 'PUT');
  expect(receivedCredential({ seen: fetched })).toBe(true);
}, 120_000);
