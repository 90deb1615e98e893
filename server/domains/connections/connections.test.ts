import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { loadCredentials } from './credentials.ts';
import { connectionOperations } from './operations.ts';

type Made = { id: string; name: string; credential_keys: string[]; used_by: number };
type Page = { connections: Made[]; next_cursor: string | null };
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let far: TestTenant;
let call: ReturnType<typeof createCall<typeof connectionOperations>>;
const clock = new ManualClock();
const missing = { status: 404, code: 'not_found', message: 'Connection not found.' };
const secret = 'fkx-8841-value-nobody-may-see';

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
  far = await createTestTenant(services, { slug: 'far' });
  call = createCall(services, connectionOperations);
});
afterAll(() => db.close());

const request = {
  display_name: 'Mail',
  provider: 'custom',
  service: 'api_key',
  credentials: { token: secret },
  origins: ['https://api.example.com'],
};
async function make(more: object = {}, who = acme.contributor): Promise<Made> {
  clock.advance(1);
  return (await call(who, 'connections_create', { ...request, ...more })) as Made;
}
const origin = 'https://api.example.com';
const load = async (id: string, { tenantId, projectId } = acme) => {
  const loaded = await loadCredentials(services, { tenantId, projectId, connectionId: id }, `${origin}/v1`);
  return loaded && { ...loaded, fetch: undefined };
};
const patch = (id: string, more: object, who = acme.contributor) => call(who, 'connections_patch', { id, ...more });
const list = async (more: object = {}, who = acme.contributor) => (await call(who, 'connections_list', more)) as Page;
const credentialsNamed = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

