import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../../api/operations.ts';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { reached } from '../../../testing/runs.ts';
import { createTestProject } from '../../../testing/workflows.ts';

type Step = { id: string; type: string; [field: string]: unknown };
type Ref = { id: string; runID: string };
type Link = { run_id: string; workflow_id: string };
type Summary = {
  status: string;
  output: unknown;
  error: { code: string; message: string } | null;
  started_by: string;
  parent: (Link & { step_id: string }) | null;
  steps: { step_id: string; status: string; child_run: Link | null }[];
};

let service: TestContainer;
let acme: TestTenant;
let globex: TestTenant;
let call: ReturnType<typeof createCall<typeof operations>>;

beforeAll(async () => {
  service = await startTestContainer({ BATON_SHUTDOWN_GRACE_S: '0' });
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  globex = await createTestTenant(service.container.services, { slug: 'globex' });
  call = createCall(service.container.services, operations);
});
afterAll(() => service.close());

type Name = (typeof operations)[number]['name'];
const callOperation = <T>(name: Name, input: object, as = acme.contributor) => call(as, name, input) as Promise<T>;

async function publish(steps: Step[], graph: object = {}, as = acme.contributor): Promise<string> {
  const { id } = await callOperation<{ id: string }>(
    'workflows_create',
    { name: `W ${newId()}`, graph: { steps, ...graph } },
    as,
  );
  await callOperation('workflows_publish_version', { id }, as);
  return id;
}
async function start(id: string, input: object = {}, as = acme.contributor): Promise<Ref> {
  const params = { trigger_payload: input };
  const { run_id } = await callOperation<{ run_id: string }>(
    'workflows_execute_command',
    { id, command: 'start', params },
    as,
  );
  return { id, runID: run_id };
}
const until = (ref: Ref, ...phases: 'blocked'[]) => reached(service.container.services, acme.owner, ref, ...phases);
const summaryOf = (ref: Ref) => callOperation<Summary>('runs_get_summary', ref);
async function run(id: string, input: object = {}): Promise<Summary> {
  const ref = await start(id, input);
  await until(ref);
  return summaryOf(ref);
}
const lua = (script: string, more: object = {}): Step => ({ id: 'only', type: 'lua_script', script, ...more });
const calls = (workflow_id: string, more: object = {}): Step => ({
  id: 'call',
  type: 'call_workflow',
  workflow_id,
  ...more,
});
const problemsOf = async (id: string, ...steps: Step[]) => {
  const input = { id, graph: { steps } };
  const { errors } = await callOperation<{ errors: { path: string; code: string }[] }>('workflows_validate', input);
  return errors.map(({ path, code }) => `${path}: ${code}`);
};

