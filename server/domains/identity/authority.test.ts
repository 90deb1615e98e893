import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyOperation } from '../../operation/operation.ts';
import type { Services } from '../../operation/services.ts';
import { type Role, roles, scopes } from '../../orchestrator/ports/authority.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import {
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
} from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { identityOperations } from './operations.ts';
import { patOperations } from './pats/operations.ts';

const operations: readonly AnyOperation[] = [...identityOperations, ...patOperations];
const guarded = operations.flatMap(operation => (operation.access === 'public' ? [] : [operation]));

/** Operations by which a token could gain rights beyond its own. */
const needEveryScope = [
  'me_update',
  'me_change_password',
  'members_update',
  'members_remove',
  'invitations_create',
  'invitations_delete',
];

/** A well-formed input for each of these operations, with ids that do not exist. */
const sample: Record<string, object> = {
  me_update: { name: 'New name' },
  me_change_password: { current_password: 'x', new_password: 'long enough 1' },
  projects_create: { name: 'Sample' },
  // A getter, because each slug can be taken only once.
  get workspaces_create() {
    return { slug: newId(), name: 'Sample' };
  },
  projects_update: { id: newId(), name: 'Sample 2' },
  projects_delete: { id: newId() },
  members_update: { user_id: newId(), role: 'project_viewer' },
  members_remove: { user_id: newId() },
  invitations_create: { email: 'sample@example.com', role: 'project_viewer' },
  invitations_delete: { id: newId() },
  pats_create: { display_name: 'Sample', scopes: ['workflow:read'] },
  pats_reveal: { id: newId() },
  pats_revoke: { id: newId() },
};

const mail = { BATON_SMTP_URL: 'smtp://127.0.0.1:1', BATON_MAIL_FROM: 'baton@example.com' };
let db: TestDatabase;
let services: Services;
let tenant: TestTenant;
let call: ReturnType<typeof createCall>;

beforeAll(async () => {
  db = await createTestDatabase();
  // The settings let every user create workspaces, and enable mail, which is not sent here.
  services = createTestServices(db, { config: testConfig({ BATON_SIGN_UP: 'open', ...mail }) });
  tenant = await createTestTenant(services, { slug: 'acme' });
  call = createCall(services, operations);
});
afterAll(() => db.close());

const principalOf = (role: Role) =>
  ({ project_viewer: tenant.viewer, project_contributor: tenant.contributor, tenant_admin: tenant.owner })[role];

describe('every operation of identity and tokens', () => {
  it.each(guarded.map(operation => operation.name))('%s: 401 without a credential', async name => {
    await expect(call(null, name, sample[name])).rejects.toMatchObject({ status: 401 });
  });

  it.each(guarded.map(operation => [operation.name, operation]))(
    '%s: 403 below its role, not above',
    async (name, operation) => {
      for (const role of roles) {
        const enough = operation.access === 'member' || roles.indexOf(role) >= roles.indexOf(operation.access);
        const status = await call(principalOf(role), String(name), sample[String(name)]).then(
          () => 200,
          error => (error.code === 'wrong_password' ? 200 : error.status),
        );
        if (enough) expect([200, 404, 409]).toContain(status);
        else expect(status).toBe(403);
      }
    },
  );

  it.each(guarded.flatMap(operation => (operation.scope === null ? [] : [[operation.name, operation.scope] as const])))(
    '%s: 403 for a token without %s',
    async (name, needed) => {
      const { principal } = await createTestPat(
        services,
        tenant.owner,
        scopes.filter(scope => scope !== needed),
      );
      const error = { status: 403, code: 'insufficient_scope' };
      await expect(call(principal, name, sample[name])).rejects.toMatchObject(error);
    },
  );

  it.each(needEveryScope)('%s: 403 for a token that lacks any scope at all, fine with every one', async name => {
    for (const missing of scopes) {
      const { principal } = await createTestPat(
        services,
        tenant.owner,
        scopes.filter(scope => scope !== missing),
      );
      await expect(call(principal, name, sample[name])).rejects.toMatchObject({
        status: 403,
        code: 'insufficient_scope',
      });
    }
    const { principal } = await createTestPat(services, tenant.owner, scopes);
    const code = await call(principal, name, {
      ...sample[name],
      ...(name === 'invitations_create' && { email: 'x@y.example.com' }),
    }).then(
      () => 'done',
      error => error.code,
    );
    expect(['done', 'not_found', 'wrong_password']).toContain(code);
  });

  it.each(operations.map(operation => operation.name))('%s: 422 for an unknown field', async name => {
    const input = { ...sample[name], surplus: 1 };
    await expect(call(tenant.owner, name, input)).rejects.toMatchObject({ status: 422 });
  });
});
