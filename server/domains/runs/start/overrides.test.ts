import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../../operation/context.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal } from '../../../testing/workflows.ts';
import { taskOperations } from '../../tasks/operations.ts';
import { runOperations } from '../operations.ts';

const {
  workflows_execute_command: command,
  runs_get_summary: summary,
  runs_list_events: events,
  runs_rerun: rerun,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;
/** A workflow with one step of each type that needs no external service. */
let workflow: string;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  workflow = await publishGraph(service.services, tenant.owner, {
    steps: [
      { id: 'ask', type: 'human_task', instructions: 'Well?', position: { x: 0, y: 0 } },
      { id: 'script', type: 'lua_script', script: 'return input.n', retry_count: 1 },
      { id: 'check', type: 'condition', expression: 'true', depends_on: ['script'], then: ['after'] },
      { id: 'after', type: 'lua_script', script: 'return 1', depends_on: ['check'] },
    ],
  });
});
afterAll(() => service.close());

const as = (): Context => contextFor(service.services, tenant.contributor);
const start = (params: Record<string, unknown>, id = workflow) => call(command, as(), { id, command: 'start', params });
const overriding = (step: string, override: JsonMap, more: JsonMap = {}) =>
  start({ trigger_steps: Object.fromEntries([[step, override]]), ...more });
const paths = async (refused: Promise<unknown>) => {
  const { status, code, details } = await refusal(refused);
  return [status, code, ...new Set((details ?? []).map(({ path }) => path))];
};

