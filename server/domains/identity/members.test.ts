import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import { createTestMember, createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { readTarget, saveTarget } from '../notifications/webhook-target.ts';
import { identityOperations } from './operations.ts';
import { patOperations } from './pats/operations.ts';
import { resolveSession } from './principal.ts';
import { PrincipalCache } from './principal-cache.ts';

const operations = [...identityOperations, ...patOperations] as const;
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let call: ReturnType<typeof createCall<typeof operations>>;
const clock = new ManualClock();
const lastAdmin = { status: 409, code: 'last_tenant_admin' };

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
  call = createCall(services, operations);
});
afterAll(() => db.close());

let count = 0;
async function tenantWithAdmins(admins: number): Promise<{ tenant: TestTenant; admins: Principal[] }> {
  count += 1;
  const tenant = await createTestTenant(services, { slug: `t${count}` });
  const list = [tenant.owner];
  for (let i = 1; i < admins; i++) {
    list.push(await createTestMember(services, tenant, 'tenant_admin', `admin${i}@t${count}.example.com`));
  }
  return { tenant, admins: list };
}
const adminsOf = (tenantId: string) => db.prisma.membership.count({ where: { tenantId, tenantAdmin: true } });

describe('members', () => {
  it('lists everybody in pages with their role on this project', async () => {
    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await call(acme.viewer, 'members_list', { limit: 1, ...(cursor && { cursor }) });
      const { members, next_cursor } = page as { members: unknown[]; next_cursor: string | null };
      seen.push(...members);
      cursor = next_cursor ?? undefined;
    } while (cursor);
    expect(seen).toHaveLength(3);
    expect(seen).toContainEqual({
      user_id: acme.viewer.userId,
      email: 'viewer@acme.example.com',
      name: 'viewer',
      confirmed: true,
      tenant_admin: false,
      role: 'project_viewer',
      created_at: '2026-01-01T00:00:00.000Z',
    });
  });

  it('changes roles, with effect on a session’s next request', async () => {
    const { tenant } = await tenantWithAdmins(1);
    const user = { user_id: tenant.viewer.userId };
    const resolveNow = () => resolveSession(services, { userId: user.user_id, sessionEpoch: 0 });
    expect(await call(tenant.owner, 'members_update', { ...user, role: 'project_contributor' })).toMatchObject({
      role: 'project_contributor',
      tenant_admin: false,
    });
    expect(await resolveNow()).toMatchObject({ role: 'project_contributor' });
    expect(await call(tenant.owner, 'members_update', { ...user, tenant_admin: true })).toMatchObject({
      tenant_admin: true,
    });
    expect(await resolveNow()).toMatchObject({ role: 'tenant_admin' });
    expect(await call(tenant.owner, 'members_update', user)).toMatchObject({
      tenant_admin: true,
      role: 'project_contributor',
    });
    await call(tenant.owner, 'members_update', { ...user, tenant_admin: false, role: 'project_viewer' });
    expect(await resolveNow()).toMatchObject({ role: 'project_viewer' });
  });

  it('makes a demoted administrator a contributor of this project, even without a row for the project', async () => {
    const { tenant, admins } = await tenantWithAdmins(2);
    const userId = admins[1]?.userId ?? '';
    await db.pool.query('DELETE FROM project_members WHERE user_id = $1', [userId]);
    const demoted = await call(tenant.owner, 'members_update', { user_id: userId, tenant_admin: false });
    expect(demoted).toMatchObject({ tenant_admin: false, role: 'project_contributor' });
    expect(await resolveSession(services, { userId, sessionEpoch: 0 })).toMatchObject({ role: 'project_contributor' });
  });

  it('404 for a stranger and for a member of another tenant', async () => {
    const { tenant } = await tenantWithAdmins(1);
    for (const user_id of [newId(), tenant.viewer.userId]) {
      await expect(call(acme.owner, 'members_update', { user_id, role: 'project_viewer' })).rejects.toMatchObject({
        status: 404,
      });
      await expect(call(acme.owner, 'members_remove', { user_id })).rejects.toMatchObject({ status: 404 });
    }
    expect(await db.prisma.membership.count({ where: { tenantId: tenant.tenantId } })).toBe(3);
  });

  it('422 for an unknown role', async () => {
    for (const input of [{ role: 'tenant_admin' }, { role: null }, { tenant_admin: 'yes' }]) {
      const update = call(acme.owner, 'members_update', { user_id: acme.viewer.userId, ...input });
      await expect(update).rejects.toMatchObject({ status: 422 });
    }
  });

  it('removes a member: the session gets 403, the tokens and their copies are revoked, and the account stays', async () => {
    const { tenant } = await tenantWithAdmins(1);
    const gone = tenant.contributor;
    const made = await call(gone, 'pats_create', { display_name: 'theirs', scopes: ['workflow:read'] });
    const { id } = made as { id: string };
    expect(await call(tenant.owner, 'members_remove', { user_id: gone.userId })).toBeUndefined();
    await expect(resolveSession(services, { userId: gone.userId, sessionEpoch: 0 })).rejects.toMatchObject({
      status: 403,
    });
    expect(await services.secrets.get(tenant.tenantId, `pat/${id}`)).toBeNull();
    expect(await db.prisma.user.findUnique({ where: { id: gone.userId } })).not.toBeNull();
    await expect(call(tenant.owner, 'members_remove', { user_id: gone.userId })).rejects.toMatchObject({ status: 404 });
  });

  it('deletes the sealed notification webhook of a member who is removed', async () => {
    const gone = await createTestMember(services, acme, 'project_viewer', 'webhook@acme.example.com');
    await saveTarget(services, gone, 'https://hooks.example.com/T1');
    expect(await readTarget(services, gone)).toMatchObject({ url: 'https://hooks.example.com/T1' });
    await call(acme.owner, 'members_remove', { user_id: gone.userId });
    expect(await readTarget(services, gone)).toBeNull();
  });

  it('withdraws the open invitations of an administrator who is removed or demoted', async () => {
    const { tenant, admins } = await tenantWithAdmins(3);
    const changes = [
      { name: 'members_update', input: { tenant_admin: false } },
      { name: 'members_remove', input: {} },
    ] as const;
    for (const [index, change] of changes.entries()) {
      const admin = admins[index + 1] ?? tenant.owner;
      const email = `friend${index}@${tenant.tenantId}.example.com`;
      const made = await call(admin, 'invitations_create', { email, role: 'project_viewer', tenant_admin: true });
      await call(tenant.owner, change.name, { user_id: admin.userId, ...change.input });
      const accept = { token: (made as { token: string }).token, name: 'F', password: 'long enough 1' };
      await expect(call(null, 'invitations_accept', accept)).rejects.toMatchObject({ status: 404 });
    }
  });

  it('409 when the last administrator is removed or demoted, even by themselves', async () => {
    const { tenant } = await tenantWithAdmins(1);
    const user = { user_id: tenant.owner.userId };
    await expect(call(tenant.owner, 'members_remove', user)).rejects.toMatchObject(lastAdmin);
    await expect(call(tenant.owner, 'members_update', { ...user, tenant_admin: false })).rejects.toMatchObject(
      lastAdmin,
    );
    expect(await adminsOf(tenant.tenantId)).toBe(1);
  });

  it('keeps one administrator when all are removed and demoted concurrently, in every round', async () => {
    for (let round = 0; round < 5; round++) {
      const { tenant, admins } = await tenantWithAdmins(4);
      const settled = await Promise.allSettled(
        admins.map((admin, i) =>
          i % 2 === 0
            ? call(tenant.owner, 'members_remove', { user_id: admin.userId })
            : call(tenant.owner, 'members_update', { user_id: admin.userId, tenant_admin: false }),
        ),
      );
      const refused = settled.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []));
      expect(refused).toEqual([expect.objectContaining(lastAdmin)]);
      expect(await adminsOf(tenant.tenantId)).toBe(1);
    }
  });
});

describe('the cache of grants', () => {
  it('ignores what was read before a change and arrives after it', () => {
    const cache = new PrincipalCache();
    const grant = { patId: newId(), scopes: [] } as never;
    const generation = cache.generation();
    cache.put('a', grant, 0, generation);
    expect(cache.get('a', 0)).toBe(grant);
    cache.clear();
    expect(cache.get('a', 0)).toBeUndefined();
    cache.put('a', grant, 0, generation);
    expect(cache.get('a', 0)).toBeUndefined();
  });
});
