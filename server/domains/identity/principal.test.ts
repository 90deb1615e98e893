import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import {
  createTestMember,
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
} from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createTenant } from './account-store.ts';
import { identityOperations } from './operations.ts';
import { patOperations } from './pats/operations.ts';
import { generatePatToken } from './pats/token.ts';
import { resolvePat, resolveSession, settleLastUsed } from './principal.ts';
import { GRANT_TTL_MS, principalCache } from './principal-cache.ts';

let db: TestDatabase;
let services: Services;
let tenant: TestTenant;
const clock = new ManualClock();
const session = (userId: string, sessionEpoch = 0) => ({ userId, sessionEpoch });

/** Returns services with another pool on the same database, as in another process, which count their queries. */
function otherProcess(): Services & { queries: string[]; end(): Promise<void> } {
  const pool = new pg.Pool({ connectionString: db.url, max: 2 });
  const queries: string[] = [];
  const query = pool.query.bind(pool);
  Object.assign(pool, {
    query: (...args: unknown[]) => {
      queries.push(JSON.stringify(args[0]));
      return Reflect.apply(query, pool, args);
    },
  });
  const other = createTestServices({ pool, prisma: db.prisma }, { clock });
  return { ...other, queries, end: () => settleLastUsed(other).then(() => pool.end()) };
}

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  tenant = await createTestTenant(services, { slug: 'acme' });
});
afterAll(async () => {
  await settleLastUsed(services);
  await db.close();
});

