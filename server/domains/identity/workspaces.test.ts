import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createRequestLimiter } from '../../operation/rate-limits.ts';
import type { Services } from '../../operation/services.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { ManualClock } from '../../platform/clock.ts';
import { type Call, createCall } from '../../testing/call.ts';
import {
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
} from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { identityOperations } from './operations.ts';
import { resolveSession } from './principal.ts';
import { verifyPassword } from './sign-in.ts';

type Answer = Record<string, unknown> & { workspaces: { slug: string; tenant_admin: boolean }[]; next_cursor: string };

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let far: TestTenant;
const clock = new ManualClock();

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
  far = await createTestTenant(services, { slug: 'far' });
});
afterAll(() => db.close());

/** Returns a function that calls operations on a deployment that is configured with `env`. */
function deployed(env: Record<string, string> = {}, over: Partial<Services> = {}) {
  const config = testConfig(env);
  let call: Call<typeof identityOperations> | undefined;
  return async (who: Principal | null, name: Parameters<NonNullable<typeof call>>[1], input?: object) => {
    clock.advance(1);
    call ??= createCall(createTestServices(db, { clock, config, ...over }), identityOperations);
    return (await call(who, name, input)) as Answer;
  };
}
const ask = deployed();
const open = deployed({ BATON_SIGN_UP: 'open' });
const off = deployed({ BATON_SIGN_UP: 'off' });

