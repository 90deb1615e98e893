import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import {
  call,
  chain,
  contextFor,
  createServicesWithSteps,
  createTestProject,
  refusal,
} from '../../testing/workflows.ts';
import type { SchemaOfEdits } from './edit-schemas.ts';
import { MAX_EDITS } from './edit-schemas.ts';
import type { Edit } from './edits/index.ts';
import { workflowOperations } from './operations.ts';

const {
  workflows_create: create,
  workflows_get: get,
  workflows_patch: patch,
  workflows_archive: archive,
  workflows_publish_version: publish,
  workflows_edit: edit,
  workflows_diff_versions: diffVersions,
  workflows_export: exportWorkflow,
  workflows_import: importWorkflow,
} = operationsByName(workflowOperations);

let db: TestDatabase;
let services: Services;
let close: () => Promise<void>;
let tenant: TestTenant;
let strangers: TestTenant['owner'][];

beforeAll(async () => {
  db = await createTestDatabase();
  ({ services, close } = createServicesWithSteps(db, { clock: new ManualClock() }));
  tenant = await createTestTenant(services, { slug: 'acme' });
  const other = await createTestTenant(services, { slug: 'rival' });
  strangers = [other.owner, (await createTestProject(services, tenant, 'second')).contributor];
});
afterAll(async () => {
  await close();
  await db.close();
});

const as = (principal = tenant.contributor, headers: Record<string, string> = {}) =>
  contextFor(services, principal, { headers: new Map(Object.entries(headers)) });
const ifMatch = (etag: string) => as(tenant.contributor, { 'if-match': etag });
const draft = (input: Record<string, unknown> = {}) =>
  call(create, as(), { name: 'Nightly', graph: chain('a', 'b'), ...input });
