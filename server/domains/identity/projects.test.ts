import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import { createTestPat, createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { identityOperations } from './operations.ts';
import { resolvePat, settleLastUsed } from './principal.ts';

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let far: TestTenant;
let call: ReturnType<typeof createCall<typeof identityOperations>>;
const clock = new ManualClock();

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
  far = await createTestTenant(services, { slug: 'far' });
  call = createCall(services, identityOperations);
});
afterAll(async () => {
  await settleLastUsed(services);
  await db.close();
});

async function create(tenant: TestTenant, name: string): Promise<string> {
  clock.advance(1);
  const made = await call(tenant.owner, 'projects_create', { name });
  return (made as { id: string }).id;
}

function workflowIn(projectId: string, status: string) {
  const at = new Date(clock.now());
  return db.prisma.workflow.create({
    data: {
      id: newId(),
      tenantId: 'acme',
      projectId,
      name: 'w',
      description: '',
      status,
      graph: { steps: [] },
      runSetup: {},
      revision: 1,
      graphChecksum: '',
      createdBy: acme.owner.userId,
      createdAt: at,
      updatedAt: at,
    },
  });
}

describe('projects', () => {
  it('creates, lists newest first in pages, renames and deletes', async () => {
    const ids = [await create(acme, 'One'), await create(acme, 'Two'), await create(acme, 'Three')];
    const first = await call(acme.owner, 'projects_list', { limit: 2 });
    expect(first).toMatchObject({ projects: [{ name: 'Three' }, { name: 'Two' }], next_cursor: expect.any(String) });
    const { next_cursor } = first as { next_cursor: string };
    const second = await call(acme.owner, 'projects_list', { limit: 2, cursor: next_cursor });
    expect(second).toMatchObject({ projects: [{ name: 'One' }, { name: 'default' }], next_cursor: null });
    await expect(call(acme.owner, 'projects_list', { cursor: 'nonsense' })).rejects.toMatchObject({ status: 422 });

    const renamed = await call(acme.owner, 'projects_update', { id: ids[0], name: ' Uno ' });
    expect(renamed).toMatchObject({ id: ids[0], name: 'Uno' });
    for (const id of ids) expect(await call(acme.owner, 'projects_delete', { id })).toBeUndefined();
    expect(await call(acme.owner, 'projects_list')).toMatchObject({ projects: [{ name: 'default' }] });
  });

  it('shows others only the projects on which they have a role', async () => {
    const id = await create(acme, 'Hidden');
    expect(await call(acme.viewer, 'projects_list')).toMatchObject({ projects: [{ name: 'default' }] });
    await call({ ...acme.owner, projectId: id }, 'members_update', {
      user_id: acme.viewer.userId,
      role: 'project_viewer',
    });
    expect(await call(acme.viewer, 'projects_list')).toMatchObject({
      projects: [{ name: 'Hidden' }, { name: 'default' }],
    });
    await call(acme.owner, 'projects_delete', { id });
  });

  it('409 for a taken name, 422 for a bad one, and two tenants may use the same', async () => {
    const taken = { status: 409, code: 'project_name_taken' };
    await expect(call(acme.owner, 'projects_create', { name: 'default' })).rejects.toMatchObject(taken);
    const id = await create(acme, 'Mine');
    await expect(call(acme.owner, 'projects_update', { id, name: 'default' })).rejects.toMatchObject(taken);
    await create(far, 'Mine');
    for (const name of ['', '  ', 'x'.repeat(121), newId()]) {
      await expect(call(acme.owner, 'projects_create', { name })).rejects.toMatchObject({ status: 422 });
    }
    const both = [1, 2].map(() => call(acme.owner, 'projects_create', { name: 'Raced' }));
    const settled = await Promise.allSettled(both);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('404 for another tenant’s project, for every operation', async () => {
    const missing = { status: 404, code: 'not_found' };
    await expect(call(acme.owner, 'projects_update', { id: far.projectId, name: 'Stolen' })).rejects.toMatchObject(
      missing,
    );
    await expect(call(acme.owner, 'projects_delete', { id: far.projectId })).rejects.toMatchObject(missing);
    await expect(call(acme.owner, 'projects_delete', { id: newId() })).rejects.toMatchObject(missing);
  });

  it('409 while it holds workflows, archived ones too', async () => {
    const id = await create(acme, 'Full');
    const workflow = await workflowIn(id, 'archived');
    const full = { status: 409, code: 'project_not_empty' };
    await expect(call(acme.owner, 'projects_delete', { id })).rejects.toMatchObject(full);
    await db.prisma.workflow.delete({ where: { id: workflow.id } });
    expect(await call(acme.owner, 'projects_delete', { id })).toBeUndefined();
  });

  it('revokes its tokens and invitations with it', async () => {
    const id = await create(acme, 'Doomed');
    const owner = { ...acme.owner, projectId: id };
    const { token } = await createTestPat(services, owner, scopes);
    const invited = await call(owner, 'invitations_create', { email: 'doomed@example.com', role: 'project_viewer' });
    expect(await resolvePat(services, token)).not.toBeNull();
    await call(acme.owner, 'projects_delete', { id });
    expect(await resolvePat(services, token)).toBeNull();
    const accept = { token: (invited as { token: string }).token, name: 'D', password: 'long enough 1' };
    await expect(call(null, 'invitations_accept', accept)).rejects.toMatchObject({ status: 404 });
  });

  it('keeps the last project, even if all are deleted concurrently', async () => {
    const tenant = await createTestTenant(services, { slug: 'small' });
    const last = { status: 409, code: 'last_project' };
    await expect(call(tenant.owner, 'projects_delete', { id: tenant.projectId })).rejects.toMatchObject(last);
    for (let round = 0; round < 5; round++) {
      for (const name of ['A', 'B', 'C', 'D']) await create(tenant, `${name}${round}`);
      const projects = await db.prisma.project.findMany({ where: { tenantId: 'small' } });
      const settled = await Promise.allSettled(projects.map(({ id }) => call(tenant.owner, 'projects_delete', { id })));
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
      expect(await db.prisma.project.count({ where: { tenantId: 'small' } })).toBe(1);
    }
  });
});