describe('POST /v1/workspaces', () => {
  it('makes its creator the administrator, with a project, and adds no one else', async () => {
    const made = await ask(acme.owner, 'workspaces_create', { slug: 'north', name: ' North Ltd ' });
    expect(made).toEqual({
      slug: 'north',
      name: 'North Ltd',
      tenant_admin: true,
      created_at: new Date(clock.now()).toISOString(),
      project: { id: expect.any(String), name: 'default', created_at: made.created_at },
    });
    const session = { userId: acme.owner.userId, sessionEpoch: 0 };
    const there = await resolveSession(services, session, { tenantId: 'north' });
    expect(there).toMatchObject({ role: 'tenant_admin', tenantId: 'north', projectId: (made.project as Answer).id });
    const colleague = { userId: acme.contributor.userId, sessionEpoch: 0 };
    await expect(resolveSession(services, colleague, { tenantId: 'north' })).rejects.toMatchObject({ status: 403 });
    // Sessions that used the first workspace without naming it stay there.
    expect(await resolveSession(services, session)).toMatchObject({ tenantId: 'acme' });
    expect(await ask(there, 'me_get')).toMatchObject({
      tenant: { id: 'north', name: 'North Ltd' },
      tenants: [{ id: 'acme' }, { id: 'north', tenant_admin: true, projects: [{ name: 'default' }] }],
    });
  });

  it.each([
    ['acme', 'one that is taken', 409, 'workspace_slug_taken'],
    ['far', "a stranger's", 409, 'workspace_slug_taken'],
    ['North', 'upper case', 422, 'validation_error'],
    ['-north', 'a hyphen first', 422, 'validation_error'],
    ['n'.repeat(64), '64 letters', 422, 'validation_error'],
    ['', 'nothing', 422, 'validation_error'],
  ])('refuses the slug %s: %s', async (slug, _, status, code) => {
    await expect(ask(acme.owner, 'workspaces_create', { slug, name: 'N' })).rejects.toMatchObject({ status, code });
  });

  it.each([[' '], [''], ['n'.repeat(121)], [undefined]])('refuses the name %j', async name => {
    await expect(ask(acme.owner, 'workspaces_create', { slug: 'x', name })).rejects.toMatchObject({
      status: 422,
      details: [{ path: 'name' }],
    });
  });

  it('accepts a slug of 63 and a name of 120 characters', async () => {
    const longest = { slug: 's'.repeat(63), name: 'n'.repeat(120) };
    expect(await ask(acme.owner, 'workspaces_create', longest)).toMatchObject(longest);
  });

  it('gives a slug to only one of several concurrent requests', async () => {
    const wanted = { slug: 'contested', name: 'C' };
    const tries = await Promise.allSettled(
      [acme.owner, far.owner, acme.owner].map(who => ask(who, 'workspaces_create', wanted)),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
  });

  it('stops at the limit of a user, also for concurrent requests', async () => {
    const three = deployed({ BATON_MAX_WORKSPACES_PER_USER: '3' });
    const { owner } = await createTestTenant(services, { slug: 'busy' });
    const tries = await Promise.allSettled(
      [1, 2, 3, 4].map(n => three(owner, 'workspaces_create', { slug: `busy-${n}`, name: 'B' })),
    );
    const refused = tries.filter(each => each.status === 'rejected');
    expect(refused.map(({ reason }) => reason)).toMatchObject([{ status: 409, code: 'too_many_workspaces' }]);
    const { workspaces } = await ask(owner, 'workspaces_list');
    expect(workspaces).toHaveLength(4);
    // Leaving a workspace does not reduce the count, because the user has still created it.
    await db.pool.query(`DELETE FROM memberships WHERE user_id = $1 AND tenant_id LIKE 'busy-%'`, [owner.userId]);
    await expect(three(owner, 'workspaces_create', { slug: 'busy-5', name: 'B' })).rejects.toMatchObject({
      code: 'too_many_workspaces',
    });
  });
});

describe('who may create a workspace', () => {
  const bodyFor = (slug: string) => ({ slug, name: 'W' });
  const admin = { status: 403, code: 'not_an_administrator' };

  it('by default: an administrator of any workspace', async () => {
    for (const who of [acme.contributor, acme.viewer])
      await expect(ask(who, 'workspaces_create', bodyFor('w1'))).rejects.toMatchObject(admin);
    await expect(ask(null, 'workspaces_create', bodyFor('w1'))).rejects.toMatchObject({ status: 401 });
    await db.pool.query(
      `INSERT INTO memberships (tenant_id, user_id, tenant_admin, created_at) VALUES ('far', $1, true, now())`,
      [acme.contributor.userId],
    );
    expect(await ask(acme.contributor, 'workspaces_create', bodyFor('w1'))).toMatchObject({ tenant_admin: true });
    // Their token of acme is valid for acme alone, where they are not an administrator.
    const { principal } = await createTestPat(services, acme.contributor, scopes);
    await expect(ask(principal, 'workspaces_create', bodyFor('w2'))).rejects.toMatchObject(admin);
  });

  it('with a token: the scope pat:manage, which guards what an account may do', async () => {
    const others = scopes.filter(scope => scope !== 'pat:manage');
    const { principal: narrow } = await createTestPat(services, acme.owner, others);
    await expect(ask(narrow, 'workspaces_create', bodyFor('w3'))).rejects.toMatchObject({
      status: 403,
      code: 'insufficient_scope',
    });
    const { principal } = await createTestPat(services, acme.owner, ['pat:manage']);
    expect(await ask(principal, 'workspaces_create', bodyFor('w3'))).toMatchObject({ slug: 'w3' });
    const { workspaces } = await ask(principal, 'workspaces_list');
    expect(workspaces.map(({ slug }) => slug)).toEqual(['acme']);
  });

  it('me shows whether it is allowed', async () => {
    const { principal: narrow } = await createTestPat(services, acme.owner, ['workflow:read']);
    const { principal: token } = await createTestPat(services, acme.contributor, scopes);
    const offered = async (on: typeof ask, who: Principal) => (await on(who, 'me_get')).can_create_workspaces;
    expect([await offered(ask, acme.owner), await offered(off, acme.owner)]).toEqual([true, false]);
    expect([await offered(ask, acme.viewer), await offered(open, acme.viewer)]).toEqual([false, true]);
    expect([await offered(ask, narrow), await offered(ask, token)]).toEqual([false, false]);
  });

  it('open: every user; off: no user', async () => {
    expect(await open(acme.viewer, 'workspaces_create', bodyFor('w4'))).toMatchObject({ tenant_admin: true });
    await expect(off(acme.owner, 'workspaces_create', bodyFor('w5'))).rejects.toMatchObject({
      status: 403,
      code: 'sign_up_off',
    });
  });
});

describe('GET /v1/workspaces', () => {
  it('lists one’s own, the latest joined first, in pages', async () => {
    const { owner } = await createTestTenant(services, { slug: 'paged' });
    for (const slug of ['paged-1', 'paged-2']) await ask(owner, 'workspaces_create', { slug, name: slug });
    const first = await ask(owner, 'workspaces_list', { limit: 2 });
    const rest = await ask(owner, 'workspaces_list', { limit: 2, cursor: first.next_cursor });
    expect([...first.workspaces, ...rest.workspaces].map(({ slug }) => slug)).toEqual(['paged-2', 'paged-1', 'paged']);
    expect(rest.next_cursor).toBeNull();
    await expect(ask(owner, 'workspaces_list', { cursor: 'nonsense' })).rejects.toMatchObject({ status: 422 });
  });

  it('shows a member who administers nothing the workspace they are in', async () => {
    expect((await ask(far.viewer, 'workspaces_list')).workspaces).toEqual([
      { slug: 'far', name: 'far', tenant_admin: false, created_at: expect.any(String) },
    ]);
  });
});

describe('POST /v1/sign-up', () => {
  const ann = { email: 'Ann@new.example.com', name: 'Ann', password: 'a good password', slug: 'anns' };

  it('exists only where every visitor may sign up', async () => {
    for (const closed of [ask, off]) {
      expect(await closed(null, 'sign_up_status')).toEqual({ open: false });
      await expect(closed(null, 'sign_up_create', ann)).rejects.toMatchObject({ status: 404 });
    }
    expect(await open(null, 'sign_up_status')).toEqual({ open: true });
  });

  it('creates an account and its workspace', async () => {
    const made = await open(null, 'sign_up_create', { ...ann, workspace_name: 'Ann & Co' });
    expect(made).toEqual({ user_id: expect.any(String), tenant_id: 'anns', email: 'ann@new.example.com' });
    const signedIn = await verifyPassword(services, { ...ann, address: '192.0.2.1' });
    expect(signedIn?.id).toBe(made.user_id);
    const session = { userId: String(made.user_id), sessionEpoch: 0 };
    expect(await resolveSession(services, session)).toMatchObject({ tenantId: 'anns', role: 'tenant_admin' });
  });

  it('gives the workspace to the account with this address and password, and else to a new one', async () => {
    const first = await open(null, 'sign_up_create', { ...ann, slug: 'anns-first', password: 'the password of ann' });
    const second = await open(null, 'sign_up_create', { ...ann, slug: 'anns-second', password: 'the password of ann' });
    const stranger = await open(null, 'sign_up_create', { ...ann, slug: 'not-anns', password: 'of somebody else' });
    expect(second.user_id).toBe(first.user_id);
    expect(stranger.user_id).not.toBe(first.user_id);
    const few = deployed({ BATON_SIGN_UP: 'open', BATON_MAX_WORKSPACES_PER_USER: '2' });
    const third = { ...ann, slug: 'anns-third', password: 'the password of ann' };
    await expect(few(null, 'sign_up_create', third)).rejects.toMatchObject({ code: 'too_many_workspaces' });
  });

  it('refuses a taken slug, and leaves nothing behind', async () => {
    const other = { ...ann, email: 'other@new.example.com' };
    await expect(open(null, 'sign_up_create', other)).rejects.toMatchObject({ code: 'workspace_slug_taken' });
    expect(await db.prisma.user.findFirst({ where: { email: other.email } })).toBeNull();
    const twins = await Promise.allSettled(
      ['twin-1', 'twin-2'].map(slug => open(null, 'sign_up_create', { ...other, slug })),
    );
    expect(twins.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await db.prisma.user.count({ where: { email: other.email } })).toBe(1);
  });

  it('is limited like sign-in', async () => {
    const rateLimiter = createRequestLimiter({ principal: 0, address: 0, signIn: 1, wrongCodes: 0 }, clock);
    const limited = deployed({ BATON_SIGN_UP: 'open' }, { rateLimiter });
    const again = { ...ann, slug: 'anns' };
    await expect(limited(null, 'sign_up_create', again)).rejects.toMatchObject({ status: 409 });
    await expect(limited(null, 'sign_up_create', again)).rejects.toMatchObject({
      status: 429,
      headers: { 'Retry-After': expect.stringMatching(/^\d+$/) },
    });
  });
});
