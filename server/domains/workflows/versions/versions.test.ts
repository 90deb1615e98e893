import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
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

const {
  workflows_create: create,
  workflows_get: get,
  workflows_list: listWorkflows,
  workflows_patch: patch,
  workflows_archive: archive,
  workflows_validate: validate,
  workflows_publish_version: publish,
  workflows_list_versions: list,
  workflows_get_version: getVersion,
  workflows_restore_version: restore,
} = operationsByName(workflowOperations);

let db: TestDatabase;
let services: Services;
let close: () => Promise<void>;
let tenant: TestTenant;
let strangers: TestTenant['owner'][];

beforeAll(async () => {
  db = await createTestDatabase();
  ({ services, close } = createServicesWithSteps(db));
  tenant = await createTestTenant(services, { slug: 'acme' });
  const other = await createTestTenant(services, { slug: 'rival' });
  const project = await createTestProject(services, tenant, 'second');
  strangers = [other.owner, project.contributor];
});
afterAll(async () => {
  await close();
  await db.close();
});

const as = (principal = tenant.contributor, headers: Record<string, string> = {}) =>
  contextFor(services, principal, { headers: new Map(Object.entries(headers)) });
const draft = (graph: unknown = chain('a', 'b')) =>
  call(create, as(), { name: 'Nightly', graph, run_setup: { trigger_payload: { a: 1 } } });

