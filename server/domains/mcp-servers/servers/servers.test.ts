import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import { testConfig } from '../../../testing/identity.ts';
import {
  configureTools,
  createConnection,
  createMcpWorld,
  type McpWorld,
  publishedServer,
  startToolServer,
  testOperations,
} from '../../../testing/mcp-servers.ts';
import { platformAdapters } from '../catalog/platform-adapters.ts';
import { limits } from '../schemas.ts';
import { parseCanonicalUrl } from './canonical-url.ts';

type Made = { id: string } & Record<string, unknown>;
let world: McpWorld;
beforeAll(async () => {
  world = await createMcpWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const register = (more: object = {}, by = world.acme.contributor) =>
  world.call(by, 'mcp_servers_create', {
    name: 'Demo',
    canonical_url: 'https://mcp.example.com/mcp',
    ...more,
  }) as Promise<Made>;
const callOperation = (name: Parameters<McpWorld['call']>[1], input: object, by = world.acme.contributor) =>
  world.call(by, name, input) as Promise<Made>;
const missing = { status: 404, code: 'not_found', message: 'MCP server not found.' };

describe('registering', () => {
  it('creates a draft without tools, under a unique slug', async () => {
    const first = await register({ name: 'My Server', auth_mode: 'token', mode: 'third_party' });
    expect(first).toMatchObject({
      name: 'My Server',
      service: 'my-server',
      canonical_url: 'https://mcp.example.com/mcp',
      status: 'draft',
      auth_mode: 'token',
      mode: 'third_party',
      tool_count: 0,
      latest_version: null,
      instance_count: 0,
    });
    expect(await register({ name: 'My server!' })).toMatchObject({ service: 'my-server-2' });
    expect(await register({ name: 'My Server' })).toMatchObject({ service: 'my-server-3' });
    // Slugs of another workspace are independent.
    expect(await register({ name: 'My Server' }, world.rival.contributor)).toMatchObject({ service: 'my-server' });
  });

  it('gives concurrent registrations different slugs', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => register({ name: 'Rush' })));
    expect(new Set(made.map(server => server.service)).size).toBe(6);
  });

  it.each([
    ['http://127.0.0.2/mcp', 'egress_refused'],
    ['http://169.254.169.254/latest/meta-data', 'egress_refused'],
    ['http://[::ffff:10.0.0.1]/', 'egress_refused'],
    ['https://user:pass@mcp.example.com', 'invalid_url'],
    ['ftp://mcp.example.com', 'invalid_url'],
    ['nonsense', 'invalid_url'],
  ])('422 for %s: %s', async (canonical_url, code) => {
    const details = [expect.objectContaining({ path: 'canonical_url' })];
    await expect(register({ canonical_url })).rejects.toMatchObject({ status: 422, code, details });
  });

  it('accepts a name that does not resolve yet', async () => {
    expect(await register({ canonical_url: 'https://not-there.invalid/mcp' })).toMatchObject({ status: 'draft' });
  });

  it('is limited for each workspace', async () => {
    await world.db.pool.query(
      `INSERT INTO mcp_servers (id, tenant_id, name, service, canonical_url, mode, auth_mode, status, tool_count, created_by, created_at, updated_at)
       SELECT gen_random_uuid(), 'rival', 'x', 'x' || n, 'https://x.example/', 'third_party', 'none', 'draft', 0, gen_random_uuid(), now(), now()
         FROM generate_series(1, $1) n`,
      [limits.serversPerTenant],
    );
    await expect(register({}, world.rival.contributor)).rejects.toMatchObject({ status: 422, code: 'limit_reached' });
    await world.db.pool.query(`DELETE FROM mcp_servers WHERE tenant_id = 'rival'`);
    expect(await register({}, world.rival.contributor)).toMatchObject({ service: 'demo' });
  });
});

describe('listing', () => {
  it('shows the workspace its own, newest first, in pages, filtered', async () => {
    const names = ['List one', 'List two', 'List three'];
    for (const name of names) {
      world.clock.advance(1);
      await register({ name });
    }
    const first = (await callOperation('mcp_servers_list', { q: 'list ', limit: 2 })) as unknown as {
      servers: Made[];
      next_cursor: string;
    };
    expect(first.servers.map(({ name }) => name)).toEqual(['List three', 'List two']);
    const second = await callOperation('mcp_servers_list', { q: 'list ', limit: 2, cursor: first.next_cursor });
    expect(second).toMatchObject({ servers: [{ name: 'List one' }], next_cursor: null });
    expect(await callOperation('mcp_servers_list', { q: '%' })).toMatchObject({ servers: [] });
    expect(await callOperation('mcp_servers_list', { q: 'list ', status: 'published' })).toMatchObject({ servers: [] });
    const theirs = await callOperation('mcp_servers_list', { q: 'list ' }, world.rival.contributor);
    expect(theirs).toMatchObject({ servers: [] });
  });
});

