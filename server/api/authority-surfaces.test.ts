import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../operation/context.ts';
import { hasRole, type roles, type Scope, scopes } from '../orchestrator/ports/authority.ts';
import { newId } from '../platform/ids.ts';
import { createTestMember, createTestPat } from '../testing/identity.ts';
import {
  type Ask,
  isOn,
  type SurfaceName,
  surfaceNames,
  surfacesOf,
  takesSessions,
  type Verdict,
} from '../testing/surfaces.ts';
import { createTestProject } from '../testing/workflows.ts';
import {
  absentVersions,
  fieldsOf,
  type Name,
  registry,
  type Sent,
  startTestWorlds,
  type TestWorlds,
  type World,
} from '../testing/world.ts';
import type { RegisteredOperation } from './registry.ts';

/**
 * Tests every operation on every surface against its declaration: with each role, with each single scope, and from a second
 * project of the same workspace. authority.test.ts tests REST in depth, and other workspaces.
 */
let worlds: TestWorlds;
let acme: World;
let surfaces: Record<SurfaceName, Ask>;
/** One credential for each role (`none`: a member without one), and one token for each scope. */
let byRole: Map<string, { role: (typeof roles)[number] | 'none'; cookie: string; token: string }>;
let byScope: Map<Scope, string>;

const closed = registry.operations.filter(({ operation }) => operation.access !== 'public');
const cases = surfaceNames.flatMap(surface =>
  closed
    .filter(entry => isOn(surface, entry))
    .map(entry => [surface, entry.operation.name, entry] as [SurfaceName, string, RegisteredOperation]),
);
const withIds = cases.filter(([, , { pathParameters }]) => pathParameters.length > 0);
const tokenOf = async (principal: Principal, given: readonly Scope[] = scopes) =>
  (await createTestPat(worlds.service.container.services, principal, given)).token;

beforeAll(async () => {
  worlds = await startTestWorlds({
    BATON_MCP_GROUPS: 'core,catalog,memory,chat,files,websocket,vault,pat,inbound,llm_keys',
    BATON_MCP_RISK: 'true',
  });
  acme = worlds.acme;
  surfaces = surfacesOf(worlds);
  const { services } = worlds.service.container;
  const none = await createTestMember(services, acme, 'project_viewer', 'none@example.com');
  await worlds.service.db.pool.query('DELETE FROM project_members WHERE user_id = $1', [none.userId]);
  const people = [
    ['none', none],
    ['project_viewer', acme.viewer],
    ['project_contributor', acme.contributor],
    ['tenant_admin', acme.owner],
  ] as const;
  byRole = new Map();
  for (const [role, who] of people)
    byRole.set(role, { role, cookie: await worlds.cookieFor(who), token: await tokenOf(who) });
  byScope = new Map();
  for (const scope of scopes) byScope.set(scope, await tokenOf(acme.owner, [scope]));
});
afterAll(() => worlds.close());

/** A field that no operation has: an authorized caller gets a validation error, and nothing happens. */
const nonsense = { nonsense: '1' };
const verdicts = async (asked: Iterable<readonly [string, Promise<Verdict>]>) =>
  Object.fromEntries(await Promise.all([...asked].map(async ([who, verdict]) => [who, await verdict] as const)));

describe('without a credential', () => {
  test.each(cases)('%s %s', async (surface, _, entry) => {
    expect(await surfaces[surface](entry, acme.ids, {}, nonsense)).toBe('unauthenticated');
  });
});

describe('each role is accepted or refused as the operation declares', () => {
  test.each(cases)('%s %s', async (surface, _, entry) => {
    const { operation } = entry;
    if (operation.access === 'public') throw new Error('Only closed operations are walked.');
    const expected: Record<string, Verdict> = {};
    const asked: [string, Promise<Verdict>][] = [];
    for (const { role, cookie, token } of byRole.values()) {
      for (const [kind, sent] of [['token', { token }] as const, ['session', { cookie }] as const]) {
        if (kind === 'session' && !takesSessions(surface)) continue;
        asked.push([`${role} ${kind}`, surfaces[surface](entry, acme.ids, sent, nonsense)]);
        const allowed = role !== 'none' && hasRole(role, operation.access);
        expected[`${role} ${kind}`] =
          role === 'none' ? 'no_project_role' : allowed ? 'validation_error' : 'insufficient_role';
      }
    }
    expect(await verdicts(asked)).toEqual(expected);
  });
});

