import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOperations } from '../domains/runs/operations.ts';
import type { Services } from '../operation/services.ts';
import { AppError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { createCall } from '../testing/call.ts';
import { runBaton, runCommand } from '../testing/commands.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestTenant, type TestTenant } from '../testing/identity.ts';
import { asking, publishGraph, reached } from '../testing/runs.ts';
import { UsageError } from './command-line.ts';
import { declareRuns } from './runs.ts';

let service: TestContainer;
let services: Services;
let acme: TestTenant;
let globex: TestTenant;

beforeAll(async () => {
  service = await startTestContainer({ BATON_SHUTDOWN_GRACE_S: '0' });
  ({ services } = service.container);
  acme = await createTestTenant(services, { slug: 'acme' });
  globex = await createTestTenant(services, { slug: 'globex' });
});
afterAll(() => service.close());

const run = (...args: string[]) => runCommand(declareRuns, services, args);
async function start({ owner }: TestTenant): Promise<{ id: string; runID: string }> {
  const id = await publishGraph(services, owner, asking());
  const call = createCall(services, runOperations);
  const { run_id } = (await call(owner, 'workflows_execute_command', { id, command: 'start' })) as { run_id: string };
  return { id, runID: run_id };
}

test('stops the runs of a workspace through the database, while the service works on it', async () => {
  const [mine, other] = [await start(acme), await start(globex)];
  const { code, out, err } = await runBaton(['runs', 'stop', '--workspace', 'acme', '--wait'], {
    DATABASE_URL: service.db.url,
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(
    /by operator {2}finished {2}matched: 1 {2}stopped: 1 {2}already ended: 0 {2}failed: 0 {2}remaining: 0/,
  );
  await reached(services, acme.owner, mine);
  await reached(services, globex.owner, other, 'blocked');
  expect((await run('stops', '--workspace', 'acme')).value).toMatchObject({ stops: [{ requested_by: 'operator' }] });
  expect((await run('stops', '--workspace', 'globex')).text).toBe('There is no bulk stop.');
});

test('filters the runs, and a repeated command is one request while it is unfinished', async () => {
  const { id } = await start(acme);
  const args = [
    'stop',
    '--workspace',
    'acme',
    '--workflow',
    id,
    '--workflow',
    id,
    '--project',
    acme.projectId,
    '--session',
    's',
    '--trigger',
    't',
    '--paused',
    '--from',
    '2026-01-01',
    '--to',
    '2027-01-01',
    '--graceful',
  ];
  const { value, text } = await run(...args);
  expect(value).toMatchObject({
    mode: 'graceful',
    filter: {
      workflow_ids: [id],
      project_id: acme.projectId,
      session_id: 's',
      trigger_type: 't',
      status: 'paused',
      from: '2026-01-01T00:00:00.000Z',
      to: '2027-01-01T00:00:00.000Z',
    },
  });
  expect(text).toContain('npm run baton -- runs stops --workspace acme');
  expect(await run('stop', '--workspace', 'acme', '--root', newId()).catch(String)).toMatch('Run not found');
});

test('lists the active runs that a stop would find, the oldest first, with what they wait for', async () => {
  const [first, second] = [await start(acme), await start(acme)];
  await start(globex);
  await reached(services, acme.owner, second, 'blocked');
  await services.pool.query('UPDATE workflows SET name = $2 WHERE id = $1', [first.id, 'a\u001b[31m\nb']);
  const { value, text } = await run('list', '--workspace', 'acme', '--workflow', first.id, '--workflow', second.id);
  expect(value).toMatchObject({
    more: false,
    runs: [
      { run_id: first.runID, workflow_id: first.id, status: 'running' },
      { run_id: second.runID, orchestration_phase: 'blocked', steps_done: 0, pending_tasks: 1 },
    ],
  });
  expect(text.split('\n')).toEqual([
    expect.stringMatching(new RegExp(`^${first.runID}  running, .*"a\uFFFD\\[31m\uFFFDb"$`)),
    expect.stringMatching(new RegExp(`^${second.runID}  running, blocked  since .*  steps: 0/\\d+  tasks: 1  "`)),
  ]);
  const one = await run('list', '--workspace', 'acme', '--workflow', first.id, '--workflow', second.id, '--limit', '1');
  expect(one.value).toMatchObject({ more: true, runs: [{ run_id: first.runID }] });
  const root = await run('list', '--workspace', 'acme', '--root', second.runID);
  expect(root.value).toMatchObject({ runs: [{ run_id: second.runID }] });
  expect((await run('list', '--workspace', 'acme', '--paused')).text).toBe('There is no active run.');
});

test.each<[string, string[], RegExp]>([
  ['a list of more than a thousand', ['list', '--workspace', 'acme', '--limit', '1001'], /It takes a number from 1/],
  ['a list of a root of another workspace', ['list', '--workspace', 'acme', '--root', newId()], /Run not found/],
  ['no workspace', ['stop'], /--workspace/],
  ['an id that is none', ['stop', '--workspace', 'acme', '--workflow', 'x'], /It takes an id/],
  ['a root with another filter', ['stop', '--workspace', 'acme', '--root', newId(), '--paused'], /root_run_id/],
  ['a workspace that does not exist', ['stop', '--workspace', 'nowhere'], /Workspace nowhere not found/],
  ['a workflow of another workspace', ['stop', '--workspace', 'acme', '--workflow', newId()], /Workflow not found/],
  ['a list of a workspace that does not exist', ['stops', '--workspace', 'nowhere'], /Workspace nowhere not found/],
])('is refused with %s', async (_, args, message) => {
  const error = await run(...args).catch((thrown: unknown) => thrown);
  expect(error instanceof UsageError || error instanceof AppError).toBe(true);
  const { message: said, details = [] } = error as AppError;
  expect([said, ...details.map(({ path }) => path)].join(' ')).toMatch(message);
});