describe('publishing', () => {
  test('copies graph and run setup to version 1, and sets the status of the workflow to published', async () => {
    const made = await draft();
    const version = await call(publish, as(), { id: made.id, changelog: 'First' });
    expect(version).toMatchObject({
      version: 1,
      workflow_id: made.id,
      changelog: 'First',
      graph_snapshot: made.graph,
      run_setup: made.run_setup,
      graph_checksum: made.graph_checksum,
      published_by: tenant.contributor.email,
    });
    expect(await call(get, as(), { id: made.id })).toMatchObject({
      status: 'published',
      latest_version: 1,
      etag: made.etag,
    });
    await call(patch, as(), { id: made.id, graph: chain('z'), run_setup: {} });
    expect(await call(getVersion, as(tenant.viewer), { id: made.id, version: 1 })).toEqual(version);
  });

  test('shows in the list that the graph has changed since, until it is restored', async () => {
    const made = await draft();
    const unpublished = async () => {
      const { workflows } = await call(listWorkflows, as(tenant.viewer), { q: made.id });
      return workflows.map(workflow => workflow.unpublished_changes);
    };
    expect(await unpublished()).toEqual([false]);
    await call(publish, as(), { id: made.id });
    expect(await unpublished()).toEqual([false]);
    await call(patch, as(), { id: made.id, graph: chain('z') });
    expect(await unpublished()).toEqual([true]);
    await call(patch, as(), { id: made.id, graph: made.graph, run_setup: {} });
    expect(await unpublished()).toEqual([false]);
  });

  test('a run setup whose overrides do not fit their steps is 422; an override of an unknown step is a warning', async () => {
    const made = await draft();
    const setup = (a: object) => ({ trigger_steps: { a, later: { timeout_s: 'x' } } });
    const problem = { step_id: 'a', path: 'run_setup.trigger_steps.a.timeout_s', code: 'invalid_field' };
    const warning = { step_id: null, path: 'run_setup.trigger_steps.later', code: 'unknown_step' };
    await call(patch, as(), { id: made.id, run_setup: setup({ timeout_s: 1e308 }) });
    expect(await call(validate, as(), { id: made.id })).toMatchObject({
      valid: false,
      errors: [problem, problem],
      warnings: [warning],
    });
    const error = await refusal(call(publish, as(), { id: made.id }));
    expect([error.status, error.code, error.details?.[0]]).toMatchObject([422, 'invalid_graph', problem]);
    await call(patch, as(), { id: made.id, run_setup: setup({ timeout_s: 86_400, script: 'return 2' }) });
    expect(await call(validate, as(), { id: made.id })).toMatchObject({ valid: true, errors: [], warnings: [warning] });
    expect(await call(publish, as(), { id: made.id })).toMatchObject({ version: 1 });
  });

  test('an invalid graph is 422 with every problem and its place', async () => {
    const made = await draft({
      steps: [
        { id: 'a', type: 'lua_script', script: 'return (' },
        { id: 'b', type: 'nonsense' },
      ],
    });
    const error = await refusal(call(publish, as(), { id: made.id }));
    expect([error.status, error.code]).toEqual([422, 'invalid_graph']);
    expect(new Set(error.details?.map(detail => detail.step_id))).toEqual(new Set(['a', 'b']));
    for (const detail of error.details ?? [])
      expect(detail).toMatchObject({ path: expect.any(String), message: expect.any(String), code: expect.any(String) });
    expect(await call(get, as(), { id: made.id })).toMatchObject({ status: 'draft', latest_version: null });
  });

  test('concurrently gives different numbers without a gap', async () => {
    const { id } = await draft();
    const versions = await Promise.all(Array.from({ length: 10 }, () => call(publish, as(), { id })));
    expect(versions.map(version => version.version).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect((await call(get, as(), { id })).latest_version).toBe(10);
  });

  test('while the draft changes publishes only a draft that was validated', async () => {
    const { id } = await draft();
    const broken = { steps: [{ id: 'a', type: 'lua_script', script: 'return (' }] };
    const [outcome] = await Promise.allSettled([call(publish, as(), { id }), call(patch, as(), { id, graph: broken })]);
    const { versions } = await call(list, as(), { id });
    expect(versions).toHaveLength(outcome.status === 'fulfilled' ? 1 : 0);
    for (const version of versions) expect(version.graph_snapshot).toEqual(chain('a', 'b'));
  });

  test('a changelog has at most 2,000 characters', async () => {
    const { id } = await draft();
    expect((await call(publish, as(), { id, changelog: 'x'.repeat(2000) })).changelog).toHaveLength(2000);
    expect((await refusal(call(publish, as(), { id, changelog: 'x'.repeat(2001) }))).status).toBe(422);
  });

  test('an archived workflow is 409', async () => {
    const { id } = await draft();
    await call(archive, as(), { id });
    const error = await refusal(call(publish, as(), { id }));
    expect([error.status, error.code]).toEqual([409, 'workflow_archived']);
  });
});

describe('versions', () => {
  test('are listed newest first, page by page', async () => {
    const { id } = await draft();
    for (let n = 0; n < 5; n++) await call(publish, as(), { id, changelog: `v${n + 1}` });
    const first = await call(list, as(tenant.viewer), { id, limit: 2 });
    await call(publish, as(), { id });
    const second = await call(list, as(tenant.viewer), { id, limit: 3, cursor: first.next_cursor });
    expect([...first.versions, ...second.versions].map(version => version.version)).toEqual([5, 4, 3, 2, 1]);
    expect(second.next_cursor).toBeNull();
  });

  test('that do not exist are 404, and a value that is no number is 422', async () => {
    const { id } = await draft();
    for (const version of [1, -1]) {
      expect((await refusal(call(getVersion, as(), { id, version }))).status).toBe(404);
    }
    expect((await refusal(call(restore, as(), { id, version: -1 }))).status).toBe(422);
    for (const version of [0, 1.5, 'x', 2_147_483_648]) {
      expect((await refusal(call(getVersion, as(), { id, version }))).status).toBe(422);
    }
  });

  test('are 404 to another tenant and another project', async () => {
    const { id } = await draft();
    await call(publish, as(), { id });
    for (const principal of strangers) {
      const tries = [
        call(publish, as(principal), { id }),
        call(list, as(principal), { id }),
        call(getVersion, as(principal), { id, version: 1 }),
        call(restore, as(principal), { id, version: 1 }),
      ];
      for (const error of await Promise.all(tries.map(refusal))) expect(error.status).toBe(404);
    }
  });
});

describe('restoring', () => {
  test('copies the graph of a version to a new revision', async () => {
    const made = await draft();
    await call(publish, as(), { id: made.id });
    const changed = await call(patch, as(), { id: made.id, name: 'New name', graph: chain('z'), run_setup: {} });
    const ctx = as(tenant.contributor, { 'if-match': changed.etag });
    const restored = await call(restore, ctx, { id: made.id, version: 1 });
    expect(restored).toMatchObject({
      name: 'New name',
      run_setup: {},
      graph: made.graph,
      graph_checksum: made.graph_checksum,
      etag: '"3"',
    });
    expect(ctx.responseHeaders.get('ETag')).toBe('"3"');
    expect((await refusal(call(restore, ctx, { id: made.id, version: 1 }))).status).toBe(412);
    expect((await refusal(call(restore, as(), { id: made.id, version: 2 }))).status).toBe(404);
    await call(archive, as(), { id: made.id });
    expect((await refusal(call(restore, as(), { id: made.id, version: 1 }))).status).toBe(409);
  });
});
