import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { HOUR_MS, ManualClock } from '../../../platform/clock.ts';
import { createEgress } from '../../../platform/egress/egress.ts';
import { type AppError, unavailable } from '../../../platform/errors.ts';
import { createCall } from '../../../testing/call.ts';
import {
  createTestMember,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
} from '../../../testing/identity.ts';
import {
  oauthClientId,
  oauthClientSecret,
  startOauthServer,
  type TestOauthServer,
} from '../../../testing/oauth-server.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { loadCredentials } from '../credentials.ts';
import { connectionOperations } from '../operations.ts';

type Connection = { id: string; config: { services: string[] }; credential_keys: string[]; status: string };
const redirectUri = 'http://127.0.0.1:3000/connections/callback';
/** Starts at the real time, because the server's tokens contain it. */
const clock = new ManualClock(Date.now());

let db: TestDatabase;
let server: TestOauthServer;
let services: Services;
let acme: TestTenant;
let far: TestTenant;
let call: ReturnType<typeof createCall<typeof connectionOperations>>;
let account = 'ada';

beforeAll(async () => {
  db = await createTestDatabase();
  server = await startOauthServer({ redirectUri, account: () => account });
  const config = testConfig({
    BATON_SUITE_ISSUER: server.issuer,
    BATON_SUITE_CLIENT_ID: oauthClientId,
    BATON_SUITE_CLIENT_SECRET: oauthClientSecret,
    BATON_SUITE_SCOPES: 'openid email profile offline_access',
    BATON_SUITE_SERVICES: 'mail=mail.read; calendar=calendar.read',
    BATON_SUITE_AUTHORIZATION_PARAMS: 'prompt=consent',
  });
  const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  services = createTestServices(db, { clock, config, egress });
  acme = await createTestTenant(services, { slug: 'acme' });
  far = await createTestTenant(services, { slug: 'far' });
  call = createCall(services, connectionOperations);
});
afterEach(() => {
  account = 'ada';
  server.break(null);
  server.refuse([]);
});
afterAll(async () => {
  await services.egress.close();
  await server.close();
  await db.close();
});

async function begin(input: object = {}, who = acme.contributor) {
  return (await call(who, 'connections_suite_oauth_url', input)) as { authorization_url: string; state: string };
}
/** The provider's answer; no `error`. */
async function consent(input: object = {}) {
  const { authorization_url: url } = await begin(input);
  const { code = '', state = '', iss = '' } = await server.visit(url);
  return { code, state, iss };
}
async function connect(input: object = {}): Promise<Connection> {
  return (await call(
    acme.contributor,
    'connections_suite_complete',
    await consent({ origins, ...input }),
  )) as Connection;
}
const load = async ({ id }: Connection, from = services) => {
  const { tenantId, projectId } = acme;
  const loaded = await loadCredentials(
    from,
    { tenantId, projectId, connectionId: id },
    'https://tools.example.com/mcp',
  );
  return loaded && { ...loaded, fetch: undefined };
};
const origins = ['https://tools.example.com'];
const get = (id: string) => call(acme.contributor, 'connections_get', { id });

