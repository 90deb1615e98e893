import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createCall } from '../../testing/call.ts';
import { createTestMember, createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { mcpServerOperations } from '../mcp-servers/operations.ts';
import { loadCredentials } from './credentials.ts';
import { connectionOperations } from './operations.ts';
import { impliedOrigins, maySend, originOf } from './origins.ts';
import { findConnection } from './store.ts';

const operations = [...connectionOperations, ...mcpServerOperations] as const;
type Made = { id: string; origins: string[] };
const clock = new ManualClock();
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let colleague: TestTenant['contributor'];
let call: ReturnType<typeof createCall<typeof operations>>;
const sent: string[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  const egress = {
    fetch: async (input: RequestInfo | URL) => {
      sent.push(input instanceof Request ? input.url : String(input));
      return new Response();
    },
    check: async () => undefined,
    close: async () => undefined,
  };
  services = createTestServices(db, { clock, egress });
  acme = await createTestTenant(services, { slug: 'acme' });
  colleague = await createTestMember(services, acme, 'project_contributor', 'colleague@acme.example.com');
  call = createCall(services, operations);
});
afterAll(() => db.close());

const request = {
  display_name: 'Key',
  provider: 'custom',
  service: 'api_key',
  credentials: { token: 'value', other: 'x' },
};
async function make(more: object = {}): Promise<Made> {
  clock.advance(1);
  return (await call(acme.contributor, 'connections_create', { ...request, ...more })) as Made;
}
const refOf = (connectionId: string) => ({ tenantId: acme.tenantId, projectId: acme.projectId, connectionId });
const load = (id: string, url: string) => loadCredentials(services, refOf(id), url);
const patch = (id: string, more: object, who = acme.contributor) =>
  call(who, 'connections_patch', { id, ...more }) as Promise<Made>;
const refused = { status: 409, code: 'credential_origin_refused' };
const required = (...names: string[]) => ({
  status: 422,
  code: 'secret_required',
  details: names.map(name => ({ path: `credentials.${name}`, code: 'secret_required' })),
});

describe('an origin', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com'],
    ['HTTPS://API.Example.com:443/v1?x#y', 'https://api.example.com'],
    ['http://127.0.0.1:8080/mcp', 'http://127.0.0.1:8080'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example'],
    ['ftp://api.example.com', null],
    ['not a URL', null],
  ])('of %s is %s', (url, origin) => expect(originOf(url)).toBe(origin));

  test('is scheme, host and port, and not a prefix of another origin', () => {
    const origins = ['https://api.example.com'];
    expect(maySend(origins, 'https://api.example.com/any/path')).toBe(true);
    for (const other of [
      'http://api.example.com',
      'https://api.example.com:8443',
      'https://api.example.com.evil.example',
      'https://evil.example/https://api.example.com',
      'https://api.example.com@evil.example',
      'https://sub.api.example.com',
      'https://example.com',
    ])
      expect(maySend(origins, other), other).toBe(false);
  });

  test('defaults to that of the base URL, or of the model provider', () => {
    expect(impliedOrigins('custom', 'x', { base_url: 'https://a.example/v1' })).toEqual(['https://a.example']);
    expect(impliedOrigins('openai', 'llm', {})).toEqual(['https://api.openai.com']);
    expect(impliedOrigins('openai', 'x', {})).toEqual([]);
    expect(impliedOrigins('custom', 'x', { base_url: 7 })).toEqual([]);
  });
});

