import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { scopes } from '../../../orchestrator/ports/authority.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { unavailable } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import {
  createTestMember,
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
} from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { resolvePat, settleLastUsed } from '../principal.ts';
import { patOperations } from './operations.ts';

type Made = { id: string; token: string };
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let far: TestTenant;
let call: ReturnType<typeof createCall<typeof patOperations>>;
const clock = new ManualClock();
const missing = { status: 404, code: 'not_found', message: 'Token not found.' };

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
  far = await createTestTenant(services, { slug: 'far' });
  call = createCall(services, patOperations);
});
afterAll(async () => {
  await settleLastUsed(services);
  await db.close();
});

async function make(by = acme.contributor, more: object = {}): Promise<Made> {
  clock.advance(1);
  return (await call(by, 'pats_create', { display_name: 'CI', scopes: ['workflow:read'], ...more })) as Made;
}

describe('creating', () => {
  it('gives a token that works, with the scopes asked for, each once', async () => {
    const made = await make(acme.contributor, { scopes: ['workflow:run', 'workflow:read', 'workflow:run'] });
    expect(made).toMatchObject({
      display_name: 'CI',
      scopes: ['workflow:read', 'workflow:run'],
      created_at: new Date(clock.now()).toISOString(),
      expires_at: null,
    });
    expect(await resolvePat(services, made.token)).toMatchObject({
      userId: acme.contributor.userId,
      credential: { patId: made.id, scopes: ['workflow:read', 'workflow:run'] },
    });
  });

  it('stores the token nowhere in the clear', async () => {
    const { token } = await make();
    const dump = await db.pool.query(
      `SELECT (SELECT json_agg(p) FROM pats p)::text || (SELECT json_agg(s) FROM secrets s)::text AS text`,
    );
    const { text } = dump.rows[0];
    expect(text).not.toContain(token);
    expect(text).not.toContain(Buffer.from(token).toString('hex'));
  });

  it('422 for an expiry that has passed, unknown scopes, or none', async () => {
    const timeAfter = (ms: number) => new Date(clock.now() + ms).toISOString();
    const soon = await make(acme.contributor, { expires_at: timeAfter(1000) });
    expect(soon).toMatchObject({ expires_at: expect.stringMatching(/\.\d{3}Z$/) });
    clock.advance(1000);
    expect(await resolvePat(services, soon.token)).toBeNull();
    const bad = [
      { expires_at: timeAfter(0) },
      { expires_at: timeAfter(-1000) },
      { expires_at: 'tomorrow' },
      { scopes: [] },
      { scopes: ['workflow:all'] },
      { display_name: '' },
    ];
    for (const more of bad) await expect(make(acme.contributor, more)).rejects.toMatchObject({ status: 422 });
  });

  it('lets a token create only tokens that are no stronger than itself', async () => {
    const { principal } = await createTestPat(services, acme.contributor, ['pat:manage', 'workflow:read']);
    expect(await make(principal)).toMatchObject({ scopes: ['workflow:read'] });
    for (const wanted of [['workflow:run'], ['workflow:read', 'mcp:execute'], [...scopes]]) {
      const error = { status: 403, code: 'insufficient_scope' };
      await expect(make(principal, { scopes: wanted })).rejects.toMatchObject(error);
    }
  });

  it('leaves nothing behind when the secret store is away, or the row cannot be written', async () => {
    const count = () => db.prisma.pat.count();
    const secretCount = () => db.prisma.secret.count();
    const before = [await count(), await secretCount()];
    const failAsUnavailable = () =>
      Promise.reject(unavailable('secret_store_unavailable', 'The secret store is unavailable.'));
    const noStore = createCall(
      { ...services, secrets: { ...services.secrets, put: failAsUnavailable } },
      patOperations,
    );
    const input = { display_name: 'x', scopes: ['workflow:read'] };
    await expect(noStore(acme.contributor, 'pats_create', input)).rejects.toMatchObject({ status: 503 });
    await expect(call({ ...acme.contributor, userId: 'no-uuid' }, 'pats_create', input)).rejects.toThrow();
    expect([await count(), await secretCount()]).toEqual(before);
  });
});

