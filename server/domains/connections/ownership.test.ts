import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createCall } from '../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { identityOperations } from '../identity/operations.ts';
import { mcpServerOperations } from '../mcp-servers/operations.ts';
import { modelOperations } from '../models/operations.ts';
import { loadCredentials } from './credentials.ts';
import { connectionOperations } from './operations.ts';

const operations = [
  ...connectionOperations,
  ...mcpServerOperations,
  ...modelOperations,
  ...identityOperations,
] as const;
type Name = (typeof operations)[number]['name'];
type Made = { id: string; project_id: string | null };
const clock = new ManualClock();
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
/** A second project of the workspace, and a contributor who is only in that project. */
let second: Awaited<ReturnType<typeof createTestProject>>;
let call: ReturnType<typeof createCall<typeof operations>>;
let server: string;

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
  second = await createTestProject(services, acme, 'second');
  call = createCall(services, operations);
  const input = { name: 'Tools', canonical_url: 'https://tools.example.com/mcp', auth_mode: 'token' };
  server = ((await call(acme.contributor, 'mcp_servers_create', input)) as Made).id;
  await db.pool.query("UPDATE mcp_servers SET status = 'published', latest_version = 1 WHERE id = $1", [server]);
});
afterAll(() => db.close());

const origins = ['https://tools.example.com'];
async function make(more: object = {}, who: Principal = acme.contributor): Promise<Made> {
  clock.advance(1);
  const request = {
    display_name: 'Key',
    provider: 'custom',
    service: 'api_key',
    credentials: { token: 'value' },
    origins,
  };
  return (await call(who, 'connections_create', { ...request, ...more })) as Made;
}
async function makeKey(more: object = {}, who: Principal = acme.contributor): Promise<Made> {
  clock.advance(1);
  return (await call(who, 'llm_provider_keys_create', { provider: 'openai', api_key: 'value', ...more })) as Made;
}
const instance = (who: Principal, connection_id: string) =>
  call(who, 'mcp_instances_create', { name: 'Tools', server_id: server, connection_id }) as Promise<Made>;
const load = (connectionId: string, { projectId }: { projectId: string }) =>
  loadCredentials(services, { tenantId: acme.tenantId, projectId, connectionId }, 'https://tools.example.com');
const listedIds = async (who: Principal) =>
  ((await call(who, 'connections_list', { limit: 200 })) as { connections: Made[] }).connections.map(({ id }) => id);
const missing = { status: 404, code: 'not_found' };
const forbidden = { status: 403, code: 'insufficient_role' };
/** An administrator who works in the second project. */
const adminInSecond = () => ({ ...acme.owner, projectId: second.projectId });

/** Every operation on one connection or key. */
const onConnection: readonly [Name, object?][] = [
  ['connections_get'],
  ['connections_patch', { display_name: 'Mine' }],
  ['connections_credentials_get'],
  ['connections_usage'],
  ['connections_delete', { force: true }],
  ['mcp_connections_get'],
  ['mcp_connections_patch', { display_name: 'Mine' }],
  ['mcp_connections_credentials_get'],
  ['mcp_connections_delete', { force: true }],
];
const onKey: readonly [Name, object?][] = [
  ['llm_provider_keys_patch', { name: 'Mine' }],
  ['llm_provider_keys_test'],
  ['llm_provider_keys_delete', { force: true }],
];

describe('a connection of a project', () => {
  test('does not exist for another project, even for an administrator who works in it', async () => {
    const { id, project_id } = await make();
    expect(project_id).toBe(acme.projectId);
    for (const who of [second.contributor, adminInSecond()]) {
      for (const [name, more] of onConnection) {
        await expect(call(who, name, { id, ...more }), name).rejects.toMatchObject(missing);
      }
      expect(await listedIds(who)).not.toContain(id);
      await expect(instance(who, id)).rejects.toMatchObject({ status: 422, code: 'unknown_connection' });
      for (const name of ['mcp_servers_discover', 'mcp_servers_validate'] as const) {
        const asked = call(who, name, { id: server, connection_id: id });
        await expect(asked, name).rejects.toMatchObject({ status: 422, code: 'unknown_connection' });
      }
      const asked = call(who, 'mcp_servers_validate_connection', { id: server, connection_id: id });
      await expect(asked).rejects.toMatchObject(missing);
    }
    expect(await load(id, second)).toBeNull();
    expect((await load(id, acme))?.values).toEqual({ token: 'value' });
    expect(await listedIds(acme.contributor)).toContain(id);
  });

  test('serves no instance of another project, even if that names it', async () => {
    const { id } = await make();
    const { id: theirs } = await instance(second.contributor, (await make({}, second.contributor)).id);
    await db.pool.query('UPDATE mcp_instances SET connection_id = $1 WHERE id = $2', [id, theirs]);
    const report = await call(second.contributor, 'mcp_instances_validate', { id: theirs });
    expect(report).toMatchObject({ valid: false });
    expect(JSON.stringify(report)).toContain('The connection no longer exists');
  });

  test('as a model key serves its own project, before the workspace’s', async () => {
    const { id: shared } = await makeKey({ shared: true }, acme.owner);
    const { id: own } = await makeKey();
    await makeKey({ shared: true }, acme.owner);
    const newest = async (who: Principal) =>
      ((await call(who, 'llm_resolve', { model: 'openai/tiny' })) as { connection_id: string }).connection_id;
    expect(await newest(acme.contributor)).toBe(own);
    expect(await newest(second.contributor)).not.toBe(own);
    for (const [name, more] of onKey) {
      await expect(call(second.contributor, name, { id: own, ...more }), name).rejects.toMatchObject(missing);
    }
    await call(acme.owner, 'llm_provider_keys_delete', { id: shared });
  });

  test('keeps its project from being deleted, since its secret would be left behind', async () => {
    const third = await createTestProject(services, acme, 'third');
    const { id } = await make({}, third.contributor);
    const remove = () => call(acme.owner, 'projects_delete', { id: third.projectId });
    await expect(remove()).rejects.toMatchObject({ status: 409, code: 'project_not_empty' });
    await call({ ...acme.owner, projectId: third.projectId }, 'connections_patch', { id, shared: true });
    expect(await remove()).toBeUndefined();
  });
});

