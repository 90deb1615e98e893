import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../api/operations.ts';
import type { Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import type { Graph } from '../../orchestrator/core/index.ts';
import type { Orchestrator } from '../../orchestrator/ports/orchestrator.ts';
import { MINUTE_MS } from '../../platform/clock.ts';
import { AppError, unavailable } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestTenant, type TestTenant, withScopes } from '../../testing/identity.ts';
import { asking, publishGraph, reached } from '../../testing/runs.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { listDueStops } from './store.ts';
import { type TurnResult, workOnStop } from './work.ts';

type Job = {
  stop_id: string;
  state: string;
  matched: number;
  stopped: number;
  already_ended: number;
  failed: number;
  remaining: number;
};
type Name = (typeof operations)[number]['name'];

let service: TestContainer;
/** The services with a clock that tests set forward, and an orchestrator that counts concurrent stops. */
let services: Services;
let skewMs = 0;
let command: Orchestrator['command'];
let acme: TestTenant;
let globex: TestTenant;
let call: ReturnType<typeof createCall<typeof operations>>;

beforeAll(async () => {
  // The job of the service never wakes up. The tests run its passes themselves.
  service = await startTestContainer({ BATON_SHUTDOWN_GRACE_S: '0' }, { alarm: () => () => undefined });
  const { services: own } = service.container;
  command = own.orchestrator.command;
  const orchestrator = new Proxy(own.orchestrator, {
    get: (target, key) => (key === 'command' ? command : Reflect.get(target, key)),
  });
  services = { ...own, orchestrator, clock: { now: () => own.clock.now() + skewMs } };
  acme = await createTestTenant(own, { slug: 'acme' });
  globex = await createTestTenant(own, { slug: 'globex' });
  call = createCall(services, operations);
});
afterEach(async () => {
  command = service.container.services.orchestrator.command;
  await service.db.pool.query('DELETE FROM run_stops');
  for (const tenant of [acme, globex]) {
    const stop = await callOperation<Job>('runs_stop', { filter: {} }, tenant.owner);
    await finish();
    expect(await jobOf(stop, tenant.owner)).toMatchObject({ state: 'finished', failed: 0 });
  }
  await service.db.pool.query('DELETE FROM run_stops');
});
afterAll(() => service.close());

const callOperation = <T>(name: Name, input: object, as: Principal = acme.owner) => call(as, name, input) as Promise<T>;
const refusal = (name: Name, input: object, as: Principal = acme.owner) =>
  callOperation(name, input, as).then(
    () => [200],
    (error: AppError) => [error.status, error.code],
  );
const jobOf = ({ stop_id }: Pick<Job, 'stop_id'>, as: Principal = acme.owner) =>
  callOperation<Job>('runs_get_stop', { stop_id }, as);
const publish = (graph: Graph = asking(), owner = acme.owner) => publishGraph(services, owner, graph);
async function start(id: string, params: object = {}, as: Principal = acme.owner): Promise<string> {
  const { run_id } = await callOperation<{ run_id: string }>(
    'workflows_execute_command',
    { id, command: 'start', params },
    as,
  );
  return run_id;
}
const startMany = (id: string, count: number) => Promise.all(Array.from({ length: count }, () => start(id)));
async function statuses(ids: readonly string[]): Promise<string[]> {
  const { rows } = await service.db.pool.query<{ status: string }>(
    'SELECT status FROM runs WHERE id = ANY($1::uuid[]) ORDER BY array_position($1::uuid[], id)',
    [ids],
  );
  return rows.map(({ status }) => status);
}
const setQuiet = () => (skewMs += 5_000);

/** Runs one pass. */
async function turn(): Promise<TurnResult[]> {
  const results: TurnResult[] = [];
  for (const stop of await listDueStops(services.pool)) results.push(await workOnStop(services, stop));
  return results;
}
/** Runs passes until all bulk stops have finished. The clock skips the time between passes that find nothing. */
async function finish(): Promise<void> {
  for (let results = await turn(); results.length > 0; results = await turn())
    if (results.every(result => result === 'waiting')) setQuiet();
}
const many = (steps: number): Graph => ({
  steps: Array.from({ length: steps }, (_, at) => ({ id: `s${at}`, type: 'human_task' })),
});

