import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRun } from '../../orchestrator/log/index.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, refusal } from '../../testing/workflows.ts';
import { sweep } from '../retention/sweep.ts';
import { taskOperations } from '../tasks/operations.ts';
import { runOperations } from './operations.ts';

const {
  workflows_execute_command: command,
  runs_list_tenant: feed,
  runs_get_summary: summary,
  runs_list_events: events,
  runs_get_context: context,
  runs_rerun: rerun,
} = operationsByName(runOperations);
const { tasks_list_run: tasksOfRun } = operationsByName(taskOperations);

let service: RunningService;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const ctx = () => contextFor(service.services, tenant.contributor);

async function endedRun(): Promise<{ id: string; runID: string }> {
  const id = await publishGraph(service.services, tenant.owner, {
    steps: [{ id: 'a', type: 'condition', expression: 'true', mode: 'validate', message: 'never' }],
  } as never);
  const { run_id: runID } = await call(command, ctx(), { id, command: 'start', params: {} });
  await reached(service.services, tenant.owner, { id, runID });
  return { id, runID };
}

test('a run that retention has purged does not exist for any operation', async () => {
  const ref = await endedRun();
  expect((await call(events, ctx(), ref)).events.length).toBeGreaterThan(2);
  const { clock } = service.services;
  const result = await sweep({
    url: service.db.url,
    logger: pino({ level: 'silent' }),
    cutoffs: { runs: clock.now() + 86_400_000, usage: null, audit: null },
    now: clock.now(),
    pause: async () => undefined,
  });
  expect(result.runs).toBe(1);
  expect((await call(feed, ctx(), {})).runs).toEqual([]);
  const asked = [
    () => call(summary, ctx(), ref),
    () => call(events, ctx(), ref),
    () => call(context, ctx(), ref),
    () => call(tasksOfRun, ctx(), ref),
    () => call(rerun, ctx(), ref),
    () => call(command, ctx(), { id: ref.id, command: 'stop', params: { run_id: ref.runID } }),
  ];
  for (const ask of asked) expect(await refusal(ask())).toMatchObject({ status: 404 });
});

test('a log that is purged between two queries is reported as an unknown run, not as an empty log', async () => {
  const ref = await endedRun();
  const { pool } = service.services;
  await pool.query('DELETE FROM run_events WHERE run_id = $1', [ref.runID]);
  expect(await refusal(call(events, ctx(), ref))).toMatchObject({ status: 404 });
  // A list whose first page was read before the purge ends with an empty page.
  expect(await call(events, ctx(), { ...ref, after: 3 })).toEqual({ events: [], next_cursor: null });
  expect(await readRun(pool, ref.runID)).toBeNull();
});
