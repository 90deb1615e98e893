import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Context, Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { contextFor, createTestMember, createTestServices, createTestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { call, createTestProject, refusal } from '../../testing/workflows.ts';
import { runViewOperations } from './operations.ts';
import { MAX_VIEWS } from './schemas.ts';

const operations = operationsByName(runViewOperations);

let db: TestDatabase;
let services: Services;
let tenant: Awaited<ReturnType<typeof createTestTenant>>;
beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db);
  tenant = await createTestTenant(services, { slug: 'acme' });
});
afterAll(() => db.close());

// Each test has its own project with two contributors and a viewer.
let count = 0;
let ann: Context;
let ben: Context;
let viewer: Context;
beforeEach(async () => {
  count += 1;
  const { projectId, contributor } = await createTestProject(services, tenant, `p${count}`);
  const scope = { tenantId: tenant.tenantId, projectId };
  const member = (role: Principal['role'] & ('project_contributor' | 'project_viewer'), name: string) =>
    createTestMember(services, scope, role, `${name}${count}@example.com`);
  ann = contextFor(services, contributor);
  ben = contextFor(services, await member('project_contributor', 'ben'));
  viewer = contextFor(services, await member('project_viewer', 'vic'));
});

const create = (ctx: Context, view: Record<string, unknown> = {}) =>
  call(operations.run_views_create, ctx, { name: 'Failed', filters: { status: 'failed' }, ...view });
const list = async (ctx: Context) => (await call(operations.run_views_list, ctx, {})).views;
const patch = (ctx: Context, view_id: string, change: Record<string, unknown>) =>
  call(operations.run_views_patch, ctx, { view_id, ...change });
const remove = (ctx: Context, view_id: string) => call(operations.run_views_delete, ctx, { view_id });
const status = async (promise: Promise<unknown>) => (await refusal(promise)).status;

test('a view has filters and columns, and is private until it is shared', async () => {
  const filters = { status: 'failed', q: 'import', from: '2026-11-01T01:00:00+01:00', test: 'reruns' };
  const made = await create(ann, { filters, columns: ['Status', 'order_id'], default: true });
  const stored = { ...filters, from: '2026-11-01T00:00:00.000Z' };
  expect(made).toMatchObject({
    own: true,
    shared: false,
    default: true,
    filters: stored,
    columns: ['Status', 'order_id'],
  });
  expect(await list(ann)).toEqual([made]);
  expect(await list(ben)).toEqual([]);
  expect(await status(patch(ben, made.id, { name: 'Mine' }))).toBe(404);
  expect(await status(remove(ben, made.id))).toBe(404);
  const shared = await patch(ann, made.id, { shared: true, name: 'All failed' });
  expect(await list(ben)).toEqual([{ ...shared, own: false, default: false }]);
});

test('a viewer has private views, but cannot share views or change shared ones', async () => {
  const own = await create(viewer);
  expect(await status(create(viewer, { shared: true }))).toBe(403);
  expect(await status(patch(viewer, own.id, { shared: true }))).toBe(403);
  expect((await patch(viewer, own.id, { name: 'Renamed' })).name).toBe('Renamed');
  const shared = await create(ann, { shared: true });
  expect(await status(patch(viewer, shared.id, { name: 'x' }))).toBe(403);
  expect(await status(remove(viewer, shared.id))).toBe(403);
  expect((await patch(viewer, shared.id, { default: true })).default).toBe(true);
  await remove(viewer, own.id);
  expect((await list(viewer)).map(({ id, default: isDefault }) => [id, isDefault])).toEqual([[shared.id, true]]);
  expect((await list(ann)).map(view => view.default)).toEqual([false]);
});

test('at most one view is the default, until it is deleted or no longer shared', async () => {
  const [first, second] = [await create(ann, { default: true }), await create(ann, { shared: true, default: true })];
  const defaults = async (ctx: Context) => (await list(ctx)).filter(view => view.default).map(({ id }) => id);
  expect(await defaults(ann)).toEqual([second.id]);
  await patch(ben, second.id, { default: true });
  await patch(ann, second.id, { shared: false });
  expect([await defaults(ann), await defaults(ben)]).toEqual([[second.id], []]);
  await patch(ann, second.id, { shared: true });
  expect(await defaults(ben)).toEqual([]);
  await patch(ann, first.id, { default: true });
  await patch(ann, first.id, { default: false });
  expect(await defaults(ann)).toEqual([]);
});

test('any contributor changes and deletes a shared view', async () => {
  const { id } = await create(ann, { shared: true });
  expect((await patch(ben, id, { filters: { q: 'x' }, columns: [] })).filters).toEqual({ q: 'x' });
  expect((await patch(ben, id, { shared: false })).shared).toBe(false);
  expect(await list(ben)).toEqual([]);
  await patch(ann, id, { shared: true });
  await remove(ben, id);
  expect(await list(ann)).toEqual([]);
});

test('a view is not visible in other projects and workspaces', async () => {
  const { id } = await create(ann, { shared: true });
  const { contributor } = await createTestProject(services, tenant, `other${count}`);
  const stranger = contextFor(services, contributor);
  expect(await list(stranger)).toEqual([]);
  expect(await status(patch(stranger, id, { name: 'x' }))).toBe(404);
  const rival = await createTestTenant(services, { slug: `rival${count}` });
  expect(await status(remove(contextFor(services, rival.owner), id))).toBe(404);
});

test('only filters of the list of runs are accepted', async () => {
  for (const wrong of [
    { filters: { limit: 1 } },
    { filters: { status: 'odd' } },
    { name: ' ' },
    { name: 'x'.repeat(81) },
  ])
    expect(await status(create(ann, wrong)), JSON.stringify(wrong)).toBe(422);
  const name = '<b>"\u{1F600}\'; DROP TABLE run_views';
  expect((await create(ann, { name })).name).toBe(name);
});

test('the limit of views per person holds for concurrent requests', async () => {
  const made = await Promise.allSettled(Array.from({ length: MAX_VIEWS + 3 }, () => create(ann)));
  expect(made.filter(each => each.status === 'fulfilled')).toHaveLength(MAX_VIEWS);
  expect((await refusal(create(ann))).code).toBe('too_many_views');
  await create(ben);
});