describe('POST /v1/runs/stop', () => {
  test('stops exactly the matching active runs', async () => {
    const [first, second, foreign] = [await publish(), await publish(), await publish(asking(), globex.owner)];
    const wanted = [...(await startMany(first, 3)), await start(first, { session_id: 'a' })];
    const spared = [await start(second), await start(foreign, {}, globex.owner)];
    const filter = { workflow_ids: [first.toUpperCase()] };
    expect(await callOperation('runs_preview_stop', { filter })).toEqual({ matching: 4, capped: false });
    const stop = await callOperation<Job>('runs_stop', { filter });
    expect(stop).toMatchObject({ state: 'working', mode: 'immediate', requested_by: acme.owner.email, matched: 0 });
    await finish();
    expect(await statuses(wanted)).toEqual(['stopped', 'stopped', 'stopped', 'stopped']);
    expect(await statuses(spared)).toEqual(['running', 'running']);
    expect(await jobOf(stop)).toMatchObject({ state: 'finished', matched: 4, stopped: 4, failed: 0, remaining: 0 });
    expect(await callOperation('runs_list_stops', { limit: 1 })).toMatchObject({ stops: [{ stop_id: stop.stop_id }] });
  });

  test.each<[string, (mine: { runID: string; id: string }) => object]>([
    ['session_id', () => ({ session_id: 'mine' })],
    ['trigger_type', () => ({ trigger_type: 'night' })],
    ['status', () => ({ status: 'paused' })],
    ['q', () => ({ q: 'mine' })],
    ['root_run_id', ({ runID }) => ({ root_run_id: runID })],
    ['workflow_ids and kind', ({ id }) => ({ workflow_ids: [id], kind: 'workflow' })],
    ['project_id', ({ id }) => ({ workflow_ids: [id], project_id: acme.projectId, test: false })],
  ])('finds runs by %s', async (_, filterOf) => {
    const [id, other] = [await publish(), await publish()];
    const runID = await start(id, { session_id: 'mine', trigger_type: 'night' });
    await callOperation('workflows_execute_command', { id, command: 'pause', params: { run_id: runID } });
    const spared = await start(other);
    await callOperation('runs_stop', { filter: filterOf({ runID, id }) });
    await finish();
    expect(await statuses([runID, spared])).toEqual(['stopped', 'running']);
  });

  test('matches runs by the time of their start and by kind', async () => {
    const id = await publish();
    const early = await start(id);
    const { rows } = await service.db.pool.query<{ at: Date }>('SELECT started_at AS at FROM runs WHERE id = $1', [
      early,
    ]);
    const at = Number(rows[0]?.at.getTime());
    await expect.poll(() => Date.now()).toBeGreaterThan(at + 1);
    const late = await start(id);
    await callOperation('runs_stop', { filter: { to: new Date(at + 1).toISOString(), kind: 'agent' } });
    await finish();
    expect(await statuses([early, late])).toEqual(['running', 'running']);
    await callOperation('runs_stop', { filter: { to: new Date(at + 1).toISOString() } });
    await finish();
    expect(await statuses([early, late])).toEqual(['stopped', 'running']);
    await callOperation('runs_stop', { filter: { from: new Date(at + 1).toISOString() }, mode: 'graceful' });
    await finish();
    expect(await statuses([late])).toEqual(['stopped']);
  });

  test('stops at most 8 runs and about 2,000 steps at a time', async () => {
    const peak = countInFlight();
    await startMany(await publish(), 40);
    await callOperation('runs_stop', { filter: {} });
    await finish();
    expect(peak()).toBe(8);
    const again = countInFlight();
    const large = await startMany(await publish(many(900)), 5);
    await callOperation('runs_stop', { filter: {} });
    await finish();
    expect(again()).toBe(2);
    expect(new Set(await statuses(large))).toEqual(new Set(['stopped']));
  });

  test.each([
    ['the commit queue is full', unavailable('overloaded', 'The database cannot keep up with the writes.', 1)],
    ['its workspace has too many events in the queue', new AppError(429, 'too_many_writes', 'Too many events wait.')],
  ])('waits while %s, and does not count that as an attempt', async (_, refusal) => {
    const run = await start(await publish());
    const stop = await callOperation<Job>('runs_stop', { filter: {} });
    const own = command;
    let refused = 0;
    command = async (...args) => {
      refused += 1;
      if (refused <= 20) throw refusal;
      return own(...args);
    };
    const first = [];
    while (refused < 20) first.push(...(await turn()));
    expect(first.filter(result => result === 'busy')).toHaveLength(20);
    await finish();
    expect(await statuses([run])).toEqual(['stopped']);
    expect(await jobOf(stop)).toMatchObject({ stopped: 1, failed: 0 });
  });

  test('gives up on a run after five failed attempts, and stops the others', async () => {
    const [broken = '', ...others] = await startMany(await publish(), 10);
    const stop = await callOperation<Job>('runs_stop', { filter: {} });
    const own = command;
    let attempts = 0;
    command = async (ref, ...args) => {
      if (ref.runId !== broken) return own(ref, ...args);
      attempts += 1;
      throw new AppError(500, 'internal_error', 'It is broken.');
    };
    await finish();
    expect(attempts).toBe(5);
    expect(await statuses([broken, ...others])).toEqual(['running', ...others.map(() => 'stopped')]);
    expect(await jobOf(stop)).toMatchObject({ state: 'finished', matched: 10, stopped: 9, failed: 1, remaining: 0 });
  });

  test('continues after a restart with the stored targets', async () => {
    const id = await publish();
    const runs = await startMany(id, 20);
    const stop = await callOperation<Job>('runs_stop', { filter: {} });
    await turn();
    await turn();
    const [halted = '', ended = ''] = runs.filter((_, at) => at > 17);
    // This simulates a crash between the stop of a run and its record, and a run that ended by itself.
    await callOperation('workflows_execute_command', { id, command: 'stop', params: { run_id: halted } });
    await callOperation('tasks_complete', { id, runID: ended, task_id: 'ask', approved: true });
    await reached(services, acme.owner, { id, runID: ended });
    await finish();
    expect(await jobOf(stop)).toMatchObject({
      state: 'finished',
      matched: 20,
      stopped: 19,
      already_ended: 1,
      remaining: 0,
    });
  });

  test('stops runs that start within ten minutes, and later only runs that these have called', async () => {
    const id = await publish();
    const first = await start(id);
    await callOperation('runs_stop', { filter: {} });
    while ((await turn())[0] !== 'waiting');
    const second = await start(id);
    while ((await turn())[0] !== 'waiting');
    expect(await statuses([first, second])).toEqual(['stopped', 'stopped']);
    await service.db.pool.query('UPDATE run_stops SET matching_until = $1', [
      new Date(services.clock.now() - skewMs - MINUTE_MS),
    ]);
    const [late, child] = [await start(id), await start(id)];
    await isChildOf(child, second);
    await finish();
    expect(await statuses([late, child])).toEqual(['running', 'stopped']);
  });
});

