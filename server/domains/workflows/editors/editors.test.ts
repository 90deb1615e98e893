import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestMember, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import {
  call,
  chain,
  contextFor,
  createServicesWithSteps,
  createTestProject,
  refusal,
} from '../../../testing/workflows.ts';
import { workflowOperations } from '../operations.ts';
import { EDITOR_OPEN_MS, MAX_EDITORS } from './schemas.ts';

const {
  workflows_create: create,
  workflows_patch: patch,
  workflows_edit: edit,
  workflows_publish_version: publish,
  workflows_restore_version: restore,
  workflows_list_editors: list,
  workflows_announce_editor: announce,
} = operationsByName(workflowOperations);

let db: TestDatabase;
let services: Services;
let close: () => Promise<void>;
let tenant: TestTenant;
const clock = new ManualClock();

beforeAll(async () => {
  db = await createTestDatabase();
  ({ services, close } = createServicesWithSteps(db, { clock }));
  tenant = await createTestTenant(services, { slug: 'acme' });
});
afterAll(async () => {
  await close();
  await db.close();
});

const as = (principal = tenant.contributor) => contextFor(services, principal);
const draft = () => call(create, as(), { name: 'Nightly', graph: chain('a', 'b') });
const editing = async (id: string) => (await call(list, as(tenant.viewer), { id })).editing.map(each => each.user_id);
const savedSince = async (id: string, since: string) =>
  (await call(list, as(tenant.viewer), { id, since })).saved.map(each => each.user_id);
const member = (name: string) =>
  createTestMember(services, tenant, 'project_contributor', `${name}-${newId()}@example.com`);

describe('the editors of a draft', () => {
  test('are the people who have announced it, by name, the latest first', async () => {
    const { id, etag } = await draft();
    const [{ contributor, owner }, start] = [tenant, clock.now()];
    expect(await call(list, as(), { id })).toEqual({ etag, editing: [], saved: [] });
    await call(announce, as(), { id });
    clock.advance(1_000);
    const answer = await call(announce, as(owner), { id });
    expect(answer).toEqual({
      etag,
      editing: [
        { user_id: owner.userId, name: owner.name, at: new Date(start + 1_000).toISOString() },
        { user_id: contributor.userId, name: contributor.name, at: new Date(start).toISOString() },
      ],
      saved: [],
    });
    expect(await call(list, as(tenant.viewer), { id })).toEqual(answer);
  });

  test('do not include a person who has left the editor', async () => {
    const { id } = await draft();
    await call(announce, as(), { id });
    await call(announce, as(tenant.owner), { id });
    await call(announce, as(), { id, editing: false });
    expect(await editing(id)).toEqual([tenant.owner.userId]);
  });

  test('do not include a person who was last seen too long ago', async () => {
    const { id } = await draft();
    await call(announce, as(), { id });
    clock.advance(EDITOR_OPEN_MS - 1);
    expect(await editing(id)).toEqual([tenant.contributor.userId]);
    clock.advance(1);
    expect(await editing(id)).toEqual([]);
    await call(announce, as(), { id });
    expect(await editing(id)).toEqual([tenant.contributor.userId]);
  });

  test('do not include a person who has left the workspace', async () => {
    const { id } = await draft();
    const leaver = await member('leaver');
    const { etag } = await call(patch, as(leaver), { id, name: 'Theirs' });
    expect(etag).toBe('"2"');
    await call(announce, as(leaver), { id });
    expect([await editing(id), await savedSince(id, '"1"')]).toEqual([[leaver.userId], [leaver.userId]]);
    const ref = { tenantId: tenant.tenantId, userId: leaver.userId };
    await db.prisma.membership.delete({ where: { tenantId_userId: ref } });
    expect([await editing(id), await savedSince(id, '"1"')]).toEqual([[], []]);
    // A request that was authenticated before the membership ended still succeeds.
    await call(announce, as(leaver), { id });
    await call(patch, as(leaver), { id, name: 'Again' });
    expect([await editing(id), await savedSince(id, '"1"')]).toEqual([[], []]);
  });

  test('are limited to the latest', async () => {
    const { id } = await draft();
    const names = Array.from({ length: MAX_EDITORS + 1 }, (_, at) => `many${at}`);
    for (const name of names) {
      clock.advance(1);
      await call(announce, as(await member(name)), { id });
      const { editing } = await call(list, as(), { id });
      expect(editing).toHaveLength(Math.min(names.indexOf(name) + 1, MAX_EDITORS));
    }
  });

  test('are not returned for the workflows of other projects and workspaces', async () => {
    const { id } = await draft();
    await call(announce, as(), { id });
    const other = await createTestTenant(services, { slug: 'rival' });
    const { contributor } = await createTestProject(services, tenant, 'second');
    for (const stranger of [other.owner, contributor]) {
      // One after the other: a promise that rejects before it is awaited would end the whole test run.
      expect(await refusal(call(list, as(stranger), { id }))).toMatchObject({ status: 404 });
      expect(await refusal(call(announce, as(stranger), { id }))).toMatchObject({ status: 404 });
    }
    expect(await editing(id)).toEqual([tenant.contributor.userId]);
  });
});

describe('the people who have saved a draft since a state', () => {
  test('are all people with a later change, in every way to change a draft', async () => {
    const { id, etag } = await draft();
    const [patched, edited, restored] = [await member('patched'), await member('edited'), await member('restored')];
    await call(publish, as(), { id });
    const first = await call(patch, as(patched), { id, graph: chain('a') });
    clock.advance(1);
    const second = await call(edit, as(edited), { id, edits: [{ type: 'set_details', name: 'Daily' }] });
    clock.advance(1);
    const third = await call(restore, as(restored), { id, version: 1 });
    expect(await savedSince(id, etag)).toEqual([restored.userId, edited.userId, patched.userId]);
    expect(await savedSince(id, first.etag)).toEqual([restored.userId, edited.userId]);
    expect(await savedSince(id, second.workflow.etag)).toEqual([restored.userId]);
    expect(await savedSince(id, third.etag)).toEqual([]);
    const answer = await call(list, as(), { id });
    expect([answer.etag, answer.saved]).toEqual([third.etag, []]);
  });

  test('do not include a person whose change was refused', async () => {
    const { id, etag } = await draft();
    await call(patch, as(), { id, name: 'Mine' });
    const late = await member('late');
    const stale = contextFor(services, late, { headers: new Map([['if-match', etag]]) });
    expect(await refusal(call(patch, stale, { id, name: 'Theirs' }))).toMatchObject({ status: 412 });
    expect(await savedSince(id, etag)).toEqual([tenant.contributor.userId]);
  });

  test.each(['2', 'W/"2"', '""', '"1234567890"', '"x"'])('are refused for %s, which is no state', async since => {
    const { id } = await draft();
    expect(await refusal(call(list, as(), { id, since }))).toMatchObject({ status: 422 });
  });
});
