import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../../operation/context.ts';
import { newId } from '../../../platform/ids.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { call, chain, contextFor, createTestProject, refusal } from '../../../testing/workflows.ts';
import { workflowOperations } from '../operations.ts';
import { insertWorkflow } from '../store.ts';
import { FolderPath, MAX_FOLDER_DEPTH, MAX_FOLDER_NAME, MAX_TAG, MAX_TAGS, Tags } from './names.ts';

const of = operationsByName(workflowOperations);

let service: TestContainer;
let tenant: TestTenant;
let ctx: Context;

beforeAll(async () => {
  service = await startTestContainer();
  tenant = await createTestTenant(service.container.services, { slug: 'acme' });
});
afterAll(() => service.close());

// Each test has its own project.
let count = 0;
beforeEach(async () => {
  count += 1;
  const { contributor } = await createTestProject(service.container.services, tenant, `p${count}`);
  ctx = contextFor(service.container.services, contributor);
});

const create = (name: string, place: { folder?: string; tags?: string[] } = {}) =>
  call(of.workflows_create, ctx, { name, ...place });
const names = async (filter: Record<string, unknown>) =>
  (await call(of.workflows_list, ctx, filter)).workflows.map(({ name }) => name).sort();
const organize = (input: Record<string, unknown>) => call(of.workflows_organize, ctx, input);

describe('names', () => {
  const folder = (text: string) => FolderPath.safeParse(text);
  const deep = (depth: number) => Array.from({ length: depth }, (_, n) => `f${n}`).join('/');

  test('of folders are normalized', () => {
    expect(folder('  Finance /\tNew   invoices ').data).toBe('Finance/New invoices');
    expect(folder('Cafe\u0301').data).toBe('Caf\u00e9');
    expect(folder(' ').data).toBe('');
    // The emoji of a family consists of several joined characters.
    expect(folder('👩‍👩‍👧 Home').data).toBe('👩‍👩‍👧 Home');
  });

  test('of folders have a depth and a length', () => {
    const allowed = (text: string) => folder(text).success;
    expect([MAX_FOLDER_DEPTH - 1, MAX_FOLDER_DEPTH, MAX_FOLDER_DEPTH + 1].map(deep).map(allowed)).toEqual([
      true,
      true,
      false,
    ]);
    const lengths = [1, MAX_FOLDER_NAME - 1, MAX_FOLDER_NAME, MAX_FOLDER_NAME + 1];
    expect(lengths.map(length => allowed(`a/${'b'.repeat(length)}`))).toEqual([true, true, true, false]);
  });

  test('of folders cannot have invisible characters', () => {
    const hostile = [
      'a//b',
      '/a',
      'a/',
      'a/ /b',
      'a\0b',
      'a\u0007',
      'a\u202egnp',
      'a\u200bb',
      '\ud800',
      'x'.repeat(1_001),
    ];
    expect(hostile.filter(text => folder(text).success)).toEqual([]);
    // These names are harmless, because they are never used as file paths, HTML or SQL.
    const odd = ['..', "'; DROP TABLE workflows; --", '<img src=x onerror=alert(1)>', '%', '_', '{{input.x}}'];
    expect(odd.map(text => text.replaceAll('/', '')).map(text => folder(text).data)).toEqual(
      odd.map(text => text.replaceAll('/', '')),
    );
  });

  test('of tags are in lower case, unique and sorted', () => {
    expect(Tags.safeParse([' Prod', 'billing', 'PROD', 'a  b']).data).toEqual(['a b', 'billing', 'prod']);
    for (const tag of ['', '  ', 'a,b', 'a\u202eb', 'x'.repeat(MAX_TAG + 1), 'İ'.repeat(MAX_TAG)])
      expect(Tags.safeParse([tag]).success, tag).toBe(false);
    expect(Tags.safeParse(['x'.repeat(MAX_TAG)]).success).toBe(true);
    const many = (length: number) => Tags.safeParse(Array.from({ length }, (_, n) => `t${n}`)).success;
    expect([0, MAX_TAGS - 1, MAX_TAGS, MAX_TAGS + 1].map(many)).toEqual([true, true, true, false]);
  });
});

