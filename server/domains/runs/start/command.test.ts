import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context, Principal } from '../../../operation/context.ts';
import type { StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, createTestProject, refusal } from '../../../testing/workflows.ts';
import { archiveWorkflow } from '../../workflows/queries.ts';
import { runOperations } from '../operations.ts';
import { MAX_INPUT_BYTES } from './refuse.ts';

const {
  workflows_execute_command: command,
  runs_get_summary: summary,
  runs_list_events: events,
  runs_get_context: context,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;
let strangers: Principal[];
/** A workflow that waits for a person, so that the state of its runs does not change. */
let waiting: string;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  const other = await createTestTenant(service.services, { slug: 'rival' });
  strangers = [other.owner, (await createTestProject(service.services, tenant, 'second')).contributor];
  waiting = await publishGraph(service.services, tenant.owner, asking(), {
    trigger_payload: { region: 'eu', limits: { max: 10, min: 1 } },
    trigger_steps: { ask: { instructions: 'from the defaults' } },
  });
});
afterAll(() => service.close());

const as = (principal = tenant.contributor, overrides: Partial<Context> = {}) =>
  contextFor(service.services, principal, overrides);
const start = (params: Record<string, unknown> = {}, id = waiting, ctx = as()) =>
  call(command, ctx, { id, command: 'start', params });
const inputOf = async (params: Record<string, unknown>, id = waiting) => {
  const { run_id } = await start(params, id);
  return (await call(context, as(), { id, runID: run_id })).input;
};

describe('start', () => {
  test('answers with the run, which is already stored', async () => {
    const started = await start({ n: 1 });
    expect(started).toEqual({
      run_id: expect.any(String),
      status: 'running',
      workflow_id: waiting,
      started_at: expect.any(String),
    });
    const run = await call(summary, as(tenant.viewer), { id: waiting, runID: started.run_id });
    expect(run).toMatchObject({
      run_id: started.run_id,
      version: 1,
      session_id: started.run_id,
      started_by: tenant.contributor.email,
      started_at: started.started_at,
    });
  });

  test('merges trigger payload, webhook payload and free-form keys to the input; later ones win', async () => {
    const params = { trigger_payload: { a: 1, b: 1, c: 1 }, webhook_payload: { b: 2, c: 2 }, c: 3, session_id: 's' };
    expect(await inputOf(params)).toEqual({ a: 1, b: 2, c: 3 });
  });

  test('merges the defaults of the version beneath only if asked', async () => {
    expect(await inputOf({ limits: { max: 5 } })).toEqual({ limits: { max: 5 } });
    const merged = await inputOf({ limits: { max: 5 }, use_run_setup_defaults: true });
    expect(merged).toEqual({ region: 'eu', limits: { max: 5, min: 1 } });
  });

  test('merges default step overrides beneath those of the request', async () => {
    const { run_id } = await start({ use_run_setup_defaults: true, trigger_steps: { ask: { name: 'Mine' } } });
    await reached(service.services, tenant.owner, { id: waiting, runID: run_id }, 'blocked');
    const { events: log } = await call(events, as(), { id: waiting, runID: run_id });
    const asked = log.find(event => event.event_type === 'task_pending');
    expect(asked?.data).toMatchObject({ name: 'Mine', instructions: 'from the defaults' });
  });

  test('a version whose setup is the default merges it unless told not to', async () => {
    const id = await publishGraph(service.services, tenant.owner, asking(), {
      trigger_payload: { region: 'eu' },
      use_as_default: true,
    });
    expect(await inputOf({}, id)).toEqual({ region: 'eu' });
    expect(await inputOf({ use_run_setup_defaults: false }, id)).toEqual({});
  });

  test('keeps session, trigger and the run id that the caller chose', async () => {
    const runId = newId();
    const started = await start({ run_id: runId.toUpperCase(), session_id: 'order-7', trigger_type: 'cron' });
    expect(started.run_id).toBe(runId);
    const run = await call(summary, as(), { id: waiting, runID: runId });
    expect(run).toMatchObject({ session_id: 'order-7', trigger_type: 'cron' });
    const again = await refusal(start({ run_id: runId }));
    expect([again.status, again.code]).toEqual([409, 'run_id_taken']);
  });

  test('uses the surface as the trigger if the caller names none', async () => {
    const pat = await createTestPat(service.services, tenant.contributor, ['workflow:run']);
    const cases: [string, Context][] = [
      ['api', as(pat.principal)],
      ['manual', as()],
      ['manual', as(tenant.contributor, { surface: 'trpc' })],
      ['mcp', as(pat.principal, { surface: 'mcp' })],
    ];
    for (const [expected, ctx] of cases) {
      const { run_id } = await start({}, waiting, ctx);
      expect((await call(summary, as(), { id: waiting, runID: run_id })).trigger_type).toBe(expected);
    }
  });

  test('an episode begins at the steps it names and seeds the others', async () => {
    const id = await publishGraph(service.services, tenant.owner, {
      steps: [
        { id: 'a', type: 'condition', expression: 'true' },
        { id: 'b', type: 'condition', expression: 'steps.a.result.seeded', depends_on: ['a'] },
      ],
    });
    const params = { mode: 'episode', trigger_steps: { b: {} }, seed_results: { a: { seeded: true } } };
    const { run_id } = await start(params, id);
    await reached(service.services, tenant.owner, { id, runID: run_id });
    const run = await call(summary, as(), { id, runID: run_id });
    expect(run.steps).toMatchObject([
      { step_id: 'a', status: 'skipped', skip_reason: 'out_of_scope' },
      { step_id: 'b', status: 'completed' },
    ]);
    const values = await call(context, as(), { id, runID: run_id });
    expect(values.steps).toEqual({ a: { result: { seeded: true } }, b: { result: { value: true, branch: 'then' } } });
  });
});