describe('a connection', () => {
  test('is sent only to its named origins, by a fetch that reaches no other', async () => {
    const { id, origins } = await make({
      origins: ['https://a.example/path', 'https://A.example', 'https://b.example'],
    });
    expect(origins).toEqual(['https://a.example', 'https://b.example']);
    const loaded = await load(id, 'https://b.example/mcp');
    await loaded?.fetch('https://a.example/more');
    await expect(loaded?.fetch('https://c.example/')).rejects.toThrow('may not be sent to https://c.example');
    await expect(loaded?.fetch(new Request('https://c.example/'))).rejects.toThrow('may not be sent');
    expect(sent).toEqual(['https://a.example/more']);
    await expect(load(id, 'https://c.example')).rejects.toMatchObject(refused);
    await expect(load(id, '')).rejects.toMatchObject(refused);
  });

  test.each([
    [['ftp://a.example']],
    [['a.example']],
    [['https://u:p@a.example']],
    [[]],
    [Array(11).fill('https://a.example')],
  ])('with %j as its origins is 422', origins => expect(make({ origins })).rejects.toMatchObject({ status: 422 }));

  test('gets another origin only if every secret is entered again, and fewer origins without that', async () => {
    const { id } = await make({ origins: ['https://a.example', 'https://b.example'] });
    const origins = ['https://c.example'];
    for (const who of [acme.contributor, colleague, acme.owner]) {
      await expect(patch(id, { origins }, who)).rejects.toMatchObject(required('token', 'other'));
      const some = { origins, credentials: { token: 'new', more: 'mine' } };
      await expect(patch(id, some, who)).rejects.toMatchObject(required('other'));
    }
    expect((await load(id, 'https://a.example'))?.values).toEqual(request.credentials);
    expect(await patch(id, { origins: ['https://a.example'] }, colleague)).toMatchObject({
      origins: ['https://a.example'],
    });
    await expect(patch(id, { origins: ['https://b.example'] })).rejects.toMatchObject({ code: 'secret_required' });
    const all = { origins, credentials: { token: 'new', other: null } };
    expect(await patch(id, all, colleague)).toMatchObject({ origins });
    expect((await load(id, 'https://c.example'))?.values).toEqual({ token: 'new' });
    await expect(load(id, 'https://a.example')).rejects.toMatchObject(refused);
  });

  test('keeps its origins while secrets, name and settings change', async () => {
    const { id } = await make({ config: { base_url: 'https://a.example/v1' } });
    const origins = ['https://a.example'];
    expect(await patch(id, { credentials: { token: 'new' } }, colleague)).toMatchObject({ origins });
    expect(await patch(id, { config: { base_url: 'https://a.example/v2' } })).toMatchObject({ origins });
    expect(await patch(id, { config: { region: 'eu' } })).toMatchObject({ origins });
    const moved = { config: { base_url: 'https://b.example' } };
    await expect(patch(id, moved)).rejects.toMatchObject(required('token', 'other'));
    expect(await patch(id, { ...moved, credentials: request.credentials })).toMatchObject({
      origins: ['https://b.example'],
    });
  });
});

describe('a connection without an origin', () => {
  async function server(url: string): Promise<string> {
    const { id } = (await call(acme.contributor, 'mcp_servers_create', {
      name: 'Tools',
      canonical_url: url,
      auth_mode: 'token',
    })) as Made;
    await db.pool.query("UPDATE mcp_servers SET status = 'published', latest_version = 1 WHERE id = $1", [id]);
    return id;
  }
  const use = async (connection_id: string, server_id: string, who = acme.contributor) =>
    call(who, 'mcp_instances_create', { name: 'Tools', server_id, connection_id });
  const bound = async (id: string) => (await findConnection(db.prisma, refOf(id)))?.origins;

  test('is bound by the first use by the person who stored it, and by no other use', async () => {
    const { id, origins } = await make();
    expect(origins).toEqual([]);
    const [theirs, mine] = [await server('https://theirs.example/mcp'), await server('https://mine.example/mcp')];
    for (const who of [colleague, acme.owner]) await expect(use(id, theirs, who)).rejects.toMatchObject(refused);
    await expect(load(id, 'https://theirs.example')).rejects.toMatchObject(refused);
    await use(id, mine);
    expect(await bound(id)).toEqual(['https://mine.example']);
    await use(id, mine, colleague);
    await expect(use(id, theirs)).rejects.toMatchObject(refused);
  });

  test('cannot be bound once several people entered its secrets, until one enters them all', async () => {
    const { id } = await make();
    const mine = await server('https://several.example/mcp');
    await patch(id, { credentials: { token: 'new' } }, colleague);
    for (const who of [colleague, acme.contributor]) await expect(use(id, mine, who)).rejects.toMatchObject(refused);
    await patch(id, { credentials: request.credentials }, colleague);
    await expect(use(id, mine)).rejects.toMatchObject(refused);
    await use(id, mine, colleague);
    expect(await bound(id)).toEqual(['https://several.example']);
  });

  test('is not bound by a server that takes no credentials', async () => {
    const { id } = await make();
    const open = await server('https://open.example/mcp');
    await db.pool.query("UPDATE mcp_servers SET auth_mode = 'none' WHERE id = $1", [open]);
    await use(id, open, colleague);
    expect(await bound(id)).toEqual([]);
  });

  test('gets its first origin by name only from the person who stored it', async () => {
    const { id } = await make();
    const origins = ['https://a.example'];
    await expect(patch(id, { origins }, colleague)).rejects.toMatchObject({ code: 'secret_required' });
    expect(await patch(id, { origins })).toMatchObject({ origins });
  });
});
