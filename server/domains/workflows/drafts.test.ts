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
  insertRun,
  refusal,
} from '../../testing/workflows.ts';
import { checksum } from './checksum.ts';
import { workflowOperations } from './operations.ts';

const {
  workflows_list: list,
  workflows_create: create,
  workflows_get: get,
  workflows_patch: patch,
  workflows_archive: archive,
  workflows_validate: validate,
} = operationsByName(workflowOperations);

let db: TestDatabase;
let clock: ManualClock;
let services: Services;
let close: () => Promise<void>;
let tenant: TestTenant;
let other: TestTenant;
let project: Awaited<ReturnType<typeof createTestProject>>;

beforeAll(async () => {
  db = await createTestDatabase();
  clock = new ManualClock();
  ({ services, close } = createServicesWithSteps(db, { clock }));
  tenant = await createTestTenant(services, { slug: 'acme' });
  other = await createTestTenant(services, { slug: 'rival' });
  project = await createTestProject(services, tenant, 'second');
});
afterAll(async () => {
  await close();
  await db.close();
});

const as = (principal = tenant.contributor, headers: Record<string, string> = {}) =>
  contextFor(services, principal, { headers: new Map(Object.entries(headers)) });
const draft = (input: Record<string, unknown> = {}) => call(create, as(), { name: 'Nightly', ...input });

describe('creating', () => {
  test('returns the id and type of a step first and then its other fields, and the fields of an input in their original order', async () => {
    const graph = { steps: [{ id: 'zz', type: 'lua_script', script: 'return 1', name: 'b', depends_on: [] }] };
    const run_setup = { trigger_payload: { zebra: 1, ant: 2, middle: { z: 1, a: 2 } } };
    const { id } = await draft({ graph, run_setup });
    const read = await call(get, as(), { id });
    expect(JSON.stringify([read.graph, read.run_setup])).toBe(JSON.stringify([graph, run_setup]));
    const changed = { steps: [{ id: 'zz', type: 'lua_script', timeout_s: 5, script: 'return 2', name: 'a' }] };
    await call(patch, as(), { id, graph: changed });
    expect(JSON.stringify((await call(get, as(), { id })).graph)).toBe(JSON.stringify(changed));
  });

  test('creates a draft with all given fields, and an ETag', async () => {
    const ctx = as();
    const graph = chain('a', 'b');
    const made = await call(create, ctx, {
      name: ' Nightly ',
      description: 'Runs at night',
      graph,
      run_setup: { use_as_default: true },
    });
    expect(made).toMatchObject({
      name: 'Nightly',
      description: 'Runs at night',
      tenant_id: 'acme',
      project_id: tenant.projectId,
      status: 'draft',
      latest_version: null,
      graph,
      run_setup: { use_as_default: true },
      graph_checksum: checksum(graph),
      etag: '"1"',
      created_at: '2026-01-01T00:00:00.000Z',
    });
    expect(ctx.responseHeaders.get('ETag')).toBe('"1"');
    expect(await call(get, as(tenant.viewer), { id: made.id })).toEqual(made);
  });

  test('accepts an incomplete graph, or none', async () => {
    expect((await draft()).graph).toEqual({ steps: [] });
    const incomplete = { steps: [{ id: 'a', type: 'lua_script', depends_on: ['missing'] }] };
    expect((await draft({ graph: incomplete })).graph).toEqual(incomplete);
  });

  test('a name has 1 to 200 characters', async () => {
    expect((await draft({ name: 'x'.repeat(200) })).name).toHaveLength(200);
    for (const name of ['', '   ', 'x'.repeat(201), 'nul\0', '\ud800'])
      expect((await refusal(draft({ name }))).status).toBe(422);
  });

  test.each([
    ['is no object', 7],
    ['has no steps', {}],
    ['has steps that are none', { steps: [1] }],
    ['has a step without a type', { steps: [{ id: 'a' }] }],
    ['has an unknown field', { steps: [], edges: [] }],
    ['holds a NUL', { steps: [{ id: 'a', type: 'lua_script', script: 'return "\0"' }] }],
    ['holds half a surrogate pair', { steps: [{ id: 'a', type: 'lua_script', script: '\ud800' }] }],
  ])('a graph that %s is 422', async (_what, graph) => {
    expect((await refusal(draft({ graph }))).status).toBe(422);
  });

  test('a misspelt field is 422, and is not dropped silently', async () => {
    expect((await refusal(draft({ grph: {} }))).status).toBe(422);
  });

  test('nesting that would break the database is 422', async () => {
    let deep: unknown = 1;
    for (let n = 0; n < 5000; n++) deep = [deep];
    const graph = { steps: [{ id: 'a', type: 'mcp_call', tool_args: { deep } }] };
    expect((await refusal(draft({ graph }))).status).toBe(422);
  });
});

