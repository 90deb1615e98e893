import { encode } from 'next-auth/jwt';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestMember, createTestPat, createTestTenant, type TestTenant } from '../domains/identity/testing.ts';
import { startToolServer } from '../domains/mcp-servers/testing.ts';
import { newId } from '../platform/ids.ts';
import { type Principal, roles, scopes } from './context.ts';
import { operations } from './operations.ts';
import { createRegistry, type RegisteredOperation } from './registry.ts';
import { startTestContainer, type TestContainer } from './testing-container.ts';

type Name = (typeof operations)[number]['name'];
type Ids = Record<string, string>;
/** Ids of one tenant's resources, by the path parameter and the segment before it: `workflows/id`, `runs/runID`. */
type World = TestTenant & { ids: Ids };

const graph = { steps: [{ id: 'approve', type: 'human_task', name: 'Approve' }] };

/** Nothing listens there, so that its test answers at once that it does not work. */
const modelKey = { provider: 'openai_compatible', base_url: 'http://127.0.0.1:9/v1' };
const connection = { display_name: 'Mail', provider: 'custom', service: 'api_key', credentials: { token: 't' } };

/**
 * Fields of a valid request beside the path parameters, for the operations that demand any: what cannot be derived from a schema. The
 * test below demands that none is missing and none is left over. `{workflows/id}` as a value stands for that id of the world.
 */
const examples: Partial<Record<Name, Record<string, unknown>>> = {
  me_change_password: { current_password: 'correct horse battery staple', new_password: 'another good password' },
  me_update: { name: 'Other' },
  projects_create: { name: 'second' },
  projects_update: { name: 'third' },
  invitations_create: { email: 'new@example.com', role: 'project_viewer' },
  invitations_accept: { token: 'x', name: 'New', password: 'a good password' },
  setup_create: { token: 'x', email: 'a@example.com', name: 'A', password: 'a good password' },
  pats_create: { display_name: 'CI', scopes: ['workflow:read'] },
  workflows_create: { name: 'Second' },
  workflows_execute_command: { command: 'start' },
  tasks_complete: { approved: true },
  connections_create: connection,
  mcp_connections_create: connection,
  connections_suite_complete: { code: 'c', state: 's' },
  connections_suite_services_patch: { services: {} },
  connections_messaging_complete: { code: 'c', state: 's', business_account_id: '1', phone_number_id: '2' },
  connections_messaging_manual: {
    display_name: 'M',
    access_token: 't',
    business_account_id: '1',
    phone_number_id: '2',
  },
  mcp_servers_create: { name: 'Second', canonical_url: 'https://mcp.example.com/mcp' },
  mcp_instances_create: { server_id: '{servers/id}', name: 'Second' },
  mcp_config_profiles_create: { name: 'second' },
  webhooks_create: { workflow_id: '{workflows/id}', name: 'Orders' },
  llm_resolve: { model: 'openai/gpt-5' },
  llm_provider_keys_create: modelKey,
};
/** Operations whose schema makes every field optional, but which refuse to do nothing. */
const more: Partial<Record<Name, Record<string, unknown>>> = {
  members_update: { role: 'project_viewer' },
  // Another way to sign in makes a version to publish: the server is a draft again.
  mcp_servers_patch: { auth_mode: 'header' },
  mcp_servers_delete: { force: 'true' },
  mcp_instances_resolve: { graph },
  workflows_import: { baton: 1, kind: 'workflow', name: 'Imported', graph },
};

const registry = createRegistry(operations);
const all = registry.operations.map(entry => [entry.operation.name, entry] as const);
const closed = all.filter(([, { operation }]) => operation.access !== 'public');
const withIds = closed.filter(([, { pathParameters }]) => pathParameters.length > 0);

let service: TestContainer;
let acme: World;
let rival: World;
let rivalToken: string;
let toolServer: Awaited<ReturnType<typeof startToolServer>>;

beforeAll(async () => {
  toolServer = await startToolServer();
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' });
  acme = await createWorld('acme');
  rival = await createWorld('rival');
  rivalToken = (await createTestPat(service.container.services, rival.owner, scopes)).token;
});
afterAll(async () => {
  await service.close();
  await toolServer[Symbol.asyncDispose]();
});

