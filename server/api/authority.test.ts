import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../operation/context.ts';
import { roles, scopes } from '../orchestrator/ports/authority.ts';
import { newId } from '../platform/ids.ts';
import { createTestMember, createTestPat } from '../testing/identity.ts';
import {
  absentVersions,
  fieldsOf,
  type Name,
  pathIn,
  registry,
  type Sent,
  startTestWorlds,
  type TestWorlds,
  type World,
} from '../testing/world.ts';
import { furtherExamples, requiredExamples } from './examples.ts';
import type { RegisteredOperation } from './registry.ts';

const all = registry.operations.map(entry => [entry.operation.name, entry] as const);
const closed = all.filter(([, { operation }]) => operation.access !== 'public');
/** Returns whether a field is a placeholder for an id of the world. */
const isPlace = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isPlace) : typeof value === 'string' && /^\{.*\}$/.test(value);
const withIds = closed.filter(([, { pathParameters }]) => pathParameters.length > 0);

let worlds: TestWorlds;
let service: TestWorlds['service'];
let acme: World;
let rival: World;
let rivalToken: string;

beforeAll(async () => {
  worlds = await startTestWorlds();
  ({ service, acme, rival, rivalToken } = worlds);
});
afterAll(() => worlds.close());

const request: TestWorlds['request'] = (...args) => worlds.request(...args);
const call: TestWorlds['call'] = (...args) => worlds.call(...args);
const cookieFor: TestWorlds['cookieFor'] = (...args) => worlds.cookieFor(...args);

test('every operation that requires fields has an example, and no other has', () => {
  const demanding = all.filter(([, entry]) => {
    const required = (entry.inputSchema.required ?? []) as string[];
    return required.some(field => !entry.pathParameters.includes(field));
  });
  expect(Object.keys(requiredExamples).sort()).toEqual(demanding.map(([name]) => name).sort());
  expect(all.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(furtherExamples)));
});

describe('401 without a credential', () => {
  test.each(closed)('%s', async (_, entry) => {
    const { status, body } = await call(entry, acme.ids, {});
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
  });
});

describe('403 without the role', () => {
  test.each(closed)('%s', async (_, entry) => {
    const { access } = entry.operation;
    const below = access === 'public' || access === 'member' ? -1 : roles.indexOf(access) - 1;
    const cookie = await cookieFor(below < 0 ? await outsider() : below === 0 ? acme.viewer : acme.contributor);
    expect((await call(entry, acme.ids, { cookie })).status).toBe(403);
  });

  /** A member of the tenant without a role on any project. */
  let roleless: Promise<Principal> | undefined;
  const outsider = () => {
    roleless ??= (async () => {
      const member = await createTestMember(service.container.services, acme, 'project_viewer', 'none@example.com');
      await service.db.pool.query('DELETE FROM project_members WHERE user_id = $1', [member.userId]);
      return member;
    })();
    return roleless;
  };
});

describe('403 without the scope', () => {
  test.each(closed)('%s', async (_, entry) => {
    const { operation } = entry;
    const scope = operation.access === 'public' ? null : operation.scope;
    const rest = scopes.filter(each => each !== scope);
    const { token } = await createTestPat(service.container.services, acme.owner, rest);
    const { status, body } = await call(entry, acme.ids, { token }, { nonsense: '1' });
    // If no scope is required, the input is parsed next.
    expect([status, body.code]).toEqual(scope === null ? [422, 'validation_error'] : [403, 'insufficient_scope']);
  });
});

describe("404 for another tenant's ids, as for ids that do not exist", () => {
  test.each(withIds)('%s', async (_, entry) => {
    const foreign = await call(entry, acme.ids, { token: rivalToken });
    const absent = { ...Object.fromEntries(Object.keys(acme.ids).map(key => [key, newId()])), ...absentVersions };
    const unknown = await call(entry, absent, { token: rivalToken });
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
  });

  test('and nothing of that tenant was changed', async () => {
    const { token } = await createTestPat(service.container.services, acme.owner, scopes);
    const path = `/v1/workflows/${acme.ids['workflows/id']}`;
    expect((await request('GET', path, { token })).body).toMatchObject({ status: 'published', name: 'First' });
    const run = await request('GET', `${path}/runs/${acme.ids['runs/runID']}/summary`, { token });
    expect(run.body).toMatchObject({ status: 'running', pending_tasks: 1 });
    expect((await request('GET', '/v1/invitations', { token })).body.invitations).toHaveLength(1);
  });
});