describe('changing', () => {
  test('changes only the given fields, and changes the ETag', async () => {
    const made = await draft({ description: 'before', graph: chain('a') });
    clock.advance(1000);
    const changed = await call(patch, as(), { id: made.id, description: 'after' });
    expect(changed).toMatchObject({ name: 'Nightly', description: 'after', graph: made.graph, etag: '"2"' });
    expect(changed.updated_at > made.updated_at).toBe(true);
    const graph = chain('a', 'b');
    expect(await call(patch, as(), { id: made.id, graph })).toMatchObject({ graph, graph_checksum: checksum(graph) });
    const setup = { trigger_payload: { a: 1 }, trigger_steps: { a: { script: 'return 1' } } };
    expect((await call(patch, as(), { id: made.id, run_setup: setup })).run_setup).toEqual(setup);
  });

  test('keeps inputs under different names', async () => {
    const { id } = await draft();
    const saved_inputs = ['Small', 'Large'].map(name => ({ name, input: { name } }));
    expect((await call(patch, as(), { id, run_setup: { saved_inputs } })).run_setup).toEqual({ saved_inputs });
    const twice = { saved_inputs: [...saved_inputs, { name: ' Small ', input: {} }] };
    expect((await refusal(call(patch, as(), { id, run_setup: twice }))).status).toBe(422);
    const tooMany = { saved_inputs: Array.from({ length: 51 }, (_, n) => ({ name: `${n}`, input: {} })) };
    expect((await refusal(call(patch, as(), { id, run_setup: tooMany }))).status).toBe(422);
  });

  test('an empty change changes nothing', async () => {
    const made = await draft();
    expect(await call(patch, as(), { id: made.id })).toEqual(made);
  });

  test('If-Match accepts the current ETag or *, and refuses every other value with 412', async () => {
    const { id } = await draft();
    const rename = (etag: string) =>
      call(patch, as(tenant.contributor, { 'if-match': etag }), { id, name: `for ${etag}` });
    expect((await rename('"1"')).etag).toBe('"2"');
    expect((await rename('*')).etag).toBe('"3"');
    for (const stale of ['"1"', '"2"', '"4"', 'W/"3"', '"other"']) {
      const error = await refusal(rename(stale));
      expect([error.status, error.code]).toEqual([412, 'etag_mismatch']);
    }
    expect((await refusal(rename('3'))).status).toBe(422);
    expect((await call(get, as(), { id })).etag).toBe('"3"');
  });

  test('one of many editors with the same ETag succeeds', async () => {
    const { id } = await draft();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) =>
        call(patch, as(tenant.contributor, { 'if-match': '"1"' }), { id, name: `editor ${n}` }),
      ),
    );
    const won = outcomes.filter(outcome => outcome.status === 'fulfilled');
    expect(won).toHaveLength(1);
    const now = await call(get, as(), { id });
    expect([now.etag, now.name]).toEqual(['"2"', won[0]?.value.name]);
  });
});

describe('archiving', () => {
  test('is permanent, and succeeds again without effect', async () => {
    const { id } = await draft();
    await call(archive, as(), { id });
    const archived = await call(get, as(), { id });
    clock.advance(1000);
    await call(archive, as(), { id });
    expect(await call(get, as(), { id })).toEqual(archived);
    expect(archived.status).toBe('archived');
    const error = await refusal(call(patch, as(), { id, name: 'again' }));
    expect([error.status, error.code]).toEqual([409, 'workflow_archived']);
  });
});

describe('validating', () => {
  test('reports on the draft, or on the given graph, and saves nothing', async () => {
    const made = await draft({
      graph: { steps: [{ id: 'a', type: 'lua_script', script: 'return (', depends_on: ['b'] }] },
    });
    const report = await call(validate, as(), { id: made.id });
    expect(report.valid).toBe(false);
    expect(report.errors.map(problem => problem.step_id)).toContain('a');
    expect(await call(validate, as(), { id: made.id, graph: chain('a') })).toMatchObject({ valid: true, errors: [] });
    expect(await call(get, as(), { id: made.id })).toEqual(made);
  });
});

test('a run setup whose overrides have more fields than any step has cannot be published', async () => {
  const fields = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, 1]));
  const { id } = await draft({ graph: chain('a'), run_setup: { trigger_steps: { a: fields } } });
  const { valid, errors } = await call(validate, as(), { id });
  expect([valid, errors.map(({ code, path }) => [code, path])]).toEqual([
    false,
    [['too_many_fields', 'run_setup.trigger_steps.a']],
  ]);
});