describe('call_workflow', () => {
  test('takes the output of the called run as its result', async () => {
    const child = await publish([lua('return {double = input.n * 2}')], {
      output: { got: '{{steps.only.result.double}}' },
    });
    const parent = await publish([
      { id: 'number', type: 'lua_script', script: 'return input.n + 1' },
      calls(child, { depends_on: ['number'], input: { n: '{{steps.number.result}}' } }),
    ]);
    expect(await run(parent, { n: 20 })).toMatchObject({ status: 'completed', output: { got: 42 } });
  });

  test('calls a workflow for each item of a loop', async () => {
    const child = await publish([lua('return input.n * 2')]);
    const steps = [calls(child, { input: { n: '{{item}}' } })];
    const parent = await publish([{ id: 'each', type: 'for_each', items: '{{input.list}}', steps, concurrency: 3 }]);
    const { output } = await run(parent, { list: [1, 2, 3, 4, 5] });
    expect(output).toEqual({ results: [2, 4, 6, 8, 10], failed: 0 });
  });

  test('starts the latest version when the step starts, or the one that it names', async () => {
    const child = await publish([lua('return 1')]);
    const latest = await publish([calls(child)]);
    const first = await publish([calls(child, { version: 1 })]);
    const graph = { steps: [lua('return 2')] };
    await callOperation('workflows_patch', { id: child, graph });
    await callOperation('workflows_publish_version', { id: child });
    expect([(await run(latest)).output, (await run(first)).output]).toEqual([2, 1]);
  });

  test('links both runs, of the same starter, and returns the id of one that it does not wait for', async () => {
    const child = await publish([{ id: 'ask', type: 'human_task' }]);
    const parent = await publish([calls(child, { detach: true })]);
    const ref = await start(parent);
    await until(ref);
    const { output, steps, started_by, parent: none } = await summaryOf(ref);
    const { run_id: runID } = output as Link;
    expect(none).toBe(null);
    expect(steps).toMatchObject([{ child_run: { run_id: runID, workflow_id: child } }]);
    expect(await summaryOf({ id: child, runID })).toMatchObject({
      status: 'running',
      started_by,
      parent: { run_id: ref.runID, workflow_id: parent, step_id: 'call' },
    });
    const snapshot = await callOperation<Pick<Summary, 'parent' | 'steps'>>('runs_get_snapshot', ref);
    expect(snapshot).toMatchObject({ parent: null, steps: [{ child_run: { run_id: runID, workflow_id: child } }] });
    const ofChild = await callOperation<Pick<Summary, 'parent'>>('runs_get_snapshot', { id: child, runID });
    expect(ofChild.parent).toEqual({ run_id: ref.runID, workflow_id: parent, step_id: 'call' });
  });

  test('fails with the failure of the called run, which on_error and retries handle', async () => {
    const child = await publish([lua('error("no")')]);
    const failed = await run(await publish([calls(child)]));
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'child_run_failed' } });
    expect(failed.error?.message).toContain(failed.steps[0]?.child_run?.run_id);
    const after = { id: 'after', type: 'lua_script', depends_on: ['call'], script: 'return steps.call.error.code' };
    const handled = await run(await publish([calls(child, { on_error: 'continue' }), after]));
    expect(handled.output).toBe('child_run_failed');
  });

  test.each([
    ['an input that does not fit', { n: 'x' }, 'invalid_input'],
    ['a workflow that the project does not have', { id: newId() }, 'workflow_not_found'],
    ['what is no id', { id: 'x' }, 'invalid_step'],
  ])('fails for %s', async (_, input, code) => {
    const input_schema = { type: 'object', properties: { n: { type: 'number' } } };
    const child = await publish([lua('return 1')], { input_schema });
    const parent = await publish([calls('{{input.id}}', { input: { n: '{{input.n}}' } })]);
    expect((await run(parent, { id: child, n: 1, ...input })).error?.code).toBe(code);
  });

  test('treats workflows of another tenant or project as if they did not exist', async () => {
    const { contributor } = await createTestProject(service.container.services, acme, 'elsewhere');
    const parent = await publish([calls('{{input.id}}')]);
    for (const by of [globex.contributor, contributor]) {
      const foreign = await publish([lua('return 1')], {}, by);
      const unknown = newId();
      for (const id of [foreign, unknown]) {
        const { error } = await run(parent, { id });
        const message = `The project has no workflow ${id}.`;
        expect(error).toEqual({ code: 'workflow_not_found', message, step_id: 'call' });
        expect(await problemsOf(parent, calls(id, { version: 1 }))).toEqual(['workflow_id: workflow_unknown']);
      }
    }
  });

  test('does not start an archived workflow, one without a version, or a version that does not exist', async () => {
    const parent = await publish([calls('{{input.id}}')]);
    const gone = await publish([lua('return 1')]);
    const fixed = await publish([calls(gone, { version: 2 })]).catch(() => null);
    expect(fixed).toBe(null);
    await callOperation('workflows_archive', { id: gone });
    expect((await run(parent, { id: gone })).error?.code).toBe('workflow_archived');
    expect(await problemsOf(parent, calls(gone))).toEqual(['workflow_id: workflow_archived']);
    const { id: draft } = await callOperation<{ id: string }>('workflows_create', {
      name: `W ${newId()}`,
      graph: { steps: [lua('return 1')] },
    });
    expect((await run(parent, { id: draft })).error?.code).toBe('no_published_version');
    const later = await publish([calls('{{input.id}}', { version: 2 })]);
    expect((await run(later, { id: await publish([lua('return 1')]) })).error?.code).toBe('version_not_found');
  });

  test('allows eight nested calls, and refuses a ninth', async () => {
    const deeper = { id: '{{input.id}}', left: '{{steps.left.result}}' };
    const id = await publish([
      { id: 'left', type: 'lua_script', script: 'return input.left - 1' },
      { id: 'more', type: 'condition', expression: 'input.left > 0', then: ['call'], depends_on: ['left'] },
      calls('{{input.id}}', { depends_on: ['more'], input: deeper }),
    ]);
    expect(await run(id, { id, left: 8 })).toMatchObject({ status: 'completed' });
    const { status, error } = await run(id, { id, left: 9 });
    expect([status, error]).toMatchObject(['failed', { code: 'child_run_failed' }]);
    // Each run quotes the failure of the one that it called.
    expect(error?.message).toContain('calls_too_deep');
  });

  test('a token cannot cause a call of a workflow whose steps it may not start', async () => {
    const child = await publish([
      { id: 'ask', type: 'http_request', url: 'https://example.com', disabled: true },
      { id: 'only', type: 'lua_script', script: 'return 1' },
    ]);
    const parent = await publish([calls(child)]);
    const { services } = service.container;
    const { principal } = await createTestPat(services, acme.contributor, ['workflow:run']);
    const ref = await start(parent, {}, principal);
    await until(ref);
    expect((await summaryOf(ref)).error?.code).toBe('insufficient_scope');
    expect((await run(parent)).status).toBe('completed');
  });
});