/** Counts the concurrent stops. */
function countInFlight(): () => number {
  const own = service.container.services.orchestrator.command;
  let [now, peak] = [0, 0];
  command = async (...args) => {
    now += 1;
    peak = Math.max(peak, now);
    return own(...args).finally(() => (now -= 1));
  };
  return () => peak;
}

const isChildOf = (child: string, parent: string) =>
  service.db.pool.query(
    `INSERT INTO child_runs (run_id, parent_run_id, parent_workflow_id, parent_step_id, detached)
     VALUES ($1, $2, $2, 'call', true)`,
    [child, parent],
  );

describe('a run that a stopped run has called', () => {
  test('is stopped too, even if it does not match or an ended run called it', async () => {
    const [id, other] = [
      await publish(),
      await publish({ steps: [{ id: 'only', type: 'lua_script', script: 'return 1' }] }),
    ];
    const [root = '', middle = '', leaf = '', spared = ''] = [
      await start(id),
      await start(other),
      await start(id),
      await start(id),
    ];
    await reached(services, acme.owner, { id: other, runID: middle });
    await isChildOf(middle, root);
    await isChildOf(leaf, middle);
    const stop = await callOperation<Job>('runs_stop', { filter: { root_run_id: root } });
    await finish();
    expect(await statuses([root, middle, leaf, spared])).toEqual(['stopped', 'completed', 'stopped', 'running']);
    expect(await jobOf(stop)).toMatchObject({ matched: 2, stopped: 2, already_ended: 0 });
    const late = await start(id);
    await isChildOf(late, root);
    await callOperation('runs_stop', { filter: { root_run_id: root } });
    await finish();
    expect(await statuses([late])).toEqual(['stopped']);
  });

  test('is stopped even if each run starts its workflow twice', async () => {
    const { id } = await callOperation<{ id: string }>('workflows_create', { name: `Bomb ${newId()}` });
    const copy = (step: string) => ({
      id: step,
      type: 'call_workflow',
      workflow_id: '{{input.self}}',
      detach: true,
      input: { self: '{{input.self}}' },
    });
    await callOperation('workflows_patch', {
      id,
      graph: { steps: [copy('a'), copy('b'), { id: 'ask', type: 'human_task' }] },
    });
    await callOperation('workflows_publish_version', { id });
    await start(id, { self: id });
    await callOperation('runs_stop', { filter: { workflow_ids: [id] } });
    await finish();
    const { rows } = await service.db.pool.query('SELECT id FROM runs WHERE workflow_id = $1 AND ended_at IS NULL', [
      id,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('the request', () => {
  test('returns the unfinished bulk stop of an equal request', async () => {
    const [a, b] = [await publish(), await publish()];
    const stop = (filter: object, mode?: string) => callOperation<Job>('runs_stop', { filter, ...(mode && { mode }) });
    const first = await stop({ workflow_ids: [a, b] });
    expect((await stop({ workflow_ids: [b, a, b] })).stop_id).toBe(first.stop_id);
    expect((await stop({ workflow_ids: [b, a] }, 'graceful')).stop_id).not.toBe(first.stop_id);
    expect((await stop({ workflow_ids: [a] })).stop_id).not.toBe(first.stop_id);
    await finish();
    expect((await stop({ workflow_ids: [a, b] })).stop_id).not.toBe(first.stop_id);
  });

  test('is refused with twenty unfinished bulk stops, and a hundred finished ones are kept', async () => {
    for (let at = 0; at < 20; at += 1) await callOperation('runs_stop', { filter: { session_id: `s${at}` } });
    expect(await refusal('runs_stop', { filter: { session_id: 'more' } })).toEqual([429, 'too_many_stops']);
    expect(await refusal('runs_stop', { filter: { session_id: 's3' } })).toEqual([200]);
    expect(await refusal('runs_stop', { filter: {} }, globex.owner)).toEqual([200]);
    await service.db.pool.query(
      `UPDATE run_stops SET finished_at = requested_at, digest = digest || id::text;
       INSERT INTO run_stops SELECT gen_random_uuid(), tenant_id, filter, mode, digest, requested_by, requested_at - interval '1 hour',
         matching_until, NULL, NULL, false, NULL, 0, 0, 0, 0, requested_at FROM run_stops, generate_series(1, 6)`,
    );
    await callOperation('runs_stop', { filter: {} });
    const { rows } = await service.db.pool.query<{ count: string }>(
      `SELECT count(*) FROM run_stops WHERE tenant_id = 'acme'`,
    );
    expect(Number(rows[0]?.count)).toBe(101);
  });

  test.each<[string, object, unknown[]]>([
    ['no filter', {}, [422, 'validation_error']],
    ['an unknown field', { filter: { workflow_id: newId() } }, [422, 'validation_error']],
    ['a status that has ended', { filter: { status: 'failed' } }, [422, 'validation_error']],
    ['a root with another field', { filter: { root_run_id: newId(), session_id: 'a' } }, [422, 'validation_error']],
    ['no workflow in a list', { filter: { workflow_ids: [] } }, [422, 'validation_error']],
    ['a workflow that does not exist', { filter: { workflow_ids: [newId()] } }, [404, 'not_found']],
    ['a project that does not exist', { filter: { project_id: newId() } }, [404, 'not_found']],
    ['a run that does not exist', { filter: { root_run_id: newId() } }, [404, 'not_found']],
  ])('is refused with %s', async (_, input, expected) => {
    expect(await refusal('runs_stop', input)).toEqual(expected);
    const { filter } = input as { filter?: object };
    expect(await refusal('runs_preview_stop', filter ? { filter } : {})).toEqual(expected);
  });

  test('does not reveal runs of another workspace', async () => {
    const id = await publish(asking(), globex.owner);
    const runID = await start(id, {}, globex.owner);
    for (const filter of [{ workflow_ids: [id] }, { project_id: globex.projectId }, { root_run_id: runID }])
      expect(await refusal('runs_stop', { filter })).toEqual([404, 'not_found']);
    const stop = await callOperation<Job>('runs_stop', { filter: {} }, globex.owner);
    expect(await refusal('runs_get_stop', { stop_id: stop.stop_id })).toEqual([404, 'not_found']);
    expect(await callOperation('runs_list_stops', {})).toEqual({ stops: [], next_cursor: null });
  });

  test('with a token stops only runs of its project', async () => {
    const { projectId } = await createTestProject(services, acme, 'elsewhere');
    const elsewhere = { ...acme.owner, projectId };
    const [mine, other] = [
      await start(await publish()),
      await start(await publish(asking(), elsewhere), {}, elsewhere),
    ];
    const token = withScopes(acme.owner, 'workflow:run', 'workflow:read');
    expect(await refusal('runs_stop', { filter: { project_id: elsewhere.projectId } }, token)).toEqual([
      404,
      'not_found',
    ]);
    await callOperation('runs_stop', { filter: {} }, token);
    await finish();
    expect(await statuses([mine, other])).toEqual(['stopped', 'running']);
  });

  test('is in the audit log, its preview is not', async () => {
    const { stop_id } = await callOperation<Job>('runs_stop', { filter: {} });
    await callOperation('runs_preview_stop', { filter: {} });
    const { entries } = await callOperation<{ entries: unknown[] }>('audit_log_list', { limit: 1 });
    expect(entries).toMatchObject([{ operation: 'runs_stop', outcome: 'ok', target: { stop_id } }]);
  });
});

describe('archiving a workflow', () => {
  test('lets its runs continue, or stops them in turns', async () => {
    const id = await publish();
    const runs = await startMany(id, 12);
    const spared = await start(await publish());
    await callOperation('workflows_archive', { id });
    await finish();
    expect(new Set(await statuses(runs))).toEqual(new Set(['running']));
    const peak = countInFlight();
    const token = withScopes(acme.contributor, 'workflow:write');
    expect(await refusal('workflows_archive', { id, runs: 'stop' }, token)).toEqual([403, 'insufficient_scope']);
    await callOperation('workflows_archive', { id, runs: 'stop' }, acme.contributor);
    await finish();
    expect(new Set(await statuses(runs))).toEqual(new Set(['stopped']));
    expect(await statuses([spared])).toEqual(['running']);
    expect(peak()).toBe(8);
  });
});