/** A tenant with one of everything, made through the API itself. */
async function createWorld(slug: string): Promise<World> {
  const { services } = service.container;
  const tenant = await createTestTenant(services, { slug });
  const { token } = await createTestPat(services, tenant.owner, scopes);
  const post = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const { status, body: answer } = await request('POST', path, { token, body });
    expect(status, `${path}: ${JSON.stringify(answer)}`).toBeLessThan(300);
    return answer;
  };
  const { id: workflow = '' } = await post('/v1/workflows', { name: 'First', graph });
  await post(`/v1/workflows/${workflow}/versions`, { changelog: 'first' });
  const { run_id = '' } = await post(`/v1/workflows/${workflow}/command`, { command: 'start' });
  const pending = `/v1/workflows/${workflow}/runs/${run_id}/tasks/pending`;
  await vi.waitFor(async () => expect((await request('GET', pending, { token })).body.tasks).toHaveLength(1));
  const { id: project = '' } = await post('/v1/projects', { name: 'spare' });
  const { id: invitation = '' } = await post('/v1/invitations', {
    email: `i@${slug}.example.com`,
    role: 'project_viewer',
  });
  const { id: pat = '' } = await post('/v1/pats', { display_name: 'spare', scopes: ['workflow:read'] });
  const { ingress_path = '' } = await post('/v1/inbound-webhooks', { workflow_id: workflow, name: 'Orders' });
  const { id: server = '' } = await post('/v1/mcp/servers', { name: 'Tools', canonical_url: toolServer.url });
  await post(`/v1/mcp/servers/${server}/discover`, {});
  await post(`/v1/mcp/servers/${server}/versions`, { changelog: 'first' });
  const { id: instance = '' } = await post('/v1/mcp/instances', { server_id: server, name: 'Tools' });
  const { id: profile = '' } = await post(`/v1/mcp/instances/${instance}/config-profiles`, { name: 'live' });
  const ids = {
    'workflows/id': workflow,
    'versions/version': '1',
    'runs/runID': run_id,
    'tasks/task_id': 'approve',
    'payloads/payload_id': newId(),
    'projects/id': project,
    'members/user_id': tenant.viewer.userId,
    'invitations/id': invitation,
    'pats/id': pat,
    'connections/id': (await post('/v1/connections', connection)).id ?? '',
    // The legacy path deletes too, so it gets one of its own.
    'mcp/connections/id': (await post('/v1/connections', connection)).id ?? '',
    'connections/connection_id': (await post('/v1/connections', connection)).id ?? '',
    'llm-provider-keys/id': (await post('/v1/llm-provider-keys', modelKey)).id ?? '',
    'servers/id': server,
    'instances/id': instance,
    'config-profiles/profile_id': profile,
    'accounts/connectionId': newId(),
    'inbound-webhooks/id': ingress_path.replace('/v1/inbound-webhooks/', ''),
  };
  return { ...tenant, ids };
}

type Sent = { token?: string; cookie?: string; body?: unknown };