describe('resolvePat', () => {
  it('returns the user of a token, with their present role', async () => {
    const { token, principal } = await createTestPat(services, tenant.contributor, ['workflow:read', 'pat:manage']);
    expect(await resolvePat(services, token)).toEqual(principal);
    const owner = await createTestPat(services, tenant.owner, scopes);
    expect(await resolvePat(services, owner.token)).toMatchObject({ role: 'tenant_admin', credential: { scopes } });
  });

  it('makes no query for a typo, one for a token, and none again within 2 s', async () => {
    const { token } = await createTestPat(services, tenant.viewer, ['workflow:read']);
    const other = otherProcess();
    const typo = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    for (const bad of [typo, '', 'pat_', `${token} `, token.toLowerCase()]) {
      expect(await resolvePat(other, bad)).toBeNull();
    }
    expect(other.queries).toEqual([]);
    expect(await resolvePat(other, token)).not.toBeNull();
    await settleLastUsed(other);
    expect(other.queries.filter(query => query.includes('resolve_pat'))).toHaveLength(1);
    const before = other.queries.length;
    for (let i = 0; i < 5; i++) await resolvePat(other, token);
    expect(other.queries).toHaveLength(before);
    clock.advance(GRANT_TTL_MS);
    await resolvePat(other, token);
    expect(other.queries.length).toBe(before + 1);
    await other.end();
  });

  it('makes one query for concurrent requests, and a new one for those after a change', async () => {
    const { token, principal } = await createTestPat(services, tenant.contributor, scopes);
    const other = otherProcess();
    const lookups = () => other.queries.filter(query => query.includes('resolve_pat')).length;
    const found = await Promise.all(Array.from({ length: 32 }, () => resolvePat(other, token)));
    expect(found).toEqual(found.map(() => principal));
    expect(lookups()).toBe(1);
    clock.advance(GRANT_TTL_MS);
    const before = resolvePat(other, token);
    principalCache(other).clear();
    const after = resolvePat(other, token);
    expect(lookups()).toBe(3);
    await Promise.all([before, after]);
    expect(await resolvePat(other, token)).toEqual(principal);
    expect(lookups()).toBe(3);
    await other.end();
  });

  it('reports a failed read to all that wait for it, and reads again', async () => {
    const { token, principal } = await createTestPat(services, tenant.contributor, scopes);
    const other = otherProcess();
    const { query } = other.pool;
    Object.assign(other.pool, { query: () => Promise.reject(new Error('away')) });
    const failed = await Promise.allSettled([resolvePat(other, token), resolvePat(other, token)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    Object.assign(other.pool, { query });
    expect(await resolvePat(other, token)).toEqual(principal);
    await other.end();
  });

  it('is null for an unknown token, and from the instant it expires, cached or not', async () => {
    expect(await resolvePat(services, generatePatToken())).toBeNull();
    const { token } = await createTestPat(services, tenant.viewer, ['workflow:read']);
    await db.pool.query('UPDATE pats SET expires_at = $1 WHERE display_name = $2 AND user_id = $3', [
      new Date(clock.now() + 1000),
      'test',
      tenant.viewer.userId,
    ]);
    expect(await resolvePat(services, token)).not.toBeNull();
    clock.advance(999);
    expect(await resolvePat(services, token)).not.toBeNull();
    clock.advance(1);
    expect(await resolvePat(services, token)).toBeNull();
  });

  it('refuses headers that name another tenant or project; the project may be named by id or name', async () => {
    const { token } = await createTestPat(services, tenant.contributor, ['workflow:read']);
    for (const projectId of [tenant.projectId, tenant.projectId.toUpperCase(), 'default']) {
      expect(await resolvePat(services, token, { tenantId: 'acme', projectId })).not.toBeNull();
    }
    for (const requested of [{ tenantId: 'other' }, { projectId: newId() }, { projectId: 'Other' }]) {
      await expect(resolvePat(services, token, requested)).rejects.toMatchObject({ status: 403, code: 'wrong_scope' });
    }
  });

  it('is revoked immediately in this process, and within 2 s in others', async () => {
    const call = createCall(services, patOperations);
    const { token, principal } = await createTestPat(services, tenant.contributor, scopes);
    const other = otherProcess();
    expect(await resolvePat(services, token)).not.toBeNull();
    expect(await resolvePat(other, token)).not.toBeNull();
    const id = principal.credential.kind === 'pat' ? principal.credential.patId : '';
    await call(tenant.contributor, 'pats_revoke', { id });
    expect(await resolvePat(services, token)).toBeNull();
    clock.advance(GRANT_TTL_MS);
    expect(await resolvePat(other, token)).toBeNull();
    await other.end();
  });

  it('does not cache an answer that was read before a revocation and arrived after it', async () => {
    const call = createCall(services, patOperations);
    const { token, principal } = await createTestPat(services, tenant.contributor, scopes);
    const id = principal.credential.kind === 'pat' ? principal.credential.patId : '';
    // Eight look-ups race the revocation; none of their results may stay cached.
    const racing = Array.from({ length: 8 }, () => resolvePat(services, token));
    await call(tenant.contributor, 'pats_revoke', { id });
    await Promise.all(racing);
    expect(await resolvePat(services, token)).toBeNull();
  });

  it('has a changed role immediately, and is invalid once the member is removed', async () => {
    const call = createCall(services, identityOperations);
    const member = await createTestMember(services, tenant, 'project_contributor', 'mover@acme.example.com');
    const { token } = await createTestPat(services, member, scopes);
    expect(await resolvePat(services, token)).toMatchObject({ role: 'project_contributor' });
    await call(tenant.owner, 'members_update', { user_id: member.userId, role: 'project_viewer' });
    expect(await resolvePat(services, token)).toMatchObject({ role: 'project_viewer' });
    await call(tenant.owner, 'members_update', { user_id: member.userId, tenant_admin: true });
    expect(await resolvePat(services, token)).toMatchObject({ role: 'tenant_admin' });
    await call(tenant.owner, 'members_remove', { user_id: member.userId });
    expect(await resolvePat(services, token)).toBeNull();
    const { rows } = await db.pool.query('SELECT revoked_at FROM pats WHERE user_id = $1', [member.userId]);
    expect(rows[0].revoked_at).not.toBeNull();
    // A returning member does not regain old tokens.
    const back = { tenantId: 'acme', userId: member.userId, tenantAdmin: true, createdAt: new Date(clock.now()) };
    await db.prisma.membership.create({ data: back });
    clock.advance(GRANT_TTL_MS);
    expect(await resolvePat(services, token)).toBeNull();
  });

  it('is 403 for a member who has no role on the token’s project any more', async () => {
    const member = await createTestMember(services, tenant, 'project_viewer', 'roleless@acme.example.com');
    const { token } = await createTestPat(services, member, scopes);
    await db.pool.query('DELETE FROM project_members WHERE user_id = $1', [member.userId]);
    await expect(resolvePat(services, token)).rejects.toMatchObject({ status: 403, code: 'no_project_role' });
  });

  it('keeps last_used_at to the minute, with one write a minute', async () => {
    const { token, principal } = await createTestPat(services, tenant.contributor, ['workflow:read']);
    const id = principal.credential.kind === 'pat' ? principal.credential.patId : '';
    const lastUsed = async () => (await db.prisma.pat.findUnique({ where: { id } }))?.lastUsedAt?.getTime();
    clock.advance(60_000 - (clock.now() % 60_000) + 30_000);
    const minute = clock.now() - 30_000;
    const other = otherProcess();
    for (let i = 0; i < 3; i++) {
      await resolvePat(other, token);
      await settleLastUsed(other); // the next look-up reads what this one wrote
      clock.advance(5000); // beyond the cache, within the minute
    }
    expect(await lastUsed()).toBe(minute);
    expect(other.queries.filter(query => query.includes('UPDATE pats'))).toHaveLength(1);
    clock.advance(60_000);
    await resolvePat(other, token);
    await settleLastUsed(other);
    expect(await lastUsed()).toBe(minute + 60_000);
    await other.end();
  });
});

describe('resolveSession', () => {
  it('defaults to the first membership and its project `default`', async () => {
    expect(await resolveSession(services, session(tenant.viewer.userId))).toEqual(tenant.viewer);
    expect(await resolveSession(services, session(tenant.owner.userId))).toEqual(tenant.owner);
  });

  it('is null for an unknown user and for an ended session', async () => {
    expect(await resolveSession(services, session(newId()))).toBeNull();
    expect(await resolveSession(services, session(tenant.viewer.userId, 1))).toBeNull();
  });

  it('accepts a tenant, and a project by id or name; foreign and unknown ones get the same 403', async () => {
    const far = await createTestTenant(services, { slug: 'far' });
    const at = new Date(clock.now());
    const second = newId();
    await db.prisma.project.create({ data: { id: second, tenantId: 'acme', name: 'Second', createdAt: at } });
    const resolve = (who: string, requested: object) => resolveSession(services, session(who), requested);
    for (const projectId of [second, 'Second', 'second']) {
      expect(await resolve(tenant.owner.userId, { tenantId: 'acme', projectId })).toMatchObject({ projectId: second });
    }
    const refused = [
      { tenantId: 'far' },
      { tenantId: 'nowhere' },
      { projectId: far.projectId },
      { projectId: newId() },
      { tenantId: 'acme', projectId: 'unknown' },
    ];
    const messages = new Set<string>();
    for (const requested of refused) {
      const error = await resolve(tenant.owner.userId, requested).catch(thrown => thrown);
      expect(error).toMatchObject({ status: 403 });
      messages.add(error.message);
    }
    // A project of the user's tenant without a role on it is answered like one that does not exist.
    messages.add((await resolve(tenant.viewer.userId, { projectId: second }).catch(thrown => thrown)).message);
    expect(messages.size).toBe(1);
  });

  it('prefers a workspace with a role, and reports if there is none', async () => {
    const at = new Date(clock.now());
    const member = await createTestMember(services, tenant, 'project_viewer', 'two@acme.example.com');
    await db.pool.query('DELETE FROM project_members WHERE user_id = $1', [member.userId]);
    const alone = resolveSession(services, session(member.userId));
    await expect(alone).rejects.toMatchObject({ status: 403, code: 'no_project_role' });
    const projectId = await createTenant(db.prisma, 'later', at);
    const { userId } = member;
    await db.prisma.membership.create({ data: { tenantId: 'later', userId, tenantAdmin: true, createdAt: at } });
    expect(await resolveSession(services, session(userId))).toMatchObject({ tenantId: 'later', projectId });
    await db.pool.query('DELETE FROM memberships WHERE user_id = $1', [userId]);
    const none = resolveSession(services, session(userId));
    await expect(none).rejects.toMatchObject({ status: 403, code: 'no_workspace' });
  });
});