const send = (id: string, edits: unknown[], ctx = as()) => call(edit, ctx, { id, edits });
const step = (id: string, ...depends_on: string[]) => ({ id, type: 'lua_script', script: 'return 1', depends_on });
const note = { id: 'n', text: 'Ask **Ada**', position: { x: 1.5, y: -2 }, width: 200, color: 'yellow' };
const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`);

test('the schema of edits has the types of the edits', () => {
  // If they differ, the type is `never`, and this line does not compile.
  const isSame: SchemaOfEdits = true;
  expect(isSame).toBe(true);
});

describe('editing', () => {
  test('applies every edit in order, as one change of the draft, and returns the ETag of the draft', async () => {
    const { id } = await draft();
    const edits: Edit[] = [
      { type: 'insert_between', from: 'a', to: 'b', step: step('between') },
      { type: 'rename_step', step: 'between', to: 'middle' },
      { type: 'move', step: 'middle', position: { x: 10, y: -20 } },
      { type: 'set_run_setup', run_setup: { trigger_payload: { n: 1 } } },
      { type: 'set_details', description: 'By edits' },
    ];
    const ctx = as();
    const { workflow, unrewritten } = await send(id, edits, ctx);
    expect(workflow).toMatchObject({
      name: 'Nightly',
      description: 'By edits',
      run_setup: { trigger_payload: { n: 1 } },
      etag: '"2"',
    });
    expect(workflow.graph.steps).toMatchObject([
      { id: 'a' },
      { id: 'middle', depends_on: ['a'], position: { x: 10, y: -20 } },
      { id: 'b', depends_on: ['middle'] },
    ]);
    expect(unrewritten).toEqual([]);
    expect(ctx.responseHeaders.get('ETag')).toBe('"2"');
    expect(await call(get, as(), { id })).toEqual(workflow);
  });

  test('returns the edits that undo it, which restore exactly the earlier draft', async () => {
    const before = await draft({ run_setup: { trigger_steps: { a: {} } } });
    const { undo } = await send(before.id, [
      { type: 'rename_step', step: 'a', to: 'first' },
      { type: 'remove_step', step: 'b' },
      { type: 'add_step', step: step('c', 'first'), at: 0 },
      { type: 'update_graph', set: { output: '{{steps.c.result}}' } },
      { type: 'update_graph', set: { input_schema: { type: 'object' } }, unset: ['output'] },
      { type: 'update_graph', set: { output: { c: '{{steps.c.result}}' } } },
    ]);
    const { workflow, undo: redo } = await send(before.id, undo);
    const content = ({ graph, run_setup, name }: typeof before) => JSON.stringify([graph, run_setup, name]);
    expect(content(workflow)).toBe(content(before));
    const again = await send(before.id, redo);
    expect(again.workflow.graph.steps.map(({ id }) => id)).toEqual(['c', 'first']);
    expect(again.workflow.graph.output).toEqual({ c: '{{steps.c.result}}' });
  });

  test('lists the lines of Lua that may read a renamed step', async () => {
    const graph = { steps: [...chain('a').steps, { ...step('b', 'a'), script: 'local x = 1\nreturn steps.a.result' }] };
    const { id } = await draft({ graph });
    const { unrewritten } = await send(id, [{ type: 'rename_step', step: 'a', to: 'z' }]);
    expect(unrewritten).toEqual([{ step: 'b', field: 'script', line: 2, text: 'return steps.a.result' }]);
  });

  test('that changes nothing leaves the ETag unchanged', async () => {
    const { id } = await draft();
    const { workflow } = await send(id, [{ type: 'connect', from: 'a', to: 'b' }]);
    expect(workflow.etag).toBe('"1"');
  });

  test('applies all edits or none, and names the edit that does not fit', async () => {
    const { id } = await draft();
    const error = await refusal(
      send(id, [
        { type: 'set_details', name: 'Changed' },
        { type: 'remove_step', step: 'gone' },
      ]),
    );
    expect([error.status, error.code]).toEqual([422, 'edit_not_applicable']);
    expect(error.details).toEqual([{ path: 'edits[1]', code: 'step_not_found', message: 'There is no step "gone".' }]);
    expect(await call(get, as(), { id })).toMatchObject({ name: 'Nightly', etag: '"1"' });
  });

  test.each([
    ['no edits', []],
    ['an unknown type', [{ type: 'explode' }]],
    ['an unknown field', [{ type: 'remove_step', step: 'a', force: true }]],
    ['a step without a type', [{ type: 'add_step', step: { id: 'x' } }]],
    ['a position that is no place', [{ type: 'move', step: 'a', position: { x: 1_000_001, y: 0 } }]],
    ['a value that is nested too deeply', [{ type: 'update_step', step: 'a', set: { x: nested(2_000) } }]],
    ['a note without a place', [{ type: 'set_note', note: { id: 'n', text: 'x' } }]],
    ['a note that is too long', [{ type: 'set_note', note: { ...note, text: 'x'.repeat(10_001) } }]],
    ['half a surrogate pair', [{ type: 'update_step', step: 'a', set: { script: '\ud800' } }]],
    ['a type that is no text', [{ type: 'update_step', step: 'a', set: { type: 7 } }]],
  ])('with %s is 422', async (_what, edits) => {
    const { id } = await draft();
    expect((await refusal(send(id, edits))).status).toBe(422);
    expect((await call(get, as(), { id })).etag).toBe('"1"');
  });

  test('accepts as many edits as the limit allows, and no more', async () => {
    const { id } = await draft();
    const movesOfStep = (count: number): Edit[] =>
      Array.from({ length: count }, (_, x) => ({ type: 'move', step: 'a', position: { x, y: 0 } }));
    for (const count of [MAX_EDITS - 1, MAX_EDITS]) {
      expect((await send(id, movesOfStep(count))).workflow.graph.steps[0]).toMatchObject({
        position: { x: count - 1 },
      });
    }
    expect((await refusal(send(id, movesOfStep(MAX_EDITS + 1)))).status).toBe(422);
  });

  test('carries notes into versions, comparisons and exports', async () => {
    const { id } = await draft();
    await call(publish, as(), { id });
    const { workflow, undo } = await send(id, [{ type: 'set_note', note }]);
    expect(workflow.graph.notes).toEqual([note]);
    const { graph_snapshot } = await call(publish, as(), { id });
    expect(graph_snapshot.notes).toEqual([note]);
    const changes = await call(diffVersions, as(), { id, a: 1, b: 2 });
    expect(changes).toMatchObject({ steps: [], notes: [{ field: 'n', after: note }] });
    for (const format of ['json', 'yaml']) {
      const document = await call(exportWorkflow, as(), { id, format });
      expect((await call(importWorkflow, as(), document)).graph).toEqual(workflow.graph);
    }
    expect((await send(id, undo)).workflow.graph).not.toHaveProperty('notes');
  });

  test('creates no graph that could not be saved as a whole', async () => {
    const ids = Array.from({ length: 1_999 }, (_, n) => `s${n}`);
    const { id } = await draft({ graph: { steps: ids.map(each => step(each)) } });
    const add = (...added: string[]) =>
      send(
        id,
        added.map(each => ({ type: 'add_step', step: step(each) })),
      );
    expect((await refusal(add('x', 'y'))).code).toBe('invalid_graph');
    expect((await add('x')).workflow.graph.steps).toHaveLength(2_000);
    expect((await refusal(add('y'))).code).toBe('invalid_graph');
  });

  test('a workflow that does not exist, or belongs to another workspace or project, is 404', async () => {
    const { id } = await draft();
    const change = [{ type: 'set_details', name: 'Mine' }];
    expect((await refusal(send(newId(), change))).status).toBe(404);
    for (const stranger of strangers) expect((await refusal(send(id, change, as(stranger)))).status).toBe(404);
    expect((await call(get, as(), { id })).name).toBe('Nightly');
  });

  test('an archived workflow is 409, whatever the edits would change', async () => {
    const { id } = await draft();
    await call(archive, as(), { id });
    for (const name of ['Nightly', 'Other']) {
      const error = await refusal(send(id, [{ type: 'set_details', name }]));
      expect([error.status, error.code]).toEqual([409, 'workflow_archived']);
    }
  });
});

describe('concurrent edits', () => {
  test('with If-Match apply only to the draft that was read', async () => {
    const { id, etag } = await draft();
    const rename = (name: string, tag: string) => send(id, [{ type: 'set_details', name }], ifMatch(tag));
    const { workflow } = await rename('First', etag);
    const late = await refusal(rename('Second', etag));
    expect([late.status, late.code]).toEqual([412, 'etag_mismatch']);
    expect((await refusal(rename('Second', 'no tag'))).status).toBe(422);
    expect((await rename('Second', workflow.etag)).workflow.name).toBe('Second');
  });

  test('with the same If-Match apply once', async () => {
    const { id, etag } = await draft();
    const outcomes = await Promise.allSettled(
      ['x', 'y', 'z'].map(each => send(id, [{ type: 'add_step', step: step(each) }], ifMatch(etag))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await call(get, as(), { id })).graph.steps).toHaveLength(3);
  });

  test('without If-Match are all in the draft', async () => {
    const { id } = await draft();
    const added = ['w', 'x', 'y', 'z'];
    await Promise.all(added.map(each => send(id, [{ type: 'add_step', step: step(each) }])));
    const { graph, etag } = await call(get, as(), { id });
    expect(graph.steps.map(each => each.id).sort()).toEqual(['a', 'b', ...added]);
    expect(etag).toBe('"5"');
  });

  test("undone, leave others' later changes", async () => {
    const { id } = await draft();
    const mine = await send(id, [{ type: 'update_step', step: 'a', set: { name: 'Mine' } }]);
    await send(id, [{ type: 'update_step', step: 'b', set: { name: 'Theirs' } }]);
    const { workflow } = await send(id, mine.undo);
    expect(workflow.graph.steps[0]).not.toHaveProperty('name');
    expect(workflow.graph.steps[1]).toMatchObject({ name: 'Theirs' });
  });
});

describe('comparing versions', () => {
  test('lists each step and field that differs, in either direction and with the draft', async () => {
    const { id } = await draft();
    await call(publish, as(), { id });
    await send(id, [
      { type: 'update_step', step: 'a', set: { name: 'A' } },
      { type: 'remove_step', step: 'b' },
      { type: 'add_step', step: step('c', 'a') },
      { type: 'set_run_setup', run_setup: { use_as_default: true } },
      { type: 'update_graph', set: { output: 'done' } },
    ]);
    await call(publish, as(), { id });
    const compare = (a: unknown, b: unknown) => call(diffVersions, as(tenant.viewer), { id, a, b });
    const forth = await compare(1, '2');
    expect(forth).toEqual({
      graph: [{ field: 'output', after: 'done' }],
      steps: [
        { change: 'changed', step: 'a', fields: [{ field: 'name', after: 'A' }] },
        { change: 'added', step: 'c', after: step('c', 'a') },
        { change: 'removed', step: 'b', before: chain('a', 'b').steps[1] },
      ],
      reordered: false,
      notes: [],
      run_setup: [{ field: 'use_as_default', after: true }],
    });
    const back = await compare(2, 1);
    expect(back.steps.map(({ change, step: changed }) => [change, changed])).toEqual([
      ['changed', 'a'],
      ['added', 'b'],
      ['removed', 'c'],
    ]);
    expect(await compare('draft', 2)).toEqual({ steps: [], reordered: false, notes: [], graph: [], run_setup: [] });
    await call(patch, as(), { id, graph: { ...chain('c', 'a'), output: 'done' } });
    expect(await compare(2, 'draft')).toMatchObject({ reordered: true });
  });

  test('that do not exist, or of another workspace or project, is 404', async () => {
    const { id } = await draft();
    await call(publish, as(), { id });
    for (const sides of [
      { a: 1, b: 2 },
      { a: 2, b: 'draft' },
    ]) {
      expect((await refusal(call(diffVersions, as(), { id, ...sides }))).status).toBe(404);
    }
    for (const stranger of strangers) {
      for (const a of ['draft', 1]) {
        expect((await refusal(call(diffVersions, as(stranger), { id, a, b: 1 }))).status).toBe(404);
      }
    }
  });

  test.each([0, -1, 1.5, 'latest', 2_147_483_648])('side %s is 422', async a => {
    const { id } = await draft();
    expect((await refusal(call(diffVersions, as(), { id, a, b: 'draft' }))).status).toBe(422);
  });
});