describe('a list', () => {
  test('has the workflows in a folder and its subfolders, and those with all given tags', async () => {
    await create('top', { tags: ['prod'] });
    await create('in', { folder: 'Finance', tags: ['prod', 'eu'] });
    await create('inside', { folder: 'Finance/Invoices', tags: ['eu'] });
    await create('beside', { folder: 'Finance 2' });
    await create('percent', { folder: 'Fin%' });
    expect(await names({ folder: 'Finance' })).toEqual(['in', 'inside']);
    expect(await names({ folder: 'Finance/Invoices' })).toEqual(['inside']);
    expect(await names({ folder: 'Fin%' })).toEqual(['percent']);
    expect(await names({ folder: '' })).toHaveLength(5);
    expect(await names({ tags: ['EU'] })).toEqual(['in', 'inside']);
    expect(await names({ tags: ['eu', 'prod'] })).toEqual(['in']);
    expect(await names({ tags: ['eu'], folder: 'Finance/Invoices' })).toEqual(['inside']);
    expect(await names({ q: 'invoices' })).toEqual(['inside']);
  });

  test('accepts several tags in a query', async () => {
    const made = await create('in', { tags: ['a b', 'c'] });
    const { token } = await createTestPat(service.container.services, ctx.principal, ['workflow:read']);
    const listWorkflows = (query: string) =>
      fetch(`${service.url}/v1/workflows?${query}`, { headers: { Authorization: `Bearer ${token}` } });
    const found = (await (await listWorkflows('tags=a%20b&tags=c&folder=')).json()) as { workflows: { id: string }[] };
    expect(found.workflows.map(({ id }) => id)).toEqual([made.id]);
    expect((await listWorkflows('tags=a%2Cb')).status).toBe(422);
    expect((await listWorkflows('folder=a%2F%2Fb')).status).toBe(422);
  });

  test('of folders and tags counts their workflows without archived ones', async () => {
    await create('1', { folder: 'b/c', tags: ['x'] });
    await create('2', { folder: 'b', tags: ['x', 'y'] });
    await create('3', { folder: 'a' });
    const gone = await create('4', { folder: 'z', tags: ['z'] });
    await call(of.workflows_archive, ctx, { id: gone.id });
    expect(await call(of.workflows_list_folders, ctx, {})).toEqual({
      folders: [
        { path: 'a', workflows: 1 },
        { path: 'b', workflows: 2 },
        { path: 'b/c', workflows: 1 },
      ],
      tags: [
        { tag: 'x', workflows: 2 },
        { tag: 'y', workflows: 1 },
      ],
    });
  });
});