describe('connecting', () => {
  it('leads from the URL through the provider to a connection, without returning its tokens', async () => {
    const made = await connect({ display_name: 'Office' });
    expect(made).toMatchObject({
      name: 'Office',
      provider: 'suite',
      service: 'oauth',
      status: 'active',
      credential_keys: ['access_token', 'refresh_token'],
      account: { subject: 'ada', email: 'ada@example.com', name: 'Name of ada' },
      config: { services: ['mail', 'calendar'] },
      expires_at: new Date(clock.now() + HOUR_MS).toISOString(),
    });
    const loaded = await load(made);
    for (const secret of Object.values(loaded?.values ?? {})) expect(JSON.stringify(made)).not.toContain(secret);
    const userinfo = await fetch(`${server.issuer}/me`, {
      headers: { Authorization: `Bearer ${loaded?.values.access_token}` },
    });
    expect(await userinfo.json()).toMatchObject({ sub: 'ada' });
  });

  it('sends PKCE with S256 and keeps neither state nor verifier in the clear', async () => {
    const { authorization_url: url, state } = await begin();
    const sent = new URL(url).searchParams;
    expect(sent.get('code_challenge_method')).toBe('S256');
    expect(sent.get('code_challenge')).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(sent.get('redirect_uri')).toBe(redirectUri);
    const { rows } = await db.pool.query(
      `SELECT (SELECT json_agg(f) FROM oauth_flows f)::text || (SELECT json_agg(s) FROM secrets s)::text AS text`,
    );
    expect(rows[0].text).not.toContain(state);
    expect(rows[0].text).not.toContain(Buffer.from(state).toString('hex'));
  });

  it('accepts a state once, from the user who started, in the same tenant, for ten minutes', async () => {
    const refused = { status: 422, code: 'oauth_state_invalid' };
    const callback = await consent();
    const colleague = await createTestMember(services, acme, 'project_contributor', 'colleague@acme.example.com');
    const elsewhere = { ...acme.contributor, tenantId: far.tenantId, projectId: far.projectId };
    for (const who of [colleague, elsewhere, far.contributor]) {
      await expect(call(who, 'connections_suite_complete', callback)).rejects.toMatchObject(refused);
    }
    const forged = { ...callback, state: `suite.${'A'.repeat(43)}` };
    await expect(call(acme.contributor, 'connections_suite_complete', forged)).rejects.toMatchObject(refused);
    const settled = await Promise.allSettled(
      [1, 2, 3].map(() => call(acme.contributor, 'connections_suite_complete', callback)),
    );
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(call(acme.contributor, 'connections_suite_complete', callback)).rejects.toMatchObject(refused);

    const late = await consent();
    clock.advance(10 * 60_000);
    await expect(call(acme.contributor, 'connections_suite_complete', late)).rejects.toMatchObject(refused);
    await begin();
    const { rows } = await db.pool.query(`SELECT count(*)::int AS n FROM secrets WHERE name LIKE 'oauth-flow/%'`);
    expect(rows[0].n).toBe(await db.prisma.oauthFlow.count());
    expect(rows[0].n).toBe(1);
  });

  it('422 for a code that the provider refuses, and for another server’s answer', async () => {
    const refused = { status: 422, code: 'oauth_refused' };
    const forged = { ...(await consent()), code: 'forged-code-value' };
    const error = await call(acme.contributor, 'connections_suite_complete', forged).catch(
      (thrown: AppError) => thrown,
    );
    expect(error).toMatchObject(refused);
    expect(inspect(error)).not.toContain('forged-code-value');
    const mixed = { ...(await consent()), iss: 'https://evil.example' };
    await expect(call(acme.contributor, 'connections_suite_complete', mixed)).rejects.toMatchObject(refused);
  });

  it('503 where the provider or the secret store is away, or the guard refuses its address', async () => {
    const away = { status: 503, code: 'oauth_unavailable' };
    const callback = await consent();
    server.break(502);
    await expect(call(acme.contributor, 'connections_suite_complete', callback)).rejects.toMatchObject(away);
    server.break(null);
    const egress = createEgress({ allowPrivate: [] });
    const config = { ...services.config, suite: services.config.suite && { ...services.config.suite } };
    const guarded = createCall({ ...services, config, egress }, connectionOperations);
    await expect(guarded(acme.contributor, 'connections_suite_oauth_url')).rejects.toMatchObject(away);
    await egress.close();
    const store = { ...services.secrets, delete: async () => undefined, put: storeAway };
    const without = createCall({ ...services, secrets: store }, connectionOperations);
    await expect(without(acme.contributor, 'connections_suite_oauth_url')).rejects.toMatchObject({ status: 503 });
  });

  it('404 for all but config where there is no suite', async () => {
    const none = createCall({ ...services, config: { ...services.config, suite: null } }, connectionOperations);
    expect(await none(acme.contributor, 'connections_suite_config')).toEqual({ enabled: false, services: [] });
    const made = await connect();
    for (const [name, input] of [
      ['connections_suite_oauth_url', {}],
      ['connections_suite_complete', { code: 'c', state: 's' }],
      ['connections_suite_account', { connectionId: made.id }],
      ['connections_suite_services_patch', { connectionId: made.id, services: {} }],
    ] as const) {
      await expect(none(acme.contributor, name, input)).rejects.toMatchObject({ status: 404 });
    }
  });
});