describe('a start is refused for an override', () => {
  test.each<[string, string, JsonMap, string]>([
    ['a time limit that overflows', 'ask', { timeout_s: 1e308 }, 'ask.timeout_s'],
    ['a time limit that is an object', 'ask', { timeout_s: {} }, 'ask.timeout_s'],
    ['a time limit that is text', 'script', { timeout_s: 'x' }, 'script.timeout_s'],
    ['a time limit of 222,000 years', 'ask', { timeout_s: 7e12 }, 'ask.timeout_s'],
    ['a time limit above the longest', 'ask', { timeout_s: 86_401 }, 'ask.timeout_s'],
    ['a time limit below the shortest', 'ask', { timeout_s: 0 }, 'ask.timeout_s'],
    ['a time limit of null', 'ask', { timeout_s: null }, 'ask.timeout_s'],
    ['retries without end', 'script', { retry_count: 1e9, retry_delay_s: 0 }, 'script.retry_count'],
    ['one retry too many', 'script', { retry_count: 11 }, 'script.retry_count'],
    ['retries of a person', 'ask', { retry_count: 1 }, 'ask.retry_count'],
    ['a delay above the longest', 'script', { retry_delay_s: 60.5 }, 'script.retry_delay_s'],
    ['a switch that is not a boolean', 'after', { disabled: 'yes' }, 'after.disabled'],
    ['a field that no step has', 'ask', { 'a.b': 1 }, 'ask.a.b'],
    ['a field of another type', 'ask', { script: 'return 1' }, 'ask.script'],
    ['a script that does not compile', 'script', { script: 'return = 1' }, 'script.script'],
    ['a script that reads a later step', 'script', { script: 'return {{steps.after.result}}' }, 'script.script'],
    ['an expression that does not parse', 'check', { expression: '1 +' }, 'check.expression'],
    ['a branch to a step that is no dependent', 'check', { then: ['ask'] }, 'check.then[0]'],
    ['a malformed template', 'ask', { instructions: '{{input.' }, 'ask.instructions'],
    ['a form', 'ask', { form: { type: 'object' } }, 'ask.form'],
    ['other assignees', 'ask', { assignees: ['ann@example.com'] }, 'ask.assignees'],
  ])('with %s', async (_what, step, override, path) => {
    expect(await paths(overriding(step, override))).toEqual([422, 'invalid_input', `params.trigger_steps.${path}`]);
  });

  test('in an episode, with all problems listed', async () => {
    const trigger_steps = { after: { timeout_s: -1, script: '' }, check: { mode: 'maybe' } };
    const refused = start({ mode: 'episode', trigger_steps, seed_results: { script: 1 } });
    expect(await paths(refused)).toEqual([
      422,
      'invalid_input',
      'params.trigger_steps.check.mode',
      'params.trigger_steps.after.timeout_s',
      'params.trigger_steps.after.script',
    ]);
  });

  test('with more fields than any step has: the fields are counted but not checked', async () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f.${n}`, 1]));
    for (const count of [101, 60_000]) {
      const { details } = await refusal(overriding('ask', fields(count)));
      const message = `has ${count} fields; an override has at most 100`;
      expect(details).toEqual([{ path: 'params.trigger_steps.ask', message }]);
    }
    const { details = [] } = await refusal(overriding('ask', fields(100)));
    expect(details[0]?.path).toBe('params.trigger_steps.ask.f.0');
  });

  test('of the run setup, which is named as the source', async () => {
    const id = await publishGraph(service.services, tenant.owner, asking(), {
      trigger_steps: { ask: { name: 1, instructions: 'fine' } },
    });
    const mixed = { use_run_setup_defaults: true, trigger_steps: { ask: { retry_count: 1 } } };
    expect(await paths(start(mixed, id))).toEqual([
      422,
      'invalid_input',
      'run_setup.trigger_steps.ask.name',
      'params.trigger_steps.ask.retry_count',
    ]);
    const mended = { use_run_setup_defaults: true, trigger_steps: { ask: { name: 'Ask' } } };
    expect(await start(mended, id)).toMatchObject({ status: 'running' });
  });

  test('without creating the run', async () => {
    const run_id = newId();
    await refusal(overriding('ask', { timeout_s: 1e308 }, { run_id }));
    const { rows } = await service.db.pool.query('SELECT code FROM run_rejections WHERE run_id = $1', [run_id]);
    expect(rows).toEqual([{ code: 'invalid_input' }]);
    expect((await service.db.pool.query('SELECT FROM runs WHERE id = $1', [run_id])).rowCount).toBe(0);
  });
});

test.each<[string, string, JsonMap]>([
  ['the shortest time limit', 'script', { timeout_s: 1 }],
  ['the longest time limit', 'script', { timeout_s: 86_400 }],
  ['the maximum number of retries', 'script', { retry_count: 10, retry_delay_s: 60 }],
  ['no retry, at once', 'script', { retry_count: 0, retry_delay_s: 0 }],
  ['fields that a run cannot change', 'ask', { id: 5, type: null, depends_on: { no: 1 } }],
  ['a validation in the place of a branch', 'check', { mode: 'validate' }],
  ['a template in a text', 'ask', { name: 'For {{input.who ?? "all"}}', instructions: '{{input}}' }],
  ['a script that reads an earlier step', 'after', { script: 'return {{steps.check.result}}' }],
])('a start is accepted with %s', async (_what, step, override) => {
  expect(await overriding(step, override)).toMatchObject({ status: 'running' });
});

describe('overrides that were stored before overrides were checked', () => {
  const startStored = async (override: JsonMap, id: string) => {
    const { tenantId, projectId, email } = tenant.contributor;
    const runId = newId();
    const data = {
      version: 1,
      input: {},
      mode: 'normal' as const,
      trigger_type: 'api',
      trigger_steps: { ask: override },
      seed_results: {},
      session_id: runId,
      started_by: email,
    };
    await service.services.orchestrator.start({ runId, tenantId, projectId, workflowId: id, data });
    return runId;
  };

  test.each<[string, JsonMap, number | null]>([
    ['overflows', { timeout_s: 1e308 }, 1_440],
    ['is of 222,000 years', { timeout_s: 7e12 }, 1_440],
    ['is text', { timeout_s: 'x' } as JsonMap, null],
    ['is an object', { timeout_s: {} }, null],
    ['is negative', { timeout_s: -5 }, null],
  ])('are bounded in the run, and refused by a rerun: a time limit that %s', async (_what, override, minutes) => {
    const id = await publishGraph(service.services, tenant.owner, asking());
    const old = await startStored(override, id);
    const ref = { id, runID: old };
    expect(await paths(call(rerun, as(), ref))).toEqual([422, 'invalid_input', 'trigger_steps.ask.timeout_s']);
    await reached(service.services, tenant.owner, ref, 'blocked');
    const { events: log } = await call(events, as(), ref);
    const asked = log.find(event => event.event_type === 'task_pending');
    const due = asked?.data.due_at;
    // The task is created a few ms after the attempt started, and its time counts from the start of the attempt.
    const waits = typeof due === 'string' ? Date.parse(due) - Date.parse(asked?.created_at ?? '') : null;
    expect(waits && Math.ceil(waits / 60_000)).toBe(minutes);
    expect((await call(summary, as(), ref)).status).toBe('running');
  });

  test.each(["'infinity'", "'-infinity'", "'200000-01-01'", "'294000-01-01'"])(
    'do not break the inbox: a task that is due at %s is listed',
    async due => {
      const id = await publishGraph(service.services, tenant.owner, asking());
      const { run_id } = await start({}, id);
      await reached(service.services, tenant.owner, { id, runID: run_id }, 'blocked');
      await service.db.pool.query(`UPDATE human_tasks SET due_at = ${due} WHERE run_id = $1`, [run_id]);
      const { tasks_list_pending: list } = operationsByName(taskOperations);
      const { tasks } = await call(list, as(), { workflow_id: id, limit: 10 });
      expect(tasks).toMatchObject([
        { run_id, due_at: due === "'-infinity'" ? '0000-01-01T00:00:00.000Z' : '9999-12-31T23:59:59.999Z' },
      ]);
    },
  );
});