describe('organizing', () => {
  test('moves and tags a selection without changing drafts and their ETags', async () => {
    const [a, b] = [await create('a', { tags: ['old'] }), await create('b', { folder: 'x', tags: ['keep'] })];
    const ids = [a.id, b.id, a.id];
    const { workflows } = await organize({ workflow_ids: ids, folder: 'New', add_tags: ['q4'], remove_tags: ['old'] });
    expect(workflows.map(({ id, ...rest }) => [id === a.id ? 'a' : 'b', rest]).sort()).toEqual([
      ['a', { folder: 'New', tags: ['q4'] }],
      ['b', { folder: 'New', tags: ['keep', 'q4'] }],
    ]);
    const read = await call(of.workflows_get, ctx, { id: a.id });
    expect(read).toEqual({ ...a, folder: 'New', tags: ['q4'] });
    await organize({ workflow_ids: [a.id], folder: '', remove_tags: ['q4', 'none'] });
    expect(await call(of.workflows_get, ctx, { id: a.id })).toEqual({ ...a, folder: '', tags: [] });
  });

  test('changes all workflows or none', async () => {
    const full = await create('full', { tags: Array.from({ length: MAX_TAGS }, (_, n) => `t${n}`) });
    const other = await create('other');
    const workflow_ids = [other.id, full.id];
    expect(await refusal(organize({ workflow_ids, add_tags: ['more'] }))).toMatchObject({ status: 422 });
    expect((await call(of.workflows_get, ctx, { id: other.id })).tags).toEqual([]);
    expect((await organize({ workflow_ids, add_tags: ['t0'] })).workflows).toHaveLength(2);
    await organize({ workflow_ids: [full.id], add_tags: ['more'], remove_tags: ['t0'] });
  });

  test('refuses workflows of other projects and of agents', async () => {
    const own = await create('own');
    const { contributor } = await createTestProject(service.container.services, tenant, `other${count}`);
    const stranger = contextFor(service.container.services, contributor);
    const foreign = await call(of.workflows_create, stranger, { name: 'foreign', folder: 'Theirs', tags: ['theirs'] });
    const both = { workflow_ids: [own.id, foreign.id], folder: 'Mine' };
    expect(await refusal(organize(both))).toMatchObject({ status: 404 });
    expect(await refusal(call(of.workflows_rename_folder, ctx, { from: 'Theirs', to: 'Mine' }))).toMatchObject({
      status: 404,
    });
    expect(await names({ folder: 'Mine' })).toEqual([]);
    expect(await call(of.workflows_list_folders, ctx, {})).toEqual({ folders: [], tags: [] });
    const { tenantId, projectId, userId } = ctx.principal;
    const agent = await insertWorkflow(service.container.services.prisma, {
      ...{ id: newId(), scope: { tenantId, projectId }, name: 'agent', description: '', kind: 'agent' },
      ...{ graph: chain('a'), runSetup: {}, graphChecksum: '', createdBy: userId, at: new Date() },
    });
    const managed = await refusal(organize({ workflow_ids: [agent.id], folder: 'Mine' }));
    expect([managed.status, managed.code]).toEqual([409, 'managed_elsewhere']);
  });

  test('with concurrent requests loses no tag', async () => {
    const { id } = await create('busy');
    const tags = Array.from({ length: 12 }, (_, n) => `t${10 + n}`);
    await Promise.all(tags.map(tag => organize({ workflow_ids: [id], add_tags: [tag] })));
    expect((await call(of.workflows_get, ctx, { id })).tags).toEqual(tags);
  });
});

describe('renaming a folder', () => {
  const rename = (from: string, to: string) => call(of.workflows_rename_folder, ctx, { from, to });

  test('moves its contents to another path, into an existing folder, or to the top', async () => {
    await create('1', { folder: 'a' });
    await create('2', { folder: 'a/b' });
    await create('3', { folder: 'ab' });
    expect(await rename('a', 'ab')).toEqual({ workflows: 2 });
    expect(await names({ folder: 'ab' })).toEqual(['1', '2', '3']);
    expect(await names({ folder: 'ab/b' })).toEqual(['2']);
    await rename('ab', '');
    expect(await names({ folder: 'b' })).toEqual(['2']);
  });

  test('refuses a path inside itself, an unknown folder, and a path that is too deep', async () => {
    await create('deep', { folder: 'a/b/c/d' });
    const refused = async (from: string, to: string) => (await refusal(rename(from, to))).status;
    expect(await refused('a', 'a/x')).toBe(422);
    expect(await refused('', 'a')).toBe(422);
    expect(await refused('nothing', 'x')).toBe(404);
    expect(await refused('a', 'x/y/z')).toBe(422);
    expect(await rename('a', 'x/y')).toEqual({ workflows: 1 });
  });
});

test('an export has folder and tags, an import sets them', async () => {
  const { id } = await create('a', { folder: 'Finance', tags: ['eu'] });
  for (const format of ['json', 'yaml']) {
    const document = await call(of.workflows_export, ctx, { id, format });
    expect(await call(of.workflows_import, ctx, document)).toMatchObject({ folder: 'Finance', tags: ['eu'] });
  }
  const plain = await create('b');
  const document = await call(of.workflows_export, ctx, { id: plain.id });
  expect(Object.keys(document)).not.toContain('folder');
  const hostile = { ...document, folder: 'a//b' };
  expect(await refusal(call(of.workflows_import, ctx, hostile))).toMatchObject({ status: 422 });
  const text = JSON.stringify(hostile);
  expect(await refusal(call(of.workflows_import, ctx, { document: text }))).toMatchObject({ status: 422 });
});