describe('discovering and publishing', () => {
  it('reads the live tools, publishes them as versions that never change, and returns the difference', async () => {
    let more = false;
    await using live = await startToolServer({
      configure: server => {
        configureTools(server);
        if (more) server.registerTool('later', { description: 'Came later.' }, () => ({ content: [] }));
      },
    });
    const { id } = await register({ canonical_url: live.url });
    await expect(callOperation('mcp_servers_publish_version', { id })).rejects.toMatchObject({
      status: 409,
      code: 'not_discovered',
    });

    const discovered = await callOperation('mcp_servers_discover', { id });
    expect(discovered).toMatchObject({
      status: 'draft',
      tool_count: 2,
      last_error: null,
      discovered: {
        tools: [
          { name: 'add', title: 'Add', description: 'Adds two numbers.', input_schema: { required: ['a', 'b'] } },
          { name: 'echo', title: null },
        ],
        server_info: { name: 'test', version: '1.2.3', transport: 'streamable_http', instructions: 'Use with care.' },
        warnings: [],
        diff: { previous_version: null, added: ['add', 'echo'] },
      },
    });
    expect(live.messages()).toContain('DELETE');

    const first = await callOperation('mcp_servers_publish_version', { id, changelog: 'First' });
    expect(first).toMatchObject({
      version: 1,
      changelog: 'First',
      tool_count: 2,
      published_by: 'contributor@acme.example.com',
      diff: { previous_version: null, added: ['add', 'echo'] },
    });
    expect(await callOperation('mcp_servers_get', { id })).toMatchObject({ status: 'published', latest_version: 1 });
    await callOperation('mcp_servers_discover', { id });
    await expect(callOperation('mcp_servers_publish_version', { id })).rejects.toMatchObject({
      status: 409,
      code: 'nothing_changed',
    });

    more = true;
    world.clock.advance(1000);
    expect(await callOperation('mcp_servers_discover', { id })).toMatchObject({
      discovered: { diff: { previous_version: 1, added: ['later'] } },
    });
    const second = await callOperation('mcp_servers_publish_version', { id });
    expect(second).toMatchObject({
      version: 2,
      diff: { previous_version: 1, added: ['later'], removed: [], changed: [] },
    });
    expect(await callOperation('mcp_servers_get_version', { id, version: 1 })).toEqual(first);
    const list = await callOperation('mcp_servers_list_versions', { id });
    expect(list).toMatchObject({
      versions: [
        { version: 2, tool_count: 3 },
        { version: 1, tool_count: 2 },
      ],
      next_cursor: null,
    });
    await expect(callOperation('mcp_servers_get_version', { id, version: 3 })).rejects.toMatchObject({ status: 404 });
  });

  it('publishes once for concurrent callers', async () => {
    await using live = await startToolServer();
    const { id } = await register({ canonical_url: live.url });
    await callOperation('mcp_servers_discover', { id });
    const settled = await Promise.allSettled(
      Array.from({ length: 5 }, () => callOperation('mcp_servers_publish_version', { id })),
    );
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of settled) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'nothing_changed' });
    }
  });

  it('sends only the credentials of the named connection', async () => {
    await using live = await startToolServer({ token: 's3cret-token' });
    const { id } = await register({ canonical_url: live.url, auth_mode: 'token' });
    const refused = {
      status: 422,
      code: 'discovery_failed',
      details: [{ path: 'canonical_url', code: 'mcp_unauthorized', message: expect.any(String) }],
    };
    await expect(callOperation('mcp_servers_discover', { id })).rejects.toMatchObject(refused);
    expect(await callOperation('mcp_servers_get', { id })).toMatchObject({
      last_error: expect.stringContaining('401'),
      discovered: null,
    });
    const connection_id = await createConnection(world, world.acme, { token: 's3cret-token' });
    expect(await callOperation('mcp_servers_discover', { id, connection_id })).toMatchObject({
      tool_count: 2,
      last_error: null,
    });

    const theirs = await createConnection(world, world.rival, { token: 's3cret-token' });
    const unknown = { status: 422, code: 'unknown_connection' };
    for (const foreign of [theirs, newId()]) {
      await expect(callOperation('mcp_servers_discover', { id, connection_id: foreign })).rejects.toMatchObject(
        unknown,
      );
      await expect(callOperation('mcp_servers_validate', { id, connection_id: foreign })).rejects.toMatchObject(
        unknown,
      );
    }
    const unfit = await createConnection(world, world.acme, { user: 'a' });
    await expect(callOperation('mcp_servers_discover', { id, connection_id: unfit })).rejects.toMatchObject({
      status: 422,
      code: 'unfit_connection',
    });
  });

  it('keeps no secret that a server sends back', async () => {
    const secret = 'sk-very-secret-value';
    await using live = await startToolServer({
      token: secret,
      configure: server => {
        server.registerTool('leak', { description: `Your key is ${secret}.`, title: secret }, () => ({ content: [] }));
      },
    });
    const { id } = await register({ canonical_url: live.url, auth_mode: 'token' });
    const connection_id = await createConnection(world, world.acme, { token: secret });
    const discovered = await callOperation('mcp_servers_discover', { id, connection_id });
    expect(JSON.stringify(discovered)).not.toContain(secret);
    expect(discovered).toMatchObject({ tool_count: 1 });
    const { rows } = await world.db.pool.query('SELECT discovered::text AS text FROM mcp_servers WHERE id = $1', [id]);
    expect(rows[0].text).toContain('Your key is');
    expect(rows[0].text).not.toContain(secret);
  });

  it('keeps the discovered tools if a later discovery fails, and says why', async () => {
    const live = await startToolServer();
    const { id } = await register({ canonical_url: live.url });
    await callOperation('mcp_servers_discover', { id });
    await live[Symbol.asyncDispose]();
    const failed = {
      status: 422,
      code: 'discovery_failed',
      details: [expect.objectContaining({ code: 'mcp_unreachable' })],
    };
    await expect(callOperation('mcp_servers_discover', { id })).rejects.toMatchObject(failed);
    expect(await callOperation('mcp_servers_get', { id })).toMatchObject({
      tool_count: 2,
      last_error: expect.stringContaining('cannot be reached'),
    });
  });

  it('refuses the discovered tools if the server was moved meanwhile', async () => {
    await using live = await startToolServer();
    const { id } = await register({ canonical_url: live.url });
    const outcome = callOperation('mcp_servers_discover', { id }).then(
      () => 'found',
      error => error.code,
    );
    await live.until(() => live.messages().includes('tools/list'));
    await callOperation('mcp_servers_patch', { id, canonical_url: 'https://elsewhere.example.com/' });
    // In either order, the tools of one address are never stored for another.
    expect(['found', 'server_changed']).toContain(await outcome);
    expect(await callOperation('mcp_servers_get', { id })).toMatchObject({ discovered: null, tool_count: 0 });
  });
});