describe('a token that creates tokens', () => {
  const timeAfter = (ms: number) => new Date(clock.now() + ms).toISOString();
  const patIdOf = ({ credential }: Principal) => (credential.kind === 'pat' ? credential.patId : '');
  /** Creates a token with a session, and returns the principal of the token. */
  const bearer = async (more: object = {}, by = acme.contributor): Promise<Principal> => {
    const { token } = await make(by, { scopes: ['pat:manage', 'workflow:read'], ...more });
    const principal = await resolvePat(services, token);
    if (principal === null) throw new Error('The token is dead.');
    return principal;
  };

  it('creates none that lives longer than itself: at, above and below, and none without an expiry', async () => {
    const tooLong = { status: 403, code: 'insufficient_lifetime', details: [{ path: 'expires_at' }] };
    const day = 86_400_000;
    const expires_at = timeAfter(day);
    const short = await bearer({ expires_at });
    expect(await make(short, { expires_at })).toMatchObject({ expires_at });
    const below = new Date(Date.parse(expires_at) - 1).toISOString();
    expect(await make(short, { expires_at: below })).toMatchObject({ expires_at: below });
    const above = new Date(Date.parse(expires_at) + 1).toISOString();
    await expect(make(short, { expires_at: above })).rejects.toMatchObject(tooLong);
    await expect(make(short)).rejects.toMatchObject(tooLong);
    const endless = await bearer();
    expect(await make(endless)).toMatchObject({ expires_at: null });
    expect(await make(endless, { expires_at: above })).toMatchObject({ expires_at: above });
  });

  it('reveals none that lives longer than itself', async () => {
    const expires_at = timeAfter(86_400_000);
    const short = await bearer({ expires_at });
    const endless = await make(acme.contributor);
    const error = { status: 403, code: 'insufficient_lifetime' };
    await expect(call(short, 'pats_reveal', { id: endless.id })).rejects.toMatchObject(error);
    expect(await call(acme.contributor, 'pats_reveal', { id: endless.id })).toMatchObject({ token: endless.token });
    const as = await make(acme.contributor, { expires_at });
    expect(await call(short, 'pats_reveal', { id: as.id })).toMatchObject({ token: as.token });
  });

  it('is listed as their creator, and its revocation revokes all of them', async () => {
    const root = await bearer();
    const child = await make(root, { scopes: ['pat:manage', 'workflow:read'], display_name: 'Child' });
    const grandchild = await make((await resolvePat(services, child.token)) ?? root, { display_name: 'Grandchild' });
    const unrelated = await make();
    const { pats } = (await call(acme.contributor, 'pats_list')) as { pats: { id: string }[] };
    const makers = new Map(pats.map(pat => [pat.id, pat]));
    expect(makers.get(child.id)).toMatchObject({ created_by_pat_id: patIdOf(root) });
    expect(makers.get(grandchild.id)).toMatchObject({ created_by_pat_id: child.id });
    expect(makers.get(unrelated.id)).toMatchObject({ created_by_pat_id: null });

    expect(await call(acme.contributor, 'pats_revoke', { id: patIdOf(root) })).toEqual({
      id: patIdOf(root),
      also_revoked: [
        { id: child.id, display_name: 'Child' },
        { id: grandchild.id, display_name: 'Grandchild' },
      ],
    });
    for (const { id, token } of [child, grandchild]) {
      expect(await resolvePat(services, token)).toBeNull();
      expect(await services.secrets.get('acme', `pat/${id}`)).toBeNull();
    }
    expect(await resolvePat(services, unrelated.token)).not.toBeNull();
  });

  it('also revokes what an earlier revoked token created', async () => {
    const root = await bearer();
    const child = await make(root, { scopes: ['pat:manage', 'workflow:read'] });
    const grandchild = await make((await resolvePat(services, child.token)) ?? root);
    // Simulates a revocation by a version of Baton that did not record which token created which.
    await db.pool.query('UPDATE pats SET revoked_at = created_at WHERE id = $1', [child.id]);
    const answer = await call(acme.contributor, 'pats_revoke', { id: patIdOf(root) });
    expect(answer).toMatchObject({ also_revoked: [{ id: grandchild.id }] });
    expect(await resolvePat(services, grandchild.token)).toBeNull();
  });

  it('leaves none behind if it is revoked at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const root = await bearer();
      const made = Array.from({ length: 4 }, () => make(root).catch(() => null));
      const revoked = call(acme.contributor, 'pats_revoke', { id: patIdOf(root) });
      const tokens = (await Promise.all(made)).filter(each => each !== null);
      await revoked;
      for (const { token } of tokens) expect(await resolvePat(services, token)).toBeNull();
      await expect(make(root)).rejects.toMatchObject({ status: 401 });
    }
  });
});