describe('a refused start', () => {
  /** Returns the refusal, and the only event stored for it, under the id that the run would have had. */
  async function refused(params: Record<string, unknown>, id = waiting) {
    const runId = newId();
    const error = await refusal(start({ run_id: runId, ...params }, id));
    const { events: log } = await call(events, as(tenant.viewer), { id, runID: runId });
    expect(log).toEqual([
      {
        seq: 1,
        event_type: 'run_rejected',
        run_id: runId,
        workflow_id: id,
        data: { code: error.code, message: error.message },
        created_at: expect.any(String),
      },
    ]);
    expect((await refusal(call(summary, as(), { id, runID: runId }))).status).toBe(404);
    return [error.status, error.code];
  }

  test('of a workflow without a version, or an archived one', async () => {
    const draft = await publishGraph(service.services, tenant.owner, asking());
    await service.db.pool.query('UPDATE workflows SET latest_version = NULL WHERE id = $1', [draft]);
    expect(await refused({}, draft)).toEqual([422, 'no_published_version']);
    const gone = await publishGraph(service.services, tenant.owner, asking());
    await archiveWorkflow(service.services.pool, tenant, { id: gone, kind: 'workflow', at: new Date() });
    expect(await refused({}, gone)).toEqual([422, 'workflow_archived']);
  });

  test.each<[string, Record<string, unknown>]>([
    ['a payload that is no object', { trigger_payload: [1] }],
    ['an unknown mode', { mode: 'fast' }],
    ['an episode that begins nowhere', { mode: 'episode' }],
    ['a flag that is none', { use_run_setup_defaults: 'yes' }],
    ['an override that is no object', { trigger_steps: { ask: 1 } }],
    ['a session without a name', { session_id: '' }],
    ['a trigger that is too long', { trigger_type: 'x'.repeat(201) }],
    ['text that cannot be stored', { note: 'nul\0' }],
    ['an input over the limit', { blob: 'x'.repeat(MAX_INPUT_BYTES - 10) }],
  ])('for %s', async (_what, params) => {
    expect(await refused(params)).toEqual([422, 'invalid_input']);
  });

  test('for steps that the version does not have', async () => {
    expect(await refused({ trigger_steps: { ask: {}, nowhere: {} } })).toEqual([422, 'unknown_trigger_step']);
    expect(await refused({ seed_results: { constructor: 1 } })).toEqual([422, 'unknown_trigger_step']);
  });

  test('is streamed', async () => {
    const seen: StreamItem[] = [];
    const unsubscribe = service.services.orchestrator.subscribe(
      { tenantId: tenant.tenantId, workflowId: waiting },
      items => {
        seen.push(...items);
      },
    );
    const runId = newId();
    await refusal(start({ run_id: runId, mode: 'fast' }));
    unsubscribe();
    expect(seen).toContainEqual({ kind: 'rejected', item: expect.objectContaining({ runId, code: 'invalid_input' }) });
  });

  test('has no event after the first, and none of a step', async () => {
    const runId = newId();
    await refusal(start({ run_id: runId, mode: 'fast' }));
    const readEvents = async (query: Record<string, unknown>) =>
      (await call(events, as(), { id: waiting, runID: runId, ...query })).events;
    expect(await readEvents({ after: 1 })).toEqual([]);
    expect(await readEvents({ step_id: 'ask' })).toEqual([]);
  });

  test('an input of exactly the limit is accepted', async () => {
    const blob = 'x'.repeat(MAX_INPUT_BYTES - JSON.stringify({ blob: '' }).length);
    const { run_id } = await start({ blob });
    expect((await call(context, as(), { id: waiting, runID: run_id })).input).toEqual({ blob });
  });
});

