import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, createTestProject, luaStep as lua, refusal } from '../../../testing/workflows.ts';
import { archiveWorkflow } from '../../workflows/queries.ts';
import { runOperations } from '../operations.ts';

const {
  workflows_execute_command: command,
  runs_get_summary: summary,
  runs_get_snapshot: snapshot,
  runs_list_events: events,
  runs_get_context: context,
  runs_get_payload: payload,
  runs_rerun: rerun,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;
let strangers: Principal[];

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  const other = await createTestTenant(service.services, { slug: 'rival' });
  strangers = [other.owner, (await createTestProject(service.services, tenant, 'second')).contributor];
});
afterAll(() => service.close());

const as = (principal = tenant.contributor) => contextFor(service.services, principal);
const publish = (...steps: { id: string; type: string; [field: string]: unknown }[]) =>
  publishGraph(service.services, tenant.owner, { steps: steps as never });

/** Starts a run and waits for its end. */
async function run(id: string, params: Record<string, unknown> = {}): Promise<{ id: string; runID: string }> {
  const { run_id } = await call(command, as(), { id, command: 'start', params });
  const ref = { id, runID: run_id };
  await reached(service.services, tenant.owner, ref);
  return ref;
}

describe('the summary', () => {
  test('shows how every step ended', async () => {
    const id = await publish(
      lua('a', 'return 1'),
      lua('b', 'error("boom")', 'a'),
      { ...lua('c', 'return 1', 'b'), name: 'Never' },
      { ...lua('d', 'return 1'), disabled: true },
    );
    const ref = await run(id);
    const found = await call(summary, as(tenant.viewer), ref);
    expect(found).toMatchObject({
      status: 'failed',
      orchestration_phase: 'complete',
      run_complete: true,
      pending_tasks: 0,
    });
    expect(found.error).toMatchObject({ step_id: 'b' });
    expect(found.steps).toMatchObject([
      { step_id: 'a', status: 'completed', attempt: 1, error: null },
      { step_id: 'b', status: 'failed', error: { message: expect.stringContaining('boom') } },
      { step_id: 'c', name: 'Never', status: 'skipped', skip_reason: 'blocked', started_at: null },
      { step_id: 'd', status: 'skipped', skip_reason: 'step_disabled' },
    ]);
    const { events: log } = await call(events, as(), ref);
    expect(found.last_seq).toBe(log.at(-1)?.seq);
  });

  test('counts the steps that the run added, and their cost, without listing them', async () => {
    const ref = await run(await publish(lua('a', 'return 1')));
    const before = await call(summary, as(), ref);
    expect(before.added_steps).toEqual({ total: 0, done: 0 });
    const added = { parent: 'a', steps: ['a.0.x', 'a.0.y'].map(id => ({ id, type: 'lua_script' })) };
    await service.db.pool.query(
      `INSERT INTO run_events (run_id, seq, event_type, step_id, attempt, data, created_at)
       VALUES ($1, 101, 'steps_added', 'a', 1, $2, now()),
              ($1, 102, 'step_started', 'a.0.x', 1, '{}', now()),
              ($1, 103, 'step_completed', 'a.0.x', 1, '{"result":1,"credits":7}', now())`,
      [ref.runID, JSON.stringify(added)],
    );
    const after = await call(summary, as(), ref);
    expect(after).toMatchObject({ added_steps: { total: 2, done: 1 }, steps_total: 1, steps_done: 1 });
    expect(after.credits_microcredits).toBe(before.credits_microcredits + 7);
    expect(after.steps.map(({ step_id }) => step_id)).toEqual(['a']);
    const state = await call(snapshot, as(), ref);
    expect(state).toMatchObject({ added_steps: { total: 2, done: 1 }, steps_done: 1, steps: [{ step_id: 'a' }] });
    expect(state.credits_microcredits).toBe(after.credits_microcredits);
    expect(Object.keys((await call(context, as(), ref)).steps)).toEqual(['a']);
    const { events: ofAdded } = await call(events, as(), { ...ref, step_id: 'a.0.x' });
    expect(ofAdded.map(({ event_type }) => event_type)).toEqual(['step_started', 'step_completed']);
  });

  test('of a run that waits counts its tasks', async () => {
    const id = await publishGraph(service.services, tenant.owner, asking());
    const { run_id } = await call(command, as(), { id, command: 'start' });
    await reached(service.services, tenant.owner, { id, runID: run_id }, 'blocked');
    const found = await call(summary, as(), { id, runID: run_id });
    expect(found).toMatchObject({ status: 'running', run_complete: false, pending_tasks: 1, ended_at: null });
    expect(found.steps).toMatchObject([{ step_id: 'ask', status: 'waiting', ended_at: null }]);
  });
});