const storeAway = () => Promise.reject(unavailable('secret_store_unavailable', 'The secret store is unavailable.'));

describe('refreshing', () => {
  it('happens a minute before the end, and the new tokens stay', async () => {
    const made = await connect();
    const first = await load(made);
    clock.advance(HOUR_MS - 60_001);
    expect(await load(made)).toEqual(first);
    clock.advance(1);
    const second = await load(made);
    expect(second?.values.access_token).not.toBe(first?.values.access_token);
    expect(second?.values.refresh_token).not.toBe(first?.values.refresh_token);
    expect(await load(made)).toEqual(second);
    expect(await get(made.id)).toMatchObject({
      status: 'active',
      expires_at: new Date(clock.now() + HOUR_MS).toISOString(),
    });
  });

  it('uses a refresh token once for concurrent callers in two processes', async () => {
    const made = await connect();
    clock.advance(HOUR_MS);
    const other = new pg.Pool({ connectionString: db.url, max: 4 });
    const elsewhere = createTestServices(
      { ...db, pool: other },
      { clock, config: services.config, egress: services.egress },
    );
    const before = server.requests.length;
    const { waiting, release } = server.hold();
    // A slow machine must not fail the test.
    const many = (from: Services) => Array.from({ length: 20 }, () => load(made, from));
    const loading = many(services);
    await expect.poll(waiting).toBe(1);
    loading.push(...many(elsewhere));
    // The other process has also started its request, or waits for the lock.
    const blocked = `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await expect.poll(async () => waiting() - 1 + (await db.pool.query(blocked)).rows[0].n).toBeGreaterThan(0);
    release();
    const loaded = await Promise.all(loading);
    expect(server.requests.slice(before)).toEqual(['refresh_token']);
    expect(new Set(loaded.map(each => each?.values.access_token)).size).toBe(1);
    await other.end();
    // The server revokes all tokens if it sees a refresh token twice; another refresh proves that it did not.
    clock.advance(HOUR_MS);
    expect((await load(made))?.values.access_token).toBeTruthy();
  });

  it('marks a connection whose access was revoked as expired and keeps it; connecting again repairs it', async () => {
    const made = await connect();
    await server.revoke();
    clock.advance(HOUR_MS);
    const error = { status: 409, code: 'connection_expired' };
    await expect(load(made)).rejects.toMatchObject(error);
    const before = server.requests.length;
    await expect(load(made)).rejects.toMatchObject(error);
    expect(server.requests.length, 'the provider is not asked again').toBe(before);
    expect(await get(made.id)).toMatchObject({
      status: 'expired',
      last_error: 'Connect it again: the provider refused its refresh token: access was withdrawn, or has lapsed.',
    });
    const again = await connect({ connection_id: made.id });
    expect(again).toMatchObject({ id: made.id, status: 'active', last_error: null });
    expect((await load(made))?.values.access_token).toBeTruthy();
  });

  it('uses the old token until it expires while the provider is unavailable, then returns 503, then recovers', async () => {
    const made = await connect();
    const first = await load(made);
    clock.advance(HOUR_MS - 30_000);
    server.break(500);
    expect(await load(made)).toEqual(first);
    expect(await get(made.id)).toMatchObject({
      status: 'error',
      last_error: expect.stringContaining('is not available'),
    });
    clock.advance(30_000);
    await expect(load(made)).rejects.toMatchObject({ status: 503, code: 'oauth_unavailable' });
    server.break(null);
    expect((await load(made))?.values.access_token).not.toBe(first?.values.access_token);
    expect(await get(made.id)).toMatchObject({ status: 'active', last_error: null });
  });

  it('loses no rotated token if the secret store is unavailable at that moment', async () => {
    const made = await connect();
    clock.advance(HOUR_MS);
    const { secrets } = services;
    const store = {
      get: secrets.get.bind(secrets),
      take: secrets.take.bind(secrets),
      delete: storeAway,
      put: storeAway,
    };
    const before = server.requests.length;
    await expect(load(made, { ...services, secrets: store })).rejects.toMatchObject({ status: 503 });
    const loaded = await load(made);
    expect(server.requests.slice(before)).toEqual(['refresh_token']);
    expect(loaded?.values.access_token).toBeTruthy();
    clock.advance(HOUR_MS);
    expect((await load(made))?.values.access_token).not.toBe(loaded?.values.access_token);
  });
});

describe('services', () => {
  const patch = (connectionId: string, wanted: object, who = acme.contributor) =>
    call(who, 'connections_suite_services_patch', { connectionId, services: wanted });
  it('can be disabled, also at the provider, and enabled again', async () => {
    const made = await connect();
    const first = (await load(made))?.values.access_token;
    expect(await patch(made.id, { mail: false })).toMatchObject({
      services: [
        { name: 'mail', granted: true, enabled: false },
        { name: 'calendar', granted: true, enabled: true },
      ],
    });
    const narrowed = await load(made);
    expect(narrowed?.values.access_token).not.toBe(first);
    expect(narrowed?.config).toMatchObject({ services: ['calendar'] });
    expect(server.scopes.at(-1)?.split(' ')).not.toContain('mail.read');
    expect(server.scopes.at(-1)?.split(' ')).toContain('calendar.read');
    expect(await patch(made.id, { mail: true })).toMatchObject({ services: [{ enabled: true }, { enabled: true }] });
    expect((await load(made))?.values.access_token).not.toBe(narrowed?.values.access_token);
    expect(server.scopes.at(-1)?.split(' ')).toEqual(expect.arrayContaining(['mail.read', 'calendar.read']));
  });

  it('422 for a service that was not granted, with advice, and for an unknown service', async () => {
    server.refuse(['calendar.read']);
    const made = await connect();
    expect(made.config.services).toEqual(['mail']);
    expect(await call(acme.contributor, 'connections_suite_account', { connectionId: made.id })).toMatchObject({
      account: { email: 'ada@example.com' },
      services: [
        { name: 'mail', granted: true, enabled: true },
        { name: 'calendar', granted: false, enabled: false },
      ],
    });
    const error = await patch(made.id, { calendar: true }).catch((thrown: AppError) => thrown);
    const details = [{ path: 'services.calendar', message: expect.stringContaining('oauth-url') }];
    expect(error).toMatchObject({ status: 422, code: 'service_not_granted', details });
    await expect(patch(made.id, { fax: true })).rejects.toMatchObject({ status: 422 });
    await expect(begin({ services: ['fax'] })).rejects.toMatchObject({ status: 422 });
    await expect(patch(made.id, { mail: false }, far.contributor)).rejects.toMatchObject({ status: 404 });
  });

  it('requests only the named services', async () => {
    const { authorization_url: url } = await begin({ services: ['mail'] });
    expect(new URL(url).searchParams.get('scope')).toBe('openid email profile offline_access mail.read');
    expect((await connect({ services: ['mail'] })).config.services).toEqual(['mail']);
  });

  it('409 if another account would replace the first', async () => {
    const made = await connect();
    account = 'bob';
    await expect(connect({ connection_id: made.id })).rejects.toMatchObject({ status: 409, code: 'account_differs' });
    expect(await get(made.id)).toMatchObject({ account: { subject: 'ada' } });
  });
});