describe('listing', () => {
  it('shows people their own tokens, and administrators those of the project, in pages, newest first, and without secrets', async () => {
    const tenant = await createTestTenant(services, { slug: 'lists' });
    const mine = [await make(tenant.contributor), await make(tenant.contributor), await make(tenant.contributor)];
    const owners = await make(tenant.owner);
    const first = (await call(tenant.contributor, 'pats_list', { limit: 2 })) as { next_cursor: string };
    expect(first).toMatchObject({ pats: [{ id: mine[2]?.id }, { id: mine[1]?.id }] });
    const second = await call(tenant.contributor, 'pats_list', { limit: 2, cursor: first.next_cursor });
    expect(second).toMatchObject({
      pats: [{ id: mine[0]?.id, user_email: 'contributor@lists.example.com' }],
      next_cursor: null,
    });
    const all = await call(tenant.owner, 'pats_list');
    expect((all as { pats: { id: string }[] }).pats.map(({ id }) => id)).toEqual([
      owners.id,
      mine[2]?.id,
      mine[1]?.id,
      mine[0]?.id,
    ]);
    for (const { token } of [...mine, owners]) expect(JSON.stringify(all)).not.toContain(token.slice(4, 20));
    await call(tenant.owner, 'pats_revoke', { id: owners.id });
    expect(((await call(tenant.owner, 'pats_list')) as { pats: unknown[] }).pats).toHaveLength(3);
  });

  it('stays within the project', async () => {
    const project = await db.prisma.project.create({
      data: { id: newId(), tenantId: 'acme', name: 'Other', createdAt: new Date(clock.now()) },
    });
    const there = { ...acme.owner, projectId: project.id };
    const { id } = await make(there);
    expect(await call(there, 'pats_list')).toMatchObject({ pats: [{ id }] });
    const here = (await call(acme.owner, 'pats_list', { limit: 200 })) as { pats: { id: string }[] };
    expect(here.pats.map(pat => pat.id)).not.toContain(id);
    await expect(call(acme.owner, 'pats_revoke', { id })).rejects.toMatchObject(missing);
  });
});

describe('revealing', () => {
  it('gives the token once more, and only once, even to many at once', async () => {
    const { id, token } = await make();
    const settled = await Promise.allSettled(
      Array.from({ length: 8 }, () => call(acme.contributor, 'pats_reveal', { id })),
    );
    const given = settled.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const refused = settled.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(given).toEqual([{ id, token }]);
    expect(refused).toHaveLength(7);
    for (const error of refused) expect(error).toMatchObject(missing);
  });

  it('404 for another user’s (even for an administrator), another tenant’s, unknown or revoked one, without using it up', async () => {
    const { id, token } = await make();
    for (const who of [acme.owner, acme.viewer, far.owner]) {
      await expect(call(who, 'pats_reveal', { id })).rejects.toMatchObject(missing);
    }
    await expect(call(acme.contributor, 'pats_reveal', { id: newId() })).rejects.toMatchObject(missing);
    expect(await call(acme.contributor, 'pats_reveal', { id })).toEqual({ id, token });
    const revoked = await make();
    await call(acme.contributor, 'pats_revoke', { id: revoked.id });
    await expect(call(acme.contributor, 'pats_reveal', { id: revoked.id })).rejects.toMatchObject(missing);
  });

  it('lets a token reveal only tokens that are no stronger, and a viewer reveal their own', async () => {
    const { id, token } = await make(acme.contributor, { scopes: [...scopes] });
    const narrow = await createTestPat(services, acme.contributor, ['pat:manage', 'workflow:read']);
    const error = { status: 403, code: 'insufficient_scope' };
    await expect(call(narrow.principal, 'pats_reveal', { id })).rejects.toMatchObject(error);
    const demoted = { ...acme.contributor, role: 'project_viewer' as const };
    expect(await call(demoted, 'pats_reveal', { id })).toEqual({ id, token });
  });
});

describe('revoking', () => {
  it('lets people revoke their own tokens, and administrators those of the project', async () => {
    const colleague = await createTestMember(services, acme, 'project_contributor', 'colleague@acme.example.com');
    const { id, token } = await make();
    await expect(call(colleague, 'pats_revoke', { id })).rejects.toMatchObject(missing);
    await expect(call(far.owner, 'pats_revoke', { id })).rejects.toMatchObject(missing);
    expect(await resolvePat(services, token)).not.toBeNull();
    expect(await call(acme.owner, 'pats_revoke', { id })).toEqual({ id, also_revoked: [] });
    expect(await resolvePat(services, token)).toBeNull();
    await expect(call(acme.owner, 'pats_revoke', { id })).rejects.toMatchObject(missing);
    expect(await services.secrets.get('acme', `pat/${id}`)).toBeNull();
  });
});