describe('changing', () => {
  it('keeps slug and tools for another name, and is a draft again for another address or auth_mode', async () => {
    await using live = await startToolServer();
    const { id } = await publishedServer(world, live.url, { name: 'Before' });
    const renamed = await callOperation('mcp_servers_patch', { id, name: 'After' });
    expect(renamed).toMatchObject({ name: 'After', service: 'before', status: 'published', tool_count: 2 });
    const same = await callOperation('mcp_servers_patch', { id, canonical_url: live.url });
    expect(same).toMatchObject({ status: 'published', tool_count: 2 });

    const moved = await callOperation('mcp_servers_patch', { id, auth_mode: 'token' });
    expect(moved).toMatchObject({
      status: 'draft',
      tool_count: 0,
      discovered: null,
      discovered_at: null,
      latest_version: 1,
    });
    await expect(callOperation('mcp_servers_publish_version', { id })).rejects.toMatchObject({
      code: 'not_discovered',
    });
    await callOperation('mcp_servers_discover', { id });
    // The same tools at a new address are a new version, because they were discovered again.
    const confirmed = await callOperation('mcp_servers_publish_version', { id });
    expect(confirmed).toMatchObject({ version: 2, diff: { previous_version: 1, added: [], removed: [], changed: [] } });
    expect(await callOperation('mcp_servers_patch', { id })).toMatchObject({ status: 'published' });
    await expect(callOperation('mcp_servers_patch', { id, canonical_url: 'http://10.0.0.1/' })).rejects.toMatchObject({
      code: 'egress_refused',
    });
  });

  it('deletes a server with its versions, and with its instances only if forced', async () => {
    await using live = await startToolServer();
    const { id } = await publishedServer(world, live.url);
    const instance = await callOperation('mcp_instances_create', { server_id: id, name: 'One' });
    await expect(callOperation('mcp_servers_delete', { id })).rejects.toMatchObject({
      status: 409,
      code: 'server_in_use',
    });
    await expect(
      callOperation('mcp_servers_delete', { id, force: true }, world.rival.contributor),
    ).rejects.toMatchObject(missing);
    expect(await callOperation('mcp_instances_get', { id: instance.id })).toMatchObject({ name: 'One' });
    await callOperation('mcp_servers_delete', { id, force: true });
    await expect(callOperation('mcp_servers_get', { id })).rejects.toMatchObject(missing);
    await expect(callOperation('mcp_instances_get', { id: instance.id })).rejects.toMatchObject({ status: 404 });
    await expect(callOperation('mcp_servers_delete', { id })).rejects.toMatchObject(missing);
    expect(await world.db.prisma.mcpServerVersion.count({ where: { serverId: id } })).toBe(0);
  });
});