describe('validate', () => {
  test('finds a workflow that calls itself, directly and through others', async () => {
    const first = await publish([lua('return 1')]);
    const second = await publish([calls(first)]);
    const third = await publish([calls(second)]);
    expect(await problemsOf(first, calls(first))).toEqual(['workflow_id: workflow_cycle']);
    expect(await problemsOf(first, calls(third))).toEqual(['workflow_id: workflow_cycle']);
    const inLoop = { id: 'each', type: 'for_each', items: '[1]', steps: [calls(third)] };
    expect(await problemsOf(first, inLoop)).toEqual(['steps[0].workflow_id: workflow_cycle']);
    expect(await problemsOf(first, calls('{{input.id}}'))).toEqual([]);
    const { id } = await callOperation<{ id: string }>('workflows_create', {
      name: `W ${newId()}`,
      graph: { steps: [calls(third)] },
    });
    await callOperation('workflows_publish_version', { id });
  });

  test('finds a workflow that calls itself through two versions of another one', async () => {
    const own = await publish([lua('return 1')]);
    const other = await publish([lua('return 1')]);
    const between = await publish([calls(other)]);
    // Version 1 of the other workflow calls nothing; its latest version calls the first workflow.
    await callOperation('workflows_patch', { id: other, graph: { steps: [calls(own)] } });
    await callOperation('workflows_publish_version', { id: other });
    const both = [calls(other, { version: 1 }), { ...calls(other), id: 'latest' }];
    const through = await publish(both);
    expect(await problemsOf(own, calls(through))).toEqual(['workflow_id: workflow_cycle']);
    expect(await problemsOf(own, calls(between))).toEqual(['workflow_id: workflow_cycle']);
    expect(await problemsOf(own, calls(other, { version: 1 }))).toEqual([]);
  });

  test('reports what is wrong with the called workflow', async () => {
    const { id: draft } = await callOperation<{ id: string }>('workflows_create', {
      name: `W ${newId()}`,
      graph: { steps: [lua('return 1')] },
    });
    const own = await publish([lua('return 1')]);
    const other = await publish([lua('return 1')]);
    expect(await problemsOf(own, calls('x'))).toEqual(['workflow_id: workflow_unknown']);
    expect(await problemsOf(own, calls(newId()))).toEqual(['workflow_id: workflow_unknown']);
    expect(await problemsOf(own, calls(draft))).toEqual(['workflow_id: workflow_unpublished']);
    expect(await problemsOf(own, calls(other, { version: 7 }))).toEqual(['version: version_unknown']);
    expect(await problemsOf(own, calls(other, { input: '{{input.x}}' }))).toEqual(['input: invalid_field']);
    expect(await problemsOf(own, calls(other, { disabled: true, version: 7 }))).toEqual([]);
  });
});