async function request(method: string, path: string, { token, cookie, body }: Sent) {
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(cookie === undefined ? {} : { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** The path with the world's ids in it; an unknown kind of resource is a failure that says what to add. */
function pathIn(entry: RegisteredOperation, ids: Ids): string {
  return entry.operation.path.replace(/([a-z-]+)\/\{(\w+)\}/g, (_, segment: string, parameter: string) => {
    const key = `${segment}/${parameter}`;
    const id = (entry.operation.path.startsWith('/v1/mcp/') ? ids[`mcp/${key}`] : undefined) ?? ids[key];
    if (id === undefined) throw new Error(`This test has no example of ${segment}/{${parameter}}.`);
    return `${segment}/${id}`;
  });
}

function fieldsOf(name: Name): Record<string, unknown> {
  return examples[name] ?? more[name] ?? {};
}

function inWorld(fields: Record<string, unknown>, ids: Ids): Record<string, unknown> {
  const filled = Object.entries(fields).map(([key, value]) => {
    const placed = typeof value === 'string' ? /^\{(.*)\}$/.exec(value)?.[1] : undefined;
    return [key, placed === undefined ? value : ids[placed]];
  });
  return Object.fromEntries(filled);
}

/** A valid request of the operation, with `extra` fields. */
function call(entry: RegisteredOperation, ids: Ids, sent: Sent, extra: Record<string, string> = {}) {
  const { method, name } = entry.operation;
  const fields = { ...inWorld(fieldsOf(name as Name), ids), ...extra };
  const path = pathIn(entry, ids);
  if (entry.carrier === 'body') return request(method, path, { ...sent, body: fields });
  const query = new URLSearchParams(fields as Record<string, string>).toString();
  return request(method, query ? `${path}?${query}` : path, sent);
}

async function cookieFor({ userId }: Principal): Promise<string> {
  const secret = service.container.identity.sessionSecret;
  return `next-auth.session-token=${await encode({ secret, token: { sub: userId, sessionEpoch: 0 } })}`;
}

test('every operation that demands fields has an example, and no other', () => {
  const demanding = all.filter(([, entry]) => {
    const required = (entry.inputSchema.required ?? []) as string[];
    return required.some(field => !entry.pathParameters.includes(field));
  });
  expect(Object.keys(examples).sort()).toEqual(demanding.map(([name]) => name).sort());
  expect(all.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(more)));
});

describe('401 without a credential', () => {
  test.each(closed)('%s', async (_, entry) => {
    const { status, body } = await call(entry, acme.ids, {});
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
  });
});

describe('403 without the role', () => {
  test.each(closed)('%s', async (_, entry) => {
    const { access } = entry.operation;
    const below = access === 'public' || access === 'member' ? -1 : roles.indexOf(access) - 1;
    const cookie = await cookieFor(below < 0 ? await outsider() : below === 0 ? acme.viewer : acme.contributor);
    expect((await call(entry, acme.ids, { cookie })).status).toBe(403);
  });

  /** A member of the tenant without any role on a project. */
  let roleless: Promise<Principal> | undefined;
  const outsider = () => {
    roleless ??= (async () => {
      const member = await createTestMember(service.container.services, acme, 'project_viewer', 'none@example.com');
      await service.db.pool.query('DELETE FROM project_members WHERE user_id = $1', [member.userId]);
      return member;
    })();
    return roleless;
  };
});

describe('403 without the scope', () => {
  test.each(closed)('%s', async (_, entry) => {
    const { operation } = entry;
    const scope = operation.access === 'public' ? null : operation.scope;
    const rest = scopes.filter(each => each !== scope);
    const { token } = await createTestPat(service.container.services, acme.owner, rest);
    const { status, body } = await call(entry, acme.ids, { token }, { nonsense: '1' });
    // Without a scope of its own the operation goes on to look at the input.
    expect([status, body.code]).toEqual(scope === null ? [422, 'validation_error'] : [403, 'insufficient_scope']);
  });
});

describe("404 for another tenant's ids, as for ids that do not exist", () => {
  test.each(withIds)('%s', async (_, entry) => {
    const foreign = await call(entry, acme.ids, { token: rivalToken });
    const absent = { ...Object.fromEntries(Object.keys(acme.ids).map(key => [key, newId()])), 'versions/version': '7' };
    const unknown = await call(entry, absent, { token: rivalToken });
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
  });

  test('and nothing of theirs was changed', async () => {
    const { token } = await createTestPat(service.container.services, acme.owner, scopes);
    const path = `/v1/workflows/${acme.ids['workflows/id']}`;
    expect((await request('GET', path, { token })).body).toMatchObject({ status: 'published', name: 'First' });
    const run = await request('GET', `${path}/runs/${acme.ids['runs/runID']}/summary`, { token });
    expect(run.body).toMatchObject({ status: 'running', pending_tasks: 1 });
    expect((await request('GET', '/v1/invitations', { token })).body.invitations).toHaveLength(1);
  });
});

describe('404 for a malformed id', () => {
  test.each(withIds)('%s', async (_, entry) => {
    const malformed = Object.fromEntries(Object.keys(rival.ids).map(key => [key, '%22%3E..%2F']));
    expect((await call(entry, malformed, { token: rivalToken })).status).toBe(404);
  });
});

describe('422 for a field nobody knows', () => {
  // A raw body is for its operation alone to read.
  test.each(all.filter(([, { operation }]) => !operation.raw))('%s', async (_, entry) => {
    const { status, body } = await call(entry, rival.ids, { token: rivalToken }, { nonsense: '1' });
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.details).toContainEqual({ path: 'nonsense', message: expect.any(String) });
  });
});

describe('422 for a missing field', () => {
  test.each(Object.keys(examples) as Name[])('%s', async name => {
    const entry = registry.byName.get(name);
    if (!entry) throw new Error(`${name} is gone`);
    for (const field of ((entry.inputSchema.required ?? []) as string[]).filter(
      key => !entry.pathParameters.includes(key),
    )) {
      const { [field]: _, ...rest } = fieldsOf(name);
      const { status, body } = await request(entry.operation.method, pathIn(entry, rival.ids), {
        token: rivalToken,
        body: rest,
      });
      expect(status).toBe(422);
      expect(body.details.map((detail: { path: string }) => detail.path)).toContain(field);
    }
  });
});

describe('the examples are valid: they succeed where the caller may', () => {
  // Reading first, then changing, then deleting, so that one request does not take another's resource or session away.
  const last: readonly string[] = [
    'workflows_archive',
    'mcp_instances_delete',
    'mcp_servers_delete',
    'me_change_password',
  ];
  const weight = ({ operation: { method, name } }: RegisteredOperation) =>
    method === 'GET' ? 0 : last.includes(name) ? 3 + last.indexOf(name) : method === 'DELETE' ? 2 : 1;
  const ordered = [...closed].sort(([, a], [, b]) => weight(a) - weight(b));
  // These need what no example can hold: a value over 16 KiB, an authorization server, a messaging API.
  const provider = /^connections_(suite|messaging)_(?!config$)/;
  const excepted: readonly string[] = [
    'runs_get_payload',
    ...all.map(([name]) => name).filter(name => provider.test(name)),
  ];
  test.each(ordered.filter(([name]) => !excepted.includes(name)))('%s', async (_, entry) => {
    // A session of the owner: some operations are for accounts, which have every scope.
    const { status, body } = await call(entry, acme.ids, { cookie: await cookieFor(acme.owner) });
    expect(status, JSON.stringify(body)).toBe(entry.operation.status);
  });
});