describe('pause, resume and stop', () => {
  const ask = (name: string, params: unknown, ctx = as(), id = waiting) =>
    call(command, ctx, { id, command: name, params });

  test('take effect, and change nothing when repeated', async () => {
    const { run_id } = await start();
    await reached(service.services, tenant.owner, { id: waiting, runID: run_id }, 'blocked');
    for (let n = 0; n < 2; n++) {
      expect(await ask('pause', { run_id })).toMatchObject({ run_id, status: 'paused', orchestration_phase: 'paused' });
    }
    for (let n = 0; n < 2; n++) {
      expect(await ask('resume', { run_id })).toMatchObject({ status: 'running', orchestration_phase: 'blocked' });
    }
    expect(await ask('stop', { run_id })).toMatchObject({ status: 'stopped', orchestration_phase: 'complete' });
    for (const name of ['pause', 'resume', 'stop']) expect((await refusal(ask(name, { run_id }))).status).toBe(409);
  });

  test('stop gracefully on demand', async () => {
    const { run_id } = await start();
    const stopped = await ask('stop', { run_id, mode: 'graceful' });
    expect(['running', 'stopped']).toContain(stopped.status);
    await reached(service.services, tenant.owner, { id: waiting, runID: run_id });
  });

  test.each<[string, unknown]>([
    ['pause', {}],
    ['pause', { run_id: 'x' }],
    ['resume', { run_id: newId(), mode: 'immediate' }],
    ['stop', { run_id: newId(), mode: 'gently' }],
    ['stop', { run_id: newId(), force: true }],
    ['restart', {}],
  ])('%s with %j is 422', async (name, params) => {
    expect((await refusal(ask(name, params))).status).toBe(422);
  });

  test('reach no run of another workflow, project or tenant, and no unknown run', async () => {
    const { run_id } = await start();
    const elsewhere = await publishGraph(service.services, tenant.owner, asking());
    for (const name of ['pause', 'resume', 'stop']) {
      expect((await refusal(ask(name, { run_id }, as(), elsewhere))).status).toBe(404);
      expect((await refusal(ask(name, { run_id: newId() }))).status).toBe(404);
      for (const principal of strangers) expect((await refusal(ask(name, { run_id }, as(principal)))).status).toBe(404);
    }
    expect((await call(summary, as(), { id: waiting, runID: run_id })).status).toBe('running');
  });

  test('do not start a workflow of another project or tenant, and record nothing', async () => {
    const runId = newId();
    for (const principal of strangers)
      expect((await refusal(start({ run_id: runId }, waiting, as(principal)))).status).toBe(404);
    const { rows } = await service.db.pool.query('SELECT 1 FROM run_rejections WHERE run_id = $1', [runId]);
    expect(rows).toEqual([]);
  });
});

describe('Idempotency-Key', () => {
  const withKey = (key: string, principal = tenant.contributor) =>
    as(principal, { headers: new Map([['idempotency-key', key]]) });

  test('starts one run for thirty concurrent requests, and gives all the same answer', async () => {
    const key = newId();
    const answers = await Promise.all(Array.from({ length: 30 }, () => start({ n: 1 }, waiting, withKey(key))));
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1);
    const { rows } = await service.db.pool.query('SELECT count(*)::int AS n FROM runs WHERE id = $1', [
      answers[0]?.run_id,
    ]);
    expect(rows[0].n).toBe(1);
    expect((await refusal(start({ n: 2 }, waiting, withKey(key)))).code).toBe('idempotency_key_reused');
  });

  test('can be combined with an id of the caller', async () => {
    const [key, run_id] = [newId(), newId()];
    const first = await start({ run_id }, waiting, withKey(key));
    expect(await start({ run_id }, waiting, withKey(key))).toEqual(first);
    expect((await refusal(start({ run_id }, waiting, withKey(newId())))).code).toBe('run_id_taken');
  });

  test('of a refused start may be used again for the same request', async () => {
    const id = await publishGraph(service.services, tenant.owner, asking());
    await service.db.pool.query('UPDATE workflows SET latest_version = NULL WHERE id = $1', [id]);
    const key = newId();
    for (let n = 0; n < 2; n++) expect((await refusal(start({}, id, withKey(key)))).code).toBe('no_published_version');
    await service.db.pool.query('UPDATE workflows SET latest_version = 1 WHERE id = $1', [id]);
    const started = await start({}, id, withKey(key));
    expect(await start({}, id, withKey(key))).toEqual(started);
    const { events: log } = await call(events, as(), { id, runID: started.run_id });
    expect(log[0]?.event_type).toBe('run_started');
  });

  test('reveals nothing to another tenant', async () => {
    const key = newId();
    await start({}, waiting, withKey(key));
    for (const principal of strangers)
      expect((await refusal(start({}, waiting, withKey(key, principal)))).status).toBe(404);
  });
});

describe('too many active runs', () => {
  test('are refused with 429, and recorded', async () => {
    const small = await startTestService({ BATON_MAX_ACTIVE_RUNS_PER_TENANT: '2' });
    try {
      const { owner } = await createTestTenant(small.services, { slug: 'acme' });
      const id = await publishGraph(small.services, owner, asking());
      const ctx = contextFor(small.services, owner);
      for (let n = 0; n < 2; n++) await call(command, ctx, { id, command: 'start' });
      const runId = newId();
      const error = await refusal(call(command, ctx, { id, command: 'start', params: { run_id: runId } }));
      expect([error.status, error.code]).toEqual([429, 'too_many_active_runs']);
      const { events: log } = await call(events, ctx, { id, runID: runId });
      expect(log.map(event => event.data.code)).toEqual(['too_many_active_runs']);
    } finally {
      await small.close();
    }
  });
});