/** These tests send HTTP requests, like a user. The same person administers both workspaces, so that only the workspace differs. */
describe("404 for ids of another workspace of one's own", () => {
  let sent: Sent[] = [];
  beforeAll(async () => {
    const cookie = await cookieFor(acme.owner);
    const created = await request('POST', '/v1/workspaces', { cookie, body: { slug: 'mine', name: 'Mine' } });
    expect(created).toMatchObject({ status: 201, body: { slug: 'mine', tenant_admin: true } });
    const session = { cookie, tenant: 'mine' };
    const pat = { display_name: 'All', scopes: [...scopes] };
    const { body } = await request('POST', '/v1/pats', { ...session, body: pat });
    expect((await request('GET', '/v1/me', { token: body.token })).body.tenant.id).toBe('mine');
    sent = [{ token: body.token as string }, session];
  });

  test('the new workspace starts like the first: with only a project and the onboarding plan', async () => {
    const about = async (path: string, credential: Sent) => (await request('GET', path, credential)).body;
    const [mine] = sent;
    const first = await about('/v1/billing/status', { token: rivalToken });
    const { plan_code, product_name, allowance } = await about('/v1/billing/status', mine ?? {});
    expect([plan_code, product_name]).toEqual([first.plan_code, first.product_name]);
    expect(allowance).toEqual(first.allowance);
    expect((await about('/v1/projects', mine ?? {})).projects).toMatchObject([{ name: 'default' }]);
    expect((await about('/v1/members', mine ?? {})).members).toMatchObject([{ user_id: acme.owner.userId }]);
  });

  /** Ids that must not appear in any list of the new workspace. The owner is a member of both. */
  const foreign = () => Object.entries(acme.ids).filter(([key]) => !Object.hasOwn(absentVersions, key));
  const statusesOf = (entry: RegisteredOperation, ids: World['ids']) =>
    Promise.all(sent.map(async credential => (await call(entry, ids, credential)).status));

  test.each(withIds)('%s', async (_, entry) => {
    expect(await statusesOf(entry, acme.ids)).toEqual([404, 404]);
  });

  const referring = closed.filter(([name]) => Object.values(fieldsOf(name as Name)).some(isPlace));
  test.each(referring.filter(([, { pathParameters }]) => pathParameters.length === 0))(
    '%s, which takes one in its body, is as for an id that does not exist',
    async (_, entry) => {
      const absent = Object.fromEntries(Object.keys(acme.ids).map(key => [key, newId()]));
      const [found, unknown] = [await statusesOf(entry, acme.ids), await statusesOf(entry, absent)];
      expect(found).toEqual(unknown);
      for (const status of found) expect([404, 422]).toContain(status);
    },
  );

  // `me_get` names the places that a session can switch to; the step types are the same for all users, and their texts contain
  // the words that the ids consist of.
  const excepted: readonly string[] = ['me_get', 'autopilot_describe_step_types'];
  const lists = closed.filter(
    ([name, { operation, pathParameters }]) =>
      operation.method === 'GET' && pathParameters.length === 0 && !excepted.includes(name),
  );
  test.each(lists)('%s contains nothing of the other workspace', async (_, entry) => {
    for (const credential of sent) {
      const { status, body } = await call(entry, acme.ids, credential);
      expect(status).toBeLessThan(500);
      const text = JSON.stringify(body ?? null);
      expect(foreign().filter(([, id]) => text.includes(id))).toEqual([]);
    }
  });
});

describe('404 for a malformed id', () => {
  test.each(withIds)('%s', async (_, entry) => {
    const malformed = Object.fromEntries(Object.keys(rival.ids).map(key => [key, '%22%3E..%2F']));
    expect((await call(entry, malformed, { token: rivalToken })).status).toBe(404);
  });
});

describe('422 for an unknown field', () => {
  // Only its own operation reads a raw body.
  test.each(all.filter(([, { operation }]) => !operation.raw))('%s', async (_, entry) => {
    const { status, body } = await call(entry, rival.ids, { token: rivalToken }, { nonsense: '1' });
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.details).toContainEqual({ path: 'nonsense', message: expect.any(String) });
  });
});

describe('422 for a missing field', () => {
  test.each(Object.keys(requiredExamples) as Name[])('%s', async name => {
    const entry = registry.byName.get(name);
    if (!entry) throw new Error(`${name} is gone`);
    for (const field of ((entry.inputSchema.required ?? []) as string[]).filter(
      key => !entry.pathParameters.includes(key),
    )) {
      const { [field]: _, ...rest } = fieldsOf(name);
      const { status, body } = await request(entry.operation.method, pathIn(entry, rival.ids), {
        token: rivalToken,
        body: rest,
      });
      expect(status).toBe(422);
      expect(body.details.map((detail: { path: string }) => detail.path)).toContain(field);
    }
  });
});

describe('the examples are valid: they succeed for a caller with the rights', () => {
  // First reads, then changes, then deletions, so that no request removes another's resource or session.
  const last: readonly string[] = [
    'tasks_complete',
    'workflows_archive',
    'mcp_instances_delete',
    'mcp_servers_delete',
    'me_change_password',
  ];
  const weight = ({ operation: { method, name } }: RegisteredOperation) =>
    method === 'GET' ? 0 : last.includes(name) ? 3 + last.indexOf(name) : method === 'DELETE' ? 2 : 1;
  const ordered = [...closed].sort(([, a], [, b]) => weight(a) - weight(b));
  // These operations need more than an example: a value over 16 KiB, a turn of an agent, an unconfirmed account, a job, an
  // authorization server, a messaging API.
  const provider = /^connections_(suite|messaging)_(?!config$)/;
  const excepted: readonly string[] = [
    'runs_get_payload',
    'runs_get_prompt',
    // The run of the example has no loop (server/domains/runs/loops/items.test.ts).
    'runs_get_loop_items',
    'me_request_confirmation',
    // These need an answer that is being written, or one that has ended; the second deletion of a thread finds no thread.
    'autopilot_stream',
    'chat_stream',
    'chat_send_and_stream',
    'chat_fork_thread',
    'chat_post_thread_delete',
    // A person grants something when answering a task of an agent.
    'agents_revoke_grant',
    'chat_revoke_grant',
    'chat_post_grant_revoke',
    'memory_extract_get',
    ...all.map(([name]) => name).filter(name => provider.test(name)),
  ];
  test.each(ordered.filter(([name]) => !excepted.includes(name)))('%s', async (_, entry) => {
    // With a session of the owner, because some operations require an account with every scope.
    const cookie = await cookieFor(acme.owner);
    // Earlier requests have changed the proposal: it is reviewed as it is now.
    const reviewed = await request('GET', `/v1/autopilot/proposals/${acme.ids['proposals/id']}`, { cookie });
    const ids = { ...acme.ids, 'proposals/etag': String(reviewed.body.etag) };
    const { status, body } = await call(entry, ids, { cookie });
    expect(status, JSON.stringify(body)).toBe(entry.operation.status);
  });
});