describe('another tenant, and another project of the same tenant', () => {
  test('get 404 from every operation, and change nothing', async () => {
    const made = await draft();
    for (const principal of [other.owner, project.contributor]) {
      const tries = [
        call(get, as(principal), { id: made.id }),
        call(patch, as(principal), { id: made.id, name: 'theirs' }),
        call(patch, as(principal), { id: made.id }),
        call(archive, as(principal), { id: made.id }),
        call(validate, as(principal), { id: made.id }),
      ];
      for (const error of await Promise.all(tries.map(refusal))) expect(error.status).toBe(404);
    }
    expect(await call(get, as(), { id: made.id })).toEqual(made);
    expect((await refusal(call(get, as(), { id: newId() }))).status).toBe(404);
    expect((await refusal(call(get, as(), { id: 'not-an-id' }))).status).toBe(422);
  });
});

describe('the list', () => {
  test('shows each workflow once, newest first, while new ones are created', async () => {
    const reader = as(project.contributor);
    const made: string[] = [];
    for (let n = 0; n < 11; n++) {
      if (n % 3 === 0) clock.advance(1000);
      made.push((await call(create, reader, { name: `w${n}` })).id);
    }
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await call(list, reader, { limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.workflows.map(workflow => workflow.id));
      cursor = page.next_cursor;
      clock.advance(1000);
      await call(create, reader, { name: 'meanwhile' });
    }
    expect(seen).toEqual([...made].reverse());
  });

  test('filters by status and text, and omits archived workflows by default', async () => {
    const plain = await draft({ name: 'Orders 100%_done' });
    const gone = await draft({ name: 'orders of old' });
    await call(archive, as(), { id: gone.id });
    const ids = async (input: Record<string, unknown>) =>
      (await call(list, as(tenant.viewer), input)).workflows.map(workflow => workflow.id);
    expect(await ids({ q: 'ORDERS' })).toEqual([plain.id]);
    expect(await ids({ q: 'orders', status: 'archived' })).toEqual([gone.id]);
    expect(await ids({ q: 'orders', status: 'published' })).toEqual([]);
    expect(await ids({ q: '100%_d' })).toEqual([plain.id]);
    expect(await ids({ q: '100__d' })).toEqual([]);
    expect(await ids({ q: plain.id.toUpperCase() })).toEqual([plain.id]);
    expect((await refusal(call(list, as(), { status: 'gone' }))).status).toBe(422);
  });

  test('omits graphs and run setups unless they are requested', async () => {
    const { id } = await draft({
      name: 'Large',
      graph: chain('a', 'b', 'c'),
      run_setup: { trigger_payload: { x: 1 } },
    });
    const [whole] = (await call(list, as(tenant.viewer), { q: id })).workflows;
    const [light] = (await call(list, as(tenant.viewer), { q: id, graphs: false })).workflows;
    expect(whole).toMatchObject({
      graph: chain('a', 'b', 'c'),
      run_setup: { trigger_payload: { x: 1 } },
      steps_total: 3,
    });
    const { graph: _, run_setup: __, ...rest } = whole ?? {};
    expect(light).toEqual(rest);
  });

  test('shows the outcome of the last 20 runs, newest first', async () => {
    const made = await draft({ name: 'With runs', graph: chain('a', 'b') });
    const run = (n: number) =>
      insertRun(services, {
        tenantId: tenant.tenantId,
        projectId: tenant.projectId,
        workflowId: made.id,
        status: n % 2 ? 'failed' : 'completed',
        startedAt: new Date(Date.UTC(2026, 5, 1, 0, 0, 0, n)),
      });
    const runs: string[] = [];
    for (let n = 0; n < 23; n++) runs.push(await run(n));
    const { workflows } = await call(list, as(tenant.viewer), { q: 'With runs' });
    expect(workflows[0]?.steps_total).toBe(2);
    expect(workflows[0]?.recent_runs.map(recent => recent.run_id)).toEqual(runs.reverse().slice(0, 20));
    expect(workflows[0]?.recent_runs[1]).toMatchObject({ status: 'failed', started_at: '2026-06-01T00:00:00.021Z' });
  });

  test('shows that a run waits for people', async () => {
    const made = await draft({ name: 'With a person', graph: chain('a') });
    const { tenantId, projectId } = tenant;
    const id = await insertRun(services, { tenantId, projectId, workflowId: made.id, status: 'running' });
    await services.pool.query("UPDATE runs SET orchestration_phase = 'blocked', pending_tasks = 2 WHERE id = $1", [id]);
    const { workflows } = await call(list, as(tenant.viewer), { q: 'With a person' });
    const [recent] = workflows[0]?.recent_runs ?? [];
    expect(recent).toMatchObject({ status: 'running', orchestration_phase: 'blocked', pending_tasks: 2 });
  });
});