describe('the catalogs', () => {
  it('of the platform says what is registered', async () => {
    type Catalog = {
      adapters: { key: string; canonical_url: string; registered: boolean; server_id: string | null }[];
    };
    const before = (await callOperation('mcp_platform_catalog', {})) as unknown as Catalog;
    const [adapter] = before.adapters;
    expect(adapter).toMatchObject({ registered: false, server_id: null });
    const { id } = await register({ canonical_url: adapter?.canonical_url, mode: 'platform' });
    const after = (await callOperation('mcp_platform_catalog', {})) as unknown as Catalog;
    expect(after.adapters[0]).toMatchObject({ registered: true, server_id: id });
    const theirs = (await callOperation('mcp_platform_catalog', {}, world.rival.contributor)) as unknown as Catalog;
    expect(theirs.adapters[0]).toMatchObject({ registered: false });
  });

  it('of the platform starts with the demo server, if it is enabled', async () => {
    const config = testConfig({ BATON_DEMO_MCP: 'true', PORT: '80', HOST: '0.0.0.0' });
    const call = createCall({ ...world.services, config }, testOperations);
    const { adapters } = (await call(world.acme.contributor, 'mcp_platform_catalog')) as { adapters: object[] };
    expect(adapters[0]).toMatchObject({
      key: 'baton-demo',
      canonical_url: 'http://127.0.0.1/demo/mcp',
      auth_mode: 'none',
    });
    const without = createCall({ ...world.services, config: testConfig({ BATON_DEMO_MCP: 'false' }) }, testOperations);
    expect(JSON.stringify(await without(world.acme.contributor, 'mcp_platform_catalog'))).not.toContain('/demo/mcp');
  });

  it('of the platform comes in pages, in one order', async () => {
    type Page = { adapters: { key: string }[]; next_cursor: string | null };
    const page = async (input: object) => (await callOperation('mcp_platform_catalog', input)) as unknown as Page;
    const whole = await page({});
    expect(whole.next_cursor).toBeNull();
    const keys: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { adapters, next_cursor }: Page = await page({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
      expect(adapters.length).toBeLessThanOrEqual(4);
      keys.push(...adapters.map(({ key }) => key));
      cursor = next_cursor;
    }
    expect(keys).toEqual(whole.adapters.map(({ key }) => key));
    await expect(page({ cursor: 'x' })).rejects.toMatchObject({ status: 422 });
  });

  it('of the platform has unique keys and canonical https addresses', () => {
    expect(new Set(platformAdapters.map(({ key }) => key)).size).toBe(platformAdapters.length);
    for (const adapter of platformAdapters) {
      expect(adapter.key).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(parseCanonicalUrl(adapter.canonical_url)).toBe(adapter.canonical_url);
      for (const url of [adapter.canonical_url, adapter.documentation_url]) expect(url).toMatch(/^https:\/\//);
    }
  });

  it('of tools shows what is published, with its instances, filtered and in pages', async () => {
    await using live = await startToolServer();
    const { id } = await publishedServer(world, live.url, { name: 'Tools' });
    const instance = await callOperation('mcp_instances_create', { server_id: id, name: 'Mine' });
    type Page = { tools: ({ name: string } & Record<string, unknown>)[]; next_cursor: string | null };
    const list = (input: object, by = world.acme.contributor) =>
      callOperation('mcp_tools_list', input, by) as unknown as Promise<Page>;
    const all = await list({ server_id: id });
    expect(all).toMatchObject({
      tools: [
        {
          name: 'add',
          version: 1,
          server: { id, name: 'Tools' },
          input_schema: { type: 'object' },
          instances: [{ id: instance.id, name: 'Mine' }],
        },
        { name: 'echo' },
      ],
      next_cursor: null,
    });
    const first = await list({ server_id: id, limit: 1 });
    expect(first.tools.map(({ name }) => name)).toEqual(['add']);
    const second = await list({ server_id: id, limit: 1, cursor: first.next_cursor });
    expect(second).toMatchObject({ tools: [{ name: 'echo' }], next_cursor: null });
    expect((await list({ server_id: id, q: 'says IT' })).tools.map(({ name }) => name)).toEqual(['echo']);
    expect((await list({ instance_id: instance.id })).tools).toHaveLength(2);
    expect((await list({ instance_id: instance.id, server_id: newId() })).tools).toEqual([]);
    for (const input of [{ server_id: id }, { instance_id: instance.id }, {}]) {
      expect((await list(input, world.rival.contributor)).tools).toEqual([]);
    }
    await callOperation('mcp_servers_patch', { id, auth_mode: 'header' });
    expect((await list({ server_id: id })).tools).toEqual([]);
  });
});