describe('creating', () => {
  it('answers without the secrets, and loads with them', async () => {
    const made = await make({ config: { base_url: 'https://api.example.com' } });
    expect(made).toEqual({
      id: made.id,
      project_id: acme.projectId,
      name: 'Mail',
      provider: 'custom',
      service: 'api_key',
      status: 'active',
      credential_keys: ['token'],
      config: { base_url: 'https://api.example.com' },
      account: null,
      origins: [origin],
      last_error: null,
      expires_at: null,
      rotated_at: new Date(clock.now()).toISOString(),
      last_used_at: null,
      used_by: 0,
      created_by: acme.contributor.userId,
      created_at: new Date(clock.now()).toISOString(),
      updated_at: new Date(clock.now()).toISOString(),
    });
    expect(await load(made.id)).toEqual({
      id: made.id,
      name: 'Mail',
      provider: 'custom',
      service: 'api_key',
      config: { base_url: 'https://api.example.com' },
      values: { token: secret },
    });
  });

  it('stores the secret nowhere in the clear', async () => {
    await make();
    const tables = ['connections', 'secrets', 'tenant_keys'];
    for (const table of tables) {
      const { rows } = await db.pool.query(`SELECT json_agg(t)::text AS text FROM ${table} t`);
      expect(rows[0].text).not.toContain(secret);
      expect(rows[0].text).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  it('accepts values at a limit, and refuses values beyond it', async () => {
    const good = [
      { credentials: credentialsNamed(1) },
      { credentials: credentialsNamed(32) },
      { credentials: { [`${'a'.repeat(61)}._-`]: 'v' } },
      { credentials: { token: 'x'.repeat(8192) } },
      { credentials: { constructor: 'v', toString: 'v' } },
      { display_name: 'n'.repeat(120) },
      { config: { text: 'x'.repeat(16 * 1024 - 11) } },
    ];
    for (const more of good) {
      const made = await make(more);
      if ('credentials' in more) expect((await load(made.id))?.values).toEqual(more.credentials);
    }
    const bad = [
      { credentials: {} },
      { credentials: credentialsNamed(33) },
      { credentials: { ['a'.repeat(65)]: 'v' } },
      { credentials: { '': 'v' } },
      { credentials: { 'with space': 'v' } },
      { credentials: JSON.parse('{"__proto__": "v", "a": "v"}') },
      { credentials: { token: '' } },
      { credentials: { token: 'x'.repeat(8193) } },
      { credentials: { token: 'é' } },
      { credentials: { token: 'of several\nlines\n' } },
      { credentials: { token: 7 } },
      { credentials: { token: null } },
      { credentials: ['v'] },
      { display_name: '' },
      { display_name: '   ' },
      { display_name: 'n'.repeat(121) },
      { provider: 'two words' },
      { provider: 'p'.repeat(65) },
      { provider: 'suite' },
      { provider: 'messaging' },
      { service: '' },
      { config: { text: 'x'.repeat(16 * 1024 - 10) } },
      { config: [] },
      { more: 1 },
    ];
    const before = await db.prisma.secret.count();
    for (const more of bad) {
      await expect(make(more), JSON.stringify(more).slice(0, 80)).rejects.toMatchObject({ status: 422 });
    }
    expect(await db.prisma.secret.count()).toBe(before);
  });

  it('accepts exactly the names of the required form, and returns them unchanged', async () => {
    const form = /^[A-Za-z0-9_.-]{1,64}$/;
    const anyName = fc.oneof(
      fc.string({ maxLength: 66 }),
      fc.string({ unit: fc.constantFrom('a', 'Z', '0', '_', '.', '-', '@', ' ', '\u00e9', '$'), maxLength: 8 }),
      fc.constantFrom('__proto__', 'prototype', 'hasOwnProperty', '@meta', '..', '-', 'a/b', "'; drop table x;--"),
    );
    await fc.assert(
      fc.asyncProperty(anyName, async name => {
        const credentials = JSON.parse(`{${JSON.stringify(name)}: "v"}`);
        const made = await make({ credentials }).catch(error => error);
        if (!form.test(name) || name === '__proto__') {
          expect(made).toMatchObject({ status: 422 });
          return;
        }
        expect(made.credential_keys).toEqual([name]);
        expect(Object.entries((await load(made.id))?.values ?? {})).toEqual([[name, 'v']]);
      }),
      { numRuns: 60 },
    );
  });

  it('reveals no secret in a refusal', async () => {
    const error = await make({ credentials: { token: `${secret}${'x'.repeat(8192)}`, other: 7 } }).catch(
      thrown => thrown,
    );
    expect(error.details.map((detail: { path: string }) => detail.path).sort()).toEqual([
      'credentials.other',
      'credentials.token',
    ]);
    expect(JSON.stringify([error, error.message, error.details])).not.toContain(secret);
  });
});

describe('listing', () => {
  it('pages newest first, filters, and stays within the workspace', async () => {
    const who = await createTestTenant(services, { slug: 'lists' });
    const made: Made[] = [];
    for (const [display_name, provider, service] of [
      ['One', 'openai', 'llm'],
      ['100%', 'custom', 'token'],
      ['Three', 'custom', 'header'],
    ]) {
      made.push(await make({ display_name, provider, service }, who.contributor));
    }
    const [one, two, three] = made.map(({ id }) => id);
    const ids = async (more: object) => (await list(more, who.contributor)).connections.map(({ id }) => id);
    expect(await ids({})).toEqual([three, two, one]);
    const first = await list({ limit: 2 }, who.contributor);
    expect(first.connections.map(({ id }) => id)).toEqual([three, two]);
    expect(await ids({ limit: 2, cursor: first.next_cursor })).toEqual([one]);
    expect(await ids({ provider: 'custom' })).toEqual([three, two]);
    expect(await ids({ service: 'llm' })).toEqual([one]);
    expect(await ids({ provider: 'custom', service: 'llm' })).toEqual([]);
    expect(await ids({ q: 'thr' })).toEqual([three]);
    expect(await ids({ q: '%' })).toEqual([two]);
    expect(await ids({ q: `${two}` })).toEqual([two]);
    expect(await ids({ status: 'expired' })).toEqual([]);
    expect(JSON.stringify(await list({}, who.contributor))).not.toContain(secret);
    await expect(list({ status: 'pending' })).rejects.toMatchObject({ status: 422 });
    await expect(list({ cursor: 'x' })).rejects.toMatchObject({ status: 422 });
    expect((await list({}, far.owner)).connections).toEqual([]);
  });
});

describe('changing', () => {
  it('merges credentials: those that are not named stay, null removes', async () => {
    const { id } = await make({ credentials: { a: 'one', b: 'two', c: 'three' } });
    const created = new Date(clock.now()).toISOString();
    clock.advance(5);
    const now = new Date(clock.now()).toISOString();
    const changed = await patch(id, { display_name: 'Other', credentials: { b: 'new', c: null, d: 'four' } });
    expect(changed).toMatchObject({ name: 'Other', credential_keys: ['a', 'b', 'd'], rotated_at: now });
    expect((await load(id))?.values).toEqual({ a: 'one', b: 'new', d: 'four' });
    expect(await call(acme.contributor, 'connections_credentials_get', { id })).toEqual({
      credentials: [
        { name: 'a', set_at: created },
        { name: 'b', set_at: now },
        { name: 'd', set_at: now },
      ],
    });
  });

  it('replaces the settings as a whole, or keeps them if none are given', async () => {
    const made = await make({ config: { a: 1, b: 2 } });
    clock.advance(5);
    expect(await patch(made.id, {})).toMatchObject({ updated_at: new Date(clock.now() - 5).toISOString() });
    expect(await patch(made.id, { config: { c: 3 } })).toMatchObject({ config: { c: 3 }, credential_keys: ['token'] });
    expect((await load(made.id))?.values).toEqual({ token: secret });
  });

  it('leaves 1 to 32 credentials', async () => {
    const { id } = await make({ credentials: credentialsNamed(31) });
    await patch(id, { credentials: { last: 'v' } });
    await expect(patch(id, { credentials: { more: 'v' } })).rejects.toMatchObject({ status: 422 });
    const none = Object.fromEntries(Object.keys(credentialsNamed(31)).map(name => [name, null]));
    await expect(patch(id, { credentials: { ...none, last: null } })).rejects.toMatchObject({ status: 422 });
    expect(Object.keys((await load(id))?.values ?? {})).toHaveLength(32);
  });

  it('keeps all concurrent changes', async () => {
    const { id } = await make();
    await Promise.all(Array.from({ length: 12 }, (_, index) => patch(id, { credentials: { [`k${index}`]: 'v' } })));
    const values = (await load(id))?.values ?? {};
    expect(Object.keys(values)).toHaveLength(13);
    expect((await list({ q: id })).connections[0]?.credential_keys.toSorted()).toEqual(Object.keys(values).toSorted());
  });

  it('is 404 for another workspace, even if the body is invalid', async () => {
    const { id } = await make();
    for (const [name, input] of [
      ['connections_get', { id }],
      ['connections_patch', { id, display_name: 'Mine' }],
      ['connections_patch', { id, credentials: { token: null } }],
      ['connections_delete', { id, force: true }],
      ['connections_credentials_get', { id }],
      ['connections_usage', { id }],
    ] as const) {
      await expect(call(far.owner, name, input)).rejects.toMatchObject(missing);
      await expect(call(acme.owner, name, { ...input, id: newId() })).rejects.toMatchObject(missing);
    }
    expect(await load(id, far)).toBeNull();
    expect((await load(id))?.values).toEqual({ token: secret });
  });
});

describe('using', () => {
  it('notes the last use to the minute', async () => {
    const { id } = await make();
    const readLastUsedAt = async () =>
      ((await call(acme.contributor, 'connections_get', { id })) as { last_used_at: string }).last_used_at;
    await load(id);
    const first = await readLastUsedAt();
    expect(first).toBe(new Date(clock.now()).toISOString());
    clock.advance(59_999);
    await load(id);
    expect(await readLastUsedAt()).toBe(first);
    clock.advance(1);
    await load(id);
    expect(await readLastUsedAt()).toBe(new Date(clock.now()).toISOString());
  });
});

describe('deleting', () => {
  /** Creates an MCP instance and its profile, which use the connection. Returns the id of the instance. */
  async function bind(connectionId: string, projectId: string): Promise<string> {
    const at = new Date(clock.now());
    const base = { tenantId: acme.tenantId, createdBy: acme.owner.userId, createdAt: at, updatedAt: at };
    const server = await db.prisma.mcpServer.create({
      data: {
        ...base,
        id: newId(),
        name: 'S',
        service: newId(),
        canonicalUrl: 'https://mcp.example.com',
        mode: 'third_party',
        authMode: 'token',
        status: 'published',
        toolCount: 0,
      },
    });
    const instance = await db.prisma.mcpInstance.create({
      data: { ...base, id: newId(), projectId, serverId: server.id, name: 'Tools', connectionId, config: {} },
    });
    await db.prisma.mcpConfigProfile.create({
      data: {
        id: newId(),
        tenantId: acme.tenantId,
        instanceId: instance.id,
        name: 'Night',
        settings: {},
        connectionId,
        createdAt: at,
        updatedAt: at,
      },
    });
    return instance.id;
  }

  it('deletes row and secret, once', async () => {
    const { id } = await make();
    const before = await db.prisma.secret.count();
    expect(await call(acme.contributor, 'connections_delete', { id })).toBeUndefined();
    expect(await db.prisma.secret.count()).toBe(before - 1);
    expect(await load(id)).toBeNull();
    await expect(call(acme.contributor, 'connections_delete', { id })).rejects.toMatchObject(missing);
  });

  it('is refused while in use, naming the users in this project and counting the others, unless forced', async () => {
    const { id } = await make();
    const instance = await bind(id, acme.projectId);
    const other = await db.prisma.project.create({
      data: { id: newId(), tenantId: acme.tenantId, name: 'Other', createdAt: new Date(clock.now()) },
    });
    const hidden = await bind(id, other.id);
    const usage = await call(acme.contributor, 'connections_usage', { id });
    expect(usage).toMatchObject({
      total: 4,
      instances: [{ id: instance, name: 'Tools' }],
      profiles: [{ name: 'Night', instance_id: instance, instance_name: 'Tools' }],
      workflows: [],
      elsewhere: 2,
    });
    expect(JSON.stringify(usage)).not.toContain(hidden);
    expect((await list({ q: id })).connections).toMatchObject([{ used_by: 4 }]);
    await expect(call(acme.contributor, 'connections_delete', { id })).rejects.toMatchObject({
      status: 409,
      code: 'connection_in_use',
      details: [
        { path: `instances.${instance}`, message: 'MCP instance "Tools"' },
        { path: expect.stringMatching(/^profiles\./), message: 'profile "Night" of the MCP instance "Tools"' },
        { path: 'elsewhere', message: '2 in other projects' },
      ],
    });
    expect((await load(id))?.values).toEqual({ token: secret });
    await call(acme.contributor, 'connections_delete', { id, force: true });
    expect(await db.prisma.mcpInstance.findUnique({ where: { id: instance } })).toMatchObject({ connectionId: null });
  });

  it('names workflows that call a model of the key’s provider', async () => {
    const { id } = await make({ provider: 'openai', service: 'llm' });
    const insertWorkflow = async (name: string, model: string, status = 'draft') => {
      const at = new Date(clock.now());
      const graph = { steps: [{ id: 'a', type: 'llm_call', name: 'A', model, prompt: 'x' }] };
      const { tenantId, projectId } = acme;
      const createdBy = acme.owner.userId;
      const state = { status, graph, runSetup: {}, revision: 1, graphChecksum: '' };
      await db.prisma.workflow.create({
        data: {
          id: newId(),
          tenantId,
          projectId,
          name,
          description: '',
          ...state,
          createdBy,
          createdAt: at,
          updatedAt: at,
        },
      });
    };
    await insertWorkflow('Asks', 'openai/gpt');
    await insertWorkflow('Asks another', 'openai_compatible/gpt');
    await insertWorkflow('Asked once', 'openai/gpt', 'archived');
    expect(await call(acme.contributor, 'connections_usage', { id })).toMatchObject({
      total: 1,
      workflows: [{ name: 'Asks' }],
    });
    const plain = await make({ provider: 'openai', service: 'api_key' });
    expect(await call(acme.contributor, 'connections_usage', { id: plain.id })).toMatchObject({ total: 0 });
  });
});

describe('the legacy path', () => {
  it('is the same connections under other names', async () => {
    const made = (await call(acme.contributor, 'mcp_connections_create', request)) as Made;
    const { id } = made;
    expect(await call(acme.contributor, 'connections_get', { id })).toEqual(made);
    expect(await call(acme.contributor, 'mcp_connections_get', { id })).toEqual(made);
    await call(acme.contributor, 'mcp_connections_patch', { id, display_name: 'Renamed' });
    expect(await call(acme.contributor, 'mcp_connections_list', { q: 'Renamed' })).toMatchObject({
      connections: [{ id, name: 'Renamed' }],
    });
    expect(await call(acme.contributor, 'mcp_connections_credentials_get', { id })).toMatchObject({
      credentials: [{ name: 'token' }],
    });
    await call(acme.contributor, 'mcp_connections_delete', { id });
    await expect(call(acme.contributor, 'connections_get', { id })).rejects.toMatchObject(missing);
    // server/api/authority.test.ts tests the role and the scope of both.
    const twins = connectionOperations.filter(({ name }) => name.startsWith('mcp_'));
    for (const twin of twins) {
      const original = connectionOperations.find(({ name }) => `mcp_${name}` === twin.name);
      expect([twin.input, twin.output, twin.run, twin.access]).toEqual([
        original?.input,
        original?.output,
        original?.run,
        original?.access,
      ]);
      expect(twin.path.replace('/v1/mcp/', '/v1/')).toBe(original?.path);
    }
  });
});