describe('the event log', () => {
  test('is read in pages without a gap, and by step', async () => {
    const ref = await run(await publish(lua('a', 'return 1'), lua('b', 'return 2', 'a'), lua('c', 'return 3', 'b')));
    const whole = await call(events, as(tenant.viewer), ref);
    expect(whole.next_cursor).toBeNull();
    expect(whole.events.map(event => event.seq)).toEqual(whole.events.map((_event, index) => index + 1));
    expect(whole.events[0]?.event_type).toBe('run_started');
    const paged: typeof whole.events = [];
    for (let after: string | null = '0'; after !== null; ) {
      const page: typeof whole = await call(events, as(), { ...ref, after: Number(after), limit: 2 });
      expect(page.events.length).toBeLessThanOrEqual(2);
      paged.push(...page.events);
      after = page.next_cursor;
    }
    expect(paged).toEqual(whole.events);
    const byCursor = await call(events, as(), { ...ref, limit: 2 });
    const second = await call(events, as(), { ...ref, limit: 2, cursor: byCursor.next_cursor ?? '' });
    expect([...byCursor.events, ...second.events]).toEqual(whole.events.slice(0, 4));
    for (const wrong of [{ cursor: '1', after: 1 }, { cursor: 'x' }, { cursor: '2147483648' }, { cursor: '' }]) {
      expect((await refusal(call(events, as(), { ...ref, ...wrong }))).status, JSON.stringify(wrong)).toBe(422);
    }
    const ofStep = await call(events, as(), { ...ref, step_id: 'b' });
    expect(ofStep.events.map(event => event.event_type)).toEqual(['step_started', 'step_completed']);
  });

  test('takes a limit of 1 to 1,000', async () => {
    const ref = await run(await publish(lua('a', 'return 1')));
    for (const limit of [1, 1000]) await call(events, as(), { ...ref, limit });
    for (const limit of [0, 1001]) expect((await refusal(call(events, as(), { ...ref, limit }))).status).toBe(422);
    expect((await refusal(call(events, as(), { ...ref, after: -1 }))).status).toBe(422);
    for (const after of [2_147_483_646, 2_147_483_647]) {
      expect(await call(events, as(), { ...ref, after })).toEqual({ events: [], next_cursor: null });
    }
    expect((await refusal(call(events, as(), { ...ref, after: 2_147_483_648 }))).status).toBe(422);
  });
});

describe('the context', () => {
  test('contains the input and the results, including large values', async () => {
    const big = 'x'.repeat(40_000);
    const id = await publish(lua('small', 'return {n = input.n}'), lua('large', 'return string.rep("y", 30000)'), {
      ...lua('off', 'return 1'),
      disabled: true,
    });
    const ref = await run(id, { n: 7, big });
    const values = await call(context, as(tenant.viewer), ref);
    expect(values).toMatchObject({ run_id: ref.runID, workflow_id: id, version: 1, input: { n: 7, big } });
    expect(values.steps).toEqual({ small: { result: { n: 7 } }, large: { result: 'y'.repeat(30_000) } });

    const { events: log } = await call(events, as(), ref);
    const refs = log.flatMap(event => Object.entries(event.data).filter(([key]) => key.endsWith('_ref')));
    expect(refs.map(([key]) => key).sort()).toEqual(['input_ref', 'result_ref']);
    for (const [key, value] of refs) {
      const { payload_id, bytes } = value as { payload_id: string; bytes: number };
      const read = await call(payload, as(tenant.viewer), { ...ref, payload_id });
      expect(read.body).toEqual(key === 'input_ref' ? { n: 7, big } : 'y'.repeat(30_000));
      expect(bytes).toBe(JSON.stringify(read.body).length);
    }
  });

  test('replaces results beyond 8 MiB in total by references', async () => {
    const steps = Array.from({ length: 10 }, (_, n) => lua(`s${n}`, 'return string.rep("z", 1000000)'));
    const values = await call(context, as(), await run(await publish(...steps)));
    const found = Object.values(values.steps);
    expect(found).toHaveLength(10);
    expect(found.filter(step => step.result !== null)).toHaveLength(8);
    for (const step of found) {
      if (step.result === null) expect(step.result_ref).toEqual({ payload_id: expect.any(String), bytes: 1_000_002 });
      else expect(step.result_ref).toBeUndefined();
    }
  });
});

