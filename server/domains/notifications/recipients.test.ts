import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createTestMember } from '../../testing/identity.ts';
import { failing, type NotificationWorld, startNotificationWorld } from '../../testing/notifications.ts';
import { asking, publishGraph, reached } from '../../testing/runs.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { mayAnswer } from '../tasks/complete.ts';
import { insertVersion } from '../workflows/versions/queries.ts';
import { enqueueNext } from './enqueue.ts';

let world: NotificationWorld;
/** Every member of the workspace, by name. */
let people: Record<string, Principal>;

beforeAll(async () => {
  world = await startNotificationWorld();
  const { services, tenant } = world;
  const named = await createTestMember(services, tenant, 'project_contributor', 'named@acme.example.com');
  const { contributor: elsewhere } = await createTestProject(services, tenant, 'elsewhere');
  people = { owner: tenant.owner, contributor: tenant.contributor, viewer: tenant.viewer, named, elsewhere };
  for (const person of Object.values(people)) await world.hook(person, 'task_waiting', 'run_failed');
});
afterAll(() => world.close());
afterEach(() => world.db.pool.query('DELETE FROM notification_deliveries'));

/** Enqueues all deliveries, and returns the names of the people who have one. */
async function notified(): Promise<string[]> {
  while (await enqueueNext(world.services));
  const { rows } = await world.db.pool.query<{ user_id: string }>('SELECT user_id FROM notification_deliveries');
  const ids = rows.map(row => row.user_id);
  return Object.keys(people).filter(name => ids.includes(people[name]?.userId ?? ''));
}

test.each<[string[]]>([
  [[]],
  [['project_contributor']],
  [['tenant_admin']],
  [['Named@ACME.example.com']],
  [['nobody@acme.example.com']],
  [['viewer@acme.example.com']],
  [['elsewhere@acme.example.com', 'named@acme.example.com']],
])('a task with the assignees %j notifies those who may answer it', async assignees => {
  await world.ask(assignees.length === 0 ? {} : { assignees });
  const expected = Object.keys(people).filter(name => {
    const person = people[name];
    // Answering requires a role on this project (server/domains/tasks/operations.ts).
    return person && !['viewer', 'elsewhere'].includes(name) && mayAnswer(person, assignees);
  });
  expect(await notified()).toEqual(expected);
});

test('a task that is assigned notifies those who may answer it now, once', async () => {
  const ref = await world.ask({ assignees: ['nobody@acme.example.com'] });
  expect(await notified()).toEqual(['owner']);
  const assign = (assignees: string[]) =>
    world.call(world.tenant.owner, 'tasks_assign', { ...ref, task_id: 'ask', assignees });
  await assign(['named@acme.example.com']);
  expect(await notified()).toEqual(['owner', 'named']);
  await assign(['named@acme.example.com', 'project_contributor']);
  expect(await notified()).toEqual(['owner', 'contributor', 'named']);
  const { rows } = await world.db.pool.query('SELECT FROM notification_deliveries');
  expect(rows).toHaveLength(3);
});

test('a failed run notifies those who created the workflow or published its latest version', async () => {
  const { services, tenant } = world;
  const id = await publishGraph(services, tenant.contributor, failing);
  await world.start(id);
  expect(await notified()).toEqual(['contributor']);
  await world.db.pool.query('DELETE FROM notification_deliveries');
  const scope = { tenantId: tenant.tenantId, projectId: tenant.projectId, id, revision: 1 };
  const by = people.named?.userId ?? '';
  await insertVersion(services.pool, scope, { changelog: '', by, at: new Date(services.clock.now()) });
  await world.start(id);
  expect(await notified()).toEqual(['contributor', 'named']);
});

test('completed runs, stopped runs and test runs notify nobody', async () => {
  const { services, tenant } = world;
  const stopped = await world.ask();
  await notified();
  await world.db.pool.query('DELETE FROM notification_deliveries');
  await world.call(tenant.owner, 'workflows_execute_command', {
    id: stopped.id,
    command: 'stop',
    params: { run_id: stopped.runID },
  });
  await reached(services, tenant.owner, stopped);
  for (const graph of [failing, asking()]) {
    const id = await publishGraph(services, tenant.owner, graph);
    const { run_id: runID } = (await world.call(tenant.owner, 'workflows_start_test_run', { id })) as {
      run_id: string;
    };
    await reached(services, tenant.owner, { id, runID }, 'complete', 'blocked');
  }
  expect(await notified()).toEqual([]);
});
