import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../api/operations.ts';
import type { Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import type { Orchestrator } from '../../orchestrator/ports/orchestrator.ts';
import { AppError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestTenant, type TestTenant, withScopes } from '../../testing/identity.ts';
import { asking, reached } from '../../testing/runs.ts';
import { createTestProject, luaStep } from '../../testing/workflows.ts';
import { listDueStops } from './store.ts';
import { workOnStop } from './work.ts';

type Job = { job_id: string; state: string; matched: number; done: number; failed: number; first_error: string | null };
type Run = { run_id: string; status: string; rerun_of: string | null; version: number };
type Name = (typeof operations)[number]['name'];

let service: TestContainer;
/** The services with an orchestrator whose starts tests can replace. */
let services: Services;
let start: Orchestrator['start'];
let acme: TestTenant;
let globex: TestTenant;
let call: ReturnType<typeof createCall<typeof operations>>;

beforeAll(async () => {
  // The job of the service never wakes up. The tests run its passes themselves.
  service = await startTestContainer({ BATON_SHUTDOWN_GRACE_S: '0' }, { alarm: () => () => undefined });
  const { services: own } = service.container;
  start = own.orchestrator.start;
  const orchestrator = new Proxy(own.orchestrator, {
    get: (target, key) => (key === 'start' ? start : Reflect.get(target, key)),
  });
  services = { ...own, orchestrator };
  acme = await createTestTenant(own, { slug: 'acme' });
  globex = await createTestTenant(own, { slug: 'globex' });
  call = createCall(services, operations);
});
afterEach(async () => {
  start = service.container.services.orchestrator.start;
  await service.db.pool.query('DELETE FROM run_stops');
});
afterAll(() => service.close());

const callOperation = <T>(name: Name, input: object, as: Principal = acme.contributor) =>
  call(as, name, input) as Promise<T>;
const refusal = (name: Name, input: object, as?: Principal) =>
  callOperation(name, input, as).then(
    () => [200],
    (error: unknown) => (error instanceof AppError ? [error.status, error.code] : error),
  );
const startBulk = (input: object, as?: Principal) => callOperation<Job>('runs_start_bulk', input, as);
const getJob = ({ job_id }: Job, as?: Principal) => callOperation<Job>('runs_get_bulk', { job_id }, as);

/** Runs passes until no bulk action is unfinished. */
async function finish(): Promise<void> {
  for (let due = await listDueStops(services.pool); due.length > 0; due = await listDueStops(services.pool))
    for (const stop of due) await workOnStop(services, stop);
}

const failing = [luaStep('a', 'return input.n'), luaStep('b', 'if input.n > 1 then error("no") end return 1', 'a')];

async function publish(steps: object[] = failing, as: Principal = acme.owner): Promise<string> {
  const { id } = await callOperation<{ id: string }>('workflows_create', { name: 'Many', graph: { steps } }, as);
  await callOperation('workflows_publish_version', { id }, as);
  return id;
}

async function run(id: string, n = 2, as: Principal = acme.owner): Promise<string> {
  const params = { trigger_payload: { n } };
  const { run_id } = await callOperation<{ run_id: string }>(
    'workflows_execute_command',
    { id, command: 'start', params },
    as,
  );
  await reached(services, as, { id, runID: run_id });
  return run_id;
}
const runsOf = async (id: string) =>
  (await callOperation<{ runs: Run[] }>('workflows_list_runs', { id, limit: 100 })).runs;
const rerunsOf = async (id: string) => (await runsOf(id)).filter(({ rerun_of }) => rerun_of !== null);

describe('a bulk action', () => {
  test('repeats selected ended runs once each', async () => {
    const id = await publish();
    const runs = [await run(id), await run(id, 1), await run(id)];
    const chosen = runs.slice(0, 2);
    const job = await startBulk({ action: 'rerun', filter: { run_ids: [...chosen, ...chosen] } });
    expect(await startBulk({ action: 'rerun', filter: { run_ids: chosen } })).toMatchObject({ job_id: job.job_id });
    await finish();
    expect(await getJob(job)).toMatchObject({ state: 'finished', matched: 2, done: 2, failed: 0, first_error: null });
    expect((await rerunsOf(id)).map(({ rerun_of }) => rerun_of).sort()).toEqual([...chosen].sort());
    const { jobs } = await callOperation<{ jobs: Job[] }>('runs_list_bulk', {});
    expect(jobs).toMatchObject([{ job_id: job.job_id, requested_by: acme.contributor.email }]);
  });

  test('continues failed runs once each, from the failed step with the latest version', async () => {
    const id = await publish();
    const failed = [await run(id), await run(id)];
    await run(id, 1);
    const mended = { type: 'update_step', step: 'b', set: { script: 'return steps.a.result' } };
    await callOperation('workflows_edit', { id, edits: [mended] });
    await callOperation('workflows_publish_version', { id });
    const request = { action: 'continue', version: 'latest', filter: { workflow_ids: [id] } };
    expect(await callOperation('runs_preview_bulk', { action: 'continue', filter: { workflow_ids: [id] } })).toEqual({
      matching: 2,
      capped: false,
    });
    await startBulk(request);
    await finish();
    for (const each of await rerunsOf(id)) await reached(services, acme.owner, { id, runID: each.run_id });
    const reruns = await rerunsOf(id);
    expect(reruns.map(({ rerun_of }) => rerun_of).sort()).toEqual([...failed].sort());
    expect(reruns.map(({ status, version }) => [status, version])).toEqual([
      ['completed', 2],
      ['completed', 2],
    ]);
    const again = await startBulk(request);
    await finish();
    expect(await getJob(again)).toMatchObject({ state: 'finished', matched: 0 });
  });

  test('stops matching active runs, but no run that starts later', async () => {
    const { graph } = { graph: asking() };
    const id = await publish(graph.steps as object[]);
    const startRun = async () =>
      (await callOperation<{ run_id: string }>('workflows_execute_command', { id, command: 'start' })).run_id;
    const runs = [await startRun(), await startRun()];
    const job = await startBulk({ action: 'stop', filter: { workflow_ids: [id] } });
    await service.db.pool.query(`UPDATE run_stops SET quiet_since = now() - interval '1 minute'`);
    const later = await startRun();
    for (let turns = 0; turns < 20; turns += 1)
      for (const stop of await listDueStops(services.pool)) await workOnStop(services, stop);
    const statuses = new Map((await runsOf(id)).map(({ run_id, status }) => [run_id, status]));
    expect(runs.map(each => statuses.get(each))).toEqual(['stopped', 'stopped']);
    expect(statuses.get(later)).toBe('running');
    expect(await getJob(job)).toMatchObject({ matched: 2, done: 2 });
    await callOperation('workflows_execute_command', { id, command: 'stop', params: { run_id: later } });
  });

  test('never starts a run twice after a crash', async () => {
    const id = await publish();
    const runs = await Promise.all(Array.from({ length: 12 }, () => run(id)));
    const job = await startBulk({ action: 'rerun', filter: { run_ids: runs } });
    const own = service.container.services.orchestrator.start.bind(service.container.services.orchestrator);
    let starts = 0;
    // Every other start is committed. The pass then dies before it records any of them.
    start = async given => {
      const started = await own(given);
      starts += 1;
      if (starts % 2 === 0) throw new Error('The process has died.');
      return started;
    };
    for (let turns = 0; turns < 3; turns += 1)
      for (const stop of await listDueStops(services.pool)) await workOnStop(services, stop).catch(() => undefined);
    expect(starts).toBeGreaterThan(0);
    start = own;
    await finish();
    expect(await getJob(job)).toMatchObject({ state: 'finished', matched: 12, done: 12, failed: 0 });
    const reruns = await rerunsOf(id);
    expect(reruns.map(({ rerun_of }) => rerun_of).sort()).toEqual([...runs].sort());
  });

  test('waits while the workspace has too many active runs, and counts refused starts', async () => {
    const id = await publish();
    const runs = [await run(id), await run(id)];
    const job = await startBulk({ action: 'rerun', filter: { run_ids: runs } });
    const own = service.container.services.orchestrator.start.bind(service.container.services.orchestrator);
    let refused = 0;
    start = async given => {
      refused += 1;
      if (refused <= 20) throw new AppError(429, 'too_many_active_runs', 'Too many runs are active.');
      if (refused === 21) throw new AppError(422, 'insufficient_credits', 'There are no credits.');
      return own(given);
    };
    await finish();
    expect(await getJob(job)).toMatchObject({ matched: 2, done: 1, failed: 1, first_error: 'There are no credits.' });
  });

  test('starts no run once its requester has lost the rights', async () => {
    const id = await publish();
    const runs = [await run(id)];
    const job = await startBulk({ action: 'rerun', filter: { run_ids: runs } });
    const { userId, projectId } = acme.contributor;
    const roleOf = (role: string) =>
      service.db.pool.query('UPDATE project_members SET role = $1 WHERE user_id = $2 AND project_id = $3', [
        role,
        userId,
        projectId,
      ]);
    await roleOf('project_viewer');
    await finish();
    await roleOf('project_contributor');
    expect(await getJob(job)).toMatchObject({ done: 0, failed: 1, first_error: expect.stringMatching('no longer') });
    expect(await rerunsOf(id)).toEqual([]);
  });

  test.each<[string, object, unknown[]]>([
    ['no action', { filter: {} }, [422, 'validation_error']],
    ['an unknown action', { action: 'delete', filter: {} }, [422, 'validation_error']],
    ['no runs in a list', { action: 'stop', filter: { run_ids: [] } }, [422, 'validation_error']],
    ['a mode for a rerun', { action: 'rerun', filter: {}, mode: 'graceful' }, [422, 'validation_error']],
    ['a version for a rerun', { action: 'rerun', filter: {}, version: 'latest' }, [422, 'validation_error']],
    ['another project', { action: 'stop', filter: { project_id: newId() } }, [422, 'validation_error']],
    ['a run that does not exist', { action: 'stop', filter: { run_ids: [newId()] } }, [404, 'not_found']],
    ['a workflow that does not exist', { action: 'stop', filter: { workflow_ids: [newId()] } }, [404, 'not_found']],
  ])('is refused with %s', async (_, input, expected) => {
    expect(await refusal('runs_start_bulk', input)).toEqual(expected);
  });

  test('needs a role and scopes, and does not reveal runs of other projects and workspaces', async () => {
    const id = await publish();
    const ownRun = await run(id);
    const rerunOf = (run_ids: string[]) => ({ action: 'rerun', filter: { run_ids } });
    expect(await refusal('runs_start_bulk', rerunOf([ownRun]), globex.owner)).toEqual([404, 'not_found']);
    const { projectId } = await createTestProject(services, acme, 'elsewhere');
    const elsewhere = { ...acme.owner, projectId };
    expect(await refusal('runs_start_bulk', rerunOf([ownRun]), elsewhere)).toEqual([404, 'not_found']);
    const job = await startBulk(rerunOf([ownRun]));
    expect(await refusal('runs_get_bulk', { job_id: job.job_id }, elsewhere)).toEqual([404, 'not_found']);
    expect(await refusal('runs_get_bulk', { job_id: job.job_id }, globex.owner)).toEqual([404, 'not_found']);
    const latest = { action: 'continue', version: 'latest', filter: {} };
    const token = withScopes(acme.contributor, 'workflow:run', 'workflow:read');
    expect(await refusal('runs_start_bulk', latest, token)).toEqual([403, 'insufficient_scope']);
  });
});