describe('running again', () => {
  const rerunAndWait = async (ref: { id: string; runID: string }, from_step?: string) => {
    const started = await call(rerun, as(), { ...ref, from_step });
    const next = { id: ref.id, runID: started.run_id };
    await reached(service.services, tenant.owner, next);
    return next;
  };

  test('is a new run of the same version, input and session', async () => {
    const id = await publish(lua('a', 'return input.n'));
    const first = await run(id, { n: 5, session_id: 'order-9' });
    await service.db.pool.query(`UPDATE workflow_versions SET version = 1 WHERE workflow_id = $1`, [id]);
    const second = await rerunAndWait(first);
    expect(second.runID).not.toBe(first.runID);
    expect(await call(summary, as(), second)).toMatchObject({
      session_id: 'order-9',
      version: 1,
      trigger_type: 'manual',
    });
    expect((await call(context, as(), second)).steps).toEqual({ a: { result: 5 } });
  });

  test('from a step keeps earlier results, including large ones, and runs that step and its dependents', async () => {
    const id = await publish(
      lua('a', 'return string.rep("a", 20000)'),
      lua('b', 'return #steps.a.result + (input.add or 0)', 'a'),
      lua('c', 'return steps.b.result + 1', 'b'),
      lua('aside', 'return "aside"'),
    );
    const second = await rerunAndWait(await run(id, { add: 1 }), 'b');
    const found = await call(summary, as(), second);
    expect(found.steps.map(step => [step.step_id, step.status])).toEqual([
      ['a', 'skipped'],
      ['b', 'completed'],
      ['c', 'completed'],
      ['aside', 'skipped'],
    ]);
    const values = await call(context, as(), second);
    expect(values.steps.b).toEqual({ result: 20_001 });
    expect(values.steps.c).toEqual({ result: 20_002 });
    expect(values.steps.a).toEqual({ result: 'a'.repeat(20_000) });
    const third = await rerunAndWait(second, 'c');
    expect((await call(context, as(), third)).steps.c).toEqual({ result: 20_002 });
  });

  test('is refused from an unknown step, for an active run, and for an archived workflow', async () => {
    const id = await publishGraph(service.services, tenant.owner, asking());
    const { run_id } = await call(command, as(), { id, command: 'start' });
    const ref = { id, runID: run_id };
    for (const from_step of ['nowhere', 'constructor', '__proto__']) {
      expect((await refusal(call(rerun, as(), { ...ref, from_step }))).code).toBe('unknown_step');
    }
    expect((await refusal(call(rerun, as(), { ...ref, from_step: 'ask' }))).code).toBe('run_not_ended');
    await archiveWorkflow(service.services.pool, tenant, { id, kind: 'workflow', at: new Date() });
    expect((await refusal(call(rerun, as(), ref))).code).toBe('workflow_archived');
  });
});

describe('another tenant, another project, another workflow', () => {
  test('get 404 from every operation', async () => {
    const ref = await run(await publish(lua('a', 'return string.rep("x", 20000)')));
    const elsewhere = await publish(lua('a', 'return 1'));
    const { rows } = await service.db.pool.query<{ id: string }>('SELECT id FROM run_payloads WHERE run_id = $1', [
      ref.runID,
    ]);
    const payload_id = rows[0]?.id;
    const cases = [
      ...strangers.map(principal => ({ ctx: as(principal), ref })),
      { ctx: as(), ref: { ...ref, id: elsewhere } },
      { ctx: as(), ref: { ...ref, runID: newId() } },
    ];
    for (const { ctx, ref: wrong } of cases) {
      const tries = [
        call(summary, ctx, wrong),
        call(events, ctx, wrong),
        call(context, ctx, wrong),
        call(payload, ctx, { ...wrong, payload_id }),
        call(rerun, ctx, wrong),
      ];
      for (const error of await Promise.all(tries.map(refusal))) expect(error.status).toBe(404);
    }
    expect((await refusal(call(payload, as(), { ...ref, payload_id: newId() }))).status).toBe(404);
    const other = await run(elsewhere);
    expect((await refusal(call(payload, as(), { ...other, payload_id }))).status).toBe(404);
  });
});