describe('a connection of the workspace', () => {
  test('is shared only by an administrator, and then every project can use it', async () => {
    for (const work of [
      () => make({ shared: true }),
      () => makeKey({ shared: true }),
      async () => call(acme.contributor, 'connections_patch', { id: (await make()).id, shared: true }),
      async () => call(acme.contributor, 'llm_provider_keys_patch', { id: (await makeKey()).id, shared: true }),
    ])
      await expect(work()).rejects.toMatchObject(forbidden);
    const { id } = await make();
    expect(await call(acme.owner, 'connections_patch', { id, shared: true })).toMatchObject({ project_id: null });
    expect(await call(second.contributor, 'connections_get', { id })).toMatchObject({ id, project_id: null });
    expect(await listedIds(second.contributor)).toContain(id);
    await instance(second.contributor, id);
    expect((await load(id, second))?.values).toEqual({ token: 'value' });
    expect(await makeKey({ shared: true }, acme.owner)).toMatchObject({ project_id: null });
  });

  test('is changed and deleted only by an administrator', async () => {
    const { id } = await make({ shared: true }, acme.owner);
    const { id: key } = await makeKey({ shared: true }, acme.owner);
    for (const who of [acme.contributor, second.contributor]) {
      for (const more of [{ display_name: 'Mine' }, { credentials: { token: 'mine' } }, { config: {} }, {}]) {
        await expect(call(who, 'connections_patch', { id, ...more })).rejects.toMatchObject(forbidden);
      }
      const moved = { id: key, base_url: 'https://mine.example.com', api_key: 'mine' };
      await expect(call(who, 'llm_provider_keys_patch', moved)).rejects.toMatchObject(forbidden);
      for (const force of [false, true]) {
        await expect(call(who, 'connections_delete', { id, force })).rejects.toMatchObject(forbidden);
        await expect(call(who, 'llm_provider_keys_delete', { id: key, force })).rejects.toMatchObject(forbidden);
      }
    }
    expect((await load(id, acme))?.values).toEqual({ token: 'value' });
    await call(acme.owner, 'llm_provider_keys_delete', { id: key });
  });

  test('can be assigned to one project only when no other project uses it', async () => {
    const { id } = await make({ shared: true }, acme.owner);
    const { id: theirs } = await instance(second.contributor, id);
    const back = () => call(acme.owner, 'connections_patch', { id, shared: false });
    await expect(back()).rejects.toMatchObject({ status: 409, code: 'connection_in_use' });
    await call(second.contributor, 'mcp_instances_delete', { id: theirs });
    expect(await back()).toMatchObject({ project_id: acme.projectId });
    await expect(call(second.contributor, 'connections_get', { id })).rejects.toMatchObject(missing);
  });
});

test('a server with instances of other projects is deleted only by an administrator', async () => {
  const input = { name: 'Both', canonical_url: 'https://both.example.com/mcp' };
  const { id } = (await call(acme.contributor, 'mcp_servers_create', input)) as Made;
  await db.pool.query("UPDATE mcp_servers SET status = 'published', latest_version = 1 WHERE id = $1", [id]);
  for (const who of [acme.contributor, second.contributor]) {
    await call(who, 'mcp_instances_create', { name: 'One', server_id: id });
  }
  const remove = (who: Principal) => call(who, 'mcp_servers_delete', { id, force: true });
  await expect(remove(acme.contributor)).rejects.toMatchObject(forbidden);
  expect(await db.prisma.mcpInstance.count({ where: { serverId: id } })).toBe(2);
  expect(await remove(acme.owner)).toBeUndefined();
  expect(await db.prisma.mcpInstance.count({ where: { serverId: id } })).toBe(0);
});