describe('each single scope permits only the operations that declare it', () => {
  test.each(cases)('%s %s', async (surface, _, entry) => {
    const needed = entry.operation.access === 'public' ? null : entry.operation.scope;
    const asked = [...byScope].map(
      ([scope, token]) => [scope, surfaces[surface](entry, acme.ids, { token }, nonsense)] as const,
    );
    const isPermitted = (scope: Scope) => needed === null || scope === needed;
    expect(await verdicts(asked)).toEqual(
      Object.fromEntries(scopes.map(scope => [scope, isPermitted(scope) ? 'validation_error' : 'insufficient_scope'])),
    );
  });
});

test('operations that need no scope are limited to the token’s own user and project', () => {
  const open = closed.filter(({ operation }) => operation.access !== 'public' && operation.scope === null);
  expect(open.map(({ operation }) => operation.name)).toEqual(['me_get', 'workspaces_list']);
});

describe("another workspace's ids are treated as nonexistent", () => {
  test.each(withIds)('%s %s', async (surface, _, entry) => {
    expect(await surfaces[surface](entry, acme.ids, { token: worlds.rivalToken })).toBe('not_found');
  });
});

/** Operations that belong to the workspace and not to a project: they are not called from the second project. */
const WORKSPACE_WIDE = ['members', 'projects', 'invitations', 'servers', 'accounts', 'stops'];
const isWide = (path: string) => WORKSPACE_WIDE.includes(/([a-z-]+)\/\{/.exec(path)?.[1] ?? '');
/** Returns whether a key of the world's ids is workspace-wide: `connections/id` is not. */
const isWideKey = (key: string) => WORKSPACE_WIDE.includes(key.split('/').at(-2) ?? '');

describe('from a second project of the same workspace', () => {
  let sent: Sent[] = [];
  let insider: Sent[] = [];
  beforeAll(async () => {
    const { services } = worlds.service.container;
    const second = await createTestProject(services, acme, 'second-project');
    const owner = { ...acme.owner, projectId: second.projectId };
    insider = [{ token: await tokenOf(second.contributor) }, { cookie: await worlds.cookieFor(second.contributor) }];
    sent = [
      ...insider,
      { token: await tokenOf(owner) },
      { cookie: await worlds.cookieFor(acme.owner), project: second.projectId },
    ];
  });
  const credentialsFor = (surface: SurfaceName, all: Sent[]) =>
    takesSessions(surface) ? all : all.filter(({ token }) => token !== undefined);
  const local = withIds.filter(([, , { operation }]) => !isWide(operation.path));

  test.each(local)('%s %s finds nothing of the first project', async (surface, _, entry) => {
    for (const credential of credentialsFor(surface, sent))
      expect(await surfaces[surface](entry, acme.ids, credential)).toBe('not_found');
  });

  const referring = cases.filter(
    ([, name, entry]) =>
      entry.pathParameters.length === 0 &&
      Object.values(fieldsOf(name as Name)).some(value => typeof value === 'string' && /^\{workflows/.test(value)),
  );
  test.each(referring)('%s %s accepts no id of the first project in its body', async (surface, _, entry) => {
    const absent = Object.fromEntries(Object.keys(acme.ids).map(key => [key, newId()]));
    for (const credential of credentialsFor(surface, insider)) {
      const verdict = await surfaces[surface](entry, acme.ids, credential);
      expect(verdict).not.toBe('ok');
      expect(verdict).toBe(await surfaces[surface](entry, absent, credential));
    }
  });

  const lists = closed.filter(
    ({ operation, pathParameters }) =>
      operation.method === 'GET' && pathParameters.length === 0 && operation.name !== 'me_get',
  );
  test.each(lists.map(entry => [entry.operation.name, entry] as const))(
    '%s lists nothing of the first',
    async (_, entry) => {
      const foreign = Object.entries(acme.ids).filter(
        ([key]) =>
          !Object.hasOwn(absentVersions, key) &&
          !key.includes('task_id') &&
          !key.includes('step_id') &&
          !isWideKey(key),
      );
      for (const credential of insider) {
        const { body } = await worlds.call(entry, acme.ids, credential);
        const text = JSON.stringify(body ?? null);
        expect(foreign.filter(([, id]) => text.includes(id))).toEqual([]);
      }
    },
  );
});
