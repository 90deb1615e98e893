import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts';
import { currentLineage } from '../../platform/lineage.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { repeatEnd, whileHeld } from '../../testing/held-numbers.ts';
import { createTestMember } from '../../testing/identity.ts';
import { failing, type NotificationWorld, startNotificationWorld } from '../../testing/notifications.ts';
import { publishGraph } from '../../testing/runs.ts';
import { sign } from '../../testing/webhooks.ts';
import { deliverDue } from './deliver.ts';
import { claimDue } from './delivery-store.ts';
import { enqueueNext } from './enqueue.ts';

let world: NotificationWorld;
beforeEach(async () => {
  world = await startNotificationWorld();
});
afterEach(() => world.close());

const retries = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS];

describe('a webhook', () => {
  test('gets one signed request about a task, with its names and the link to its page', async () => {
    const { tenant } = world;
    const secret = await world.hook(tenant.contributor, 'task_waiting');
    const { id, runID } = await world.ask({ name: 'Approve <!channel> & go', instructions: 'a secret' });
    expect(await world.pass()).toBe(1);
    expect(await world.pass()).toBe(0);
    const [request, ...others] = world.received();
    expect(others).toEqual([]);
    const timestamp = request?.headers['x-service-timestamp'];
    expect(timestamp).toBe(String(Math.floor(world.clock.now() / 1000)));
    expect(request?.headers['x-service-signature']).toBe(sign(secret, request?.body ?? '', String(timestamp)));
    const url = `https://baton.example.com/inbox/${runID}/ask?tenant=acme&project=${tenant.projectId}`;
    expect(request?.json).toEqual({
      text: `Approve &lt;!channel&gt; &amp; go (Under test) is waiting for you\n${url}`,
      notifications: [
        {
          kind: 'task_waiting',
          workflow_id: id,
          workflow_name: 'Under test',
          run_id: runID,
          task_id: 'ask',
          task_name: 'Approve <!channel> & go',
          url,
          created_at: expect.any(String),
        },
      ],
    });
    expect(await world.deliveriesOf(tenant.contributor)).toMatchObject([
      { kind: 'task_waiting', channel: 'webhook', state: 'delivered', attempts: 1, reason: null, task_id: 'ask' },
    ]);
    expect(await world.deliveriesOf(tenant.owner)).toEqual([]);
  });

  test('that fails is tried eight times within a day, each attempt later than the one before', async () => {
    const { tenant, receiver, clock } = world;
    await world.hook(tenant.owner, 'task_waiting');
    await world.ask();
    receiver.status = 503;
    await world.pass();
    for (const [index, wait] of retries.entries()) {
      expect(await world.deliveriesOf(tenant.owner)).toMatchObject([
        {
          state: 'pending',
          attempts: index + 1,
          reason: expect.stringMatching(/^127\.0\.0\.1:\d+ answered 503\.$/),
          next_attempt_at: new Date(clock.now() + wait).toISOString(),
        },
      ]);
      clock.advance(wait - 1);
      expect(await world.pass()).toBe(0);
      clock.advance(1);
      expect(await world.pass()).toBe(1);
    }
    expect(await world.deliveriesOf(tenant.owner)).toMatchObject([
      { state: 'failed', attempts: 8, reason: expect.stringContaining('503'), next_attempt_at: null },
    ]);
    clock.advance(48 * HOUR_MS);
    expect(await world.pass()).toBe(0);
    expect(world.received()).toHaveLength(8);
  });

  test('that works again gets the missed notices in one request', async () => {
    const { tenant, receiver, clock } = world;
    await world.hook(tenant.owner, 'task_waiting', 'run_failed');
    receiver.status = 500;
    await world.ask();
    await world.pass();
    await world.start(await publishGraph(world.services, tenant.owner, failing));
    receiver.status = 204;
    clock.advance(MINUTE_MS);
    await world.pass();
    const kinds = world.received().map(({ json }) => json.notifications.map(({ kind }) => kind).sort());
    expect(kinds).toEqual([['task_waiting'], ['run_failed', 'task_waiting']]);
    expect((await world.deliveriesOf(tenant.owner)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  test('is sent on behalf of the run, as a webhook of this service would see', async () => {
    const { tenant, services } = world;
    await world.hook(tenant.owner, 'task_waiting');
    const { runID } = await world.ask();
    while (await enqueueNext(services));
    const lineages: unknown[] = [];
    const fetch: typeof globalThis.fetch = (...request) => {
      lineages.push(currentLineage());
      return services.egress.fetch(...request);
    };
    await deliverDue({ ...services, egress: { ...services.egress, fetch } });
    expect(lineages).toEqual([{ tenantId: tenant.tenantId, root: runID, depth: 0 }]);
    expect(world.received()).toHaveLength(1);
  });

  test('that redirects is not followed', async () => {
    const { tenant } = world;
    const url = world.url.replace('/hook', '/moved');
    await world.patch(tenant.owner, { webhook_url: url, webhook: ['task_waiting'] });
    await world.ask();
    await world.pass();
    expect(world.received().map(({ path }) => path)).toEqual(['/moved']);
    expect(await world.deliveriesOf(tenant.owner)).toMatchObject([{ reason: expect.stringContaining('307') }]);
  });
});

test('a browser reads its own deliveries, and nothing is sent', async () => {
  const { tenant } = world;
  await world.patch(tenant.owner, { browser: ['task_waiting', 'run_failed'] });
  await world.hook(tenant.owner, 'task_waiting');
  const { runID } = await world.ask();
  await world.start(await publishGraph(world.services, tenant.owner, failing));
  expect(await world.pass()).toBe(1);
  const list = async (input: object) =>
    ((await world.call(tenant.owner, 'me_notifications_deliveries_list', input)) as { deliveries: object[] })
      .deliveries;
  expect(await list({ channel: 'browser' })).toMatchObject([
    { kind: 'run_failed', channel: 'browser', state: 'delivered', attempts: 0, next_attempt_at: null },
    { kind: 'task_waiting', channel: 'browser', run_id: runID, task_id: 'ask' },
  ]);
  expect(await list({})).toHaveLength(3);
  const first = (await world.call(tenant.owner, 'me_notifications_deliveries_list', { limit: 2 })) as {
    next_cursor: string;
  };
  expect(await list({ limit: 2, cursor: first.next_cursor })).toHaveLength(1);
});

describe('deliveries are made once', () => {
  test('even if events are read again from any position', async () => {
    const { tenant, services, db } = world;
    await world.hook(tenant.owner, 'task_waiting', 'run_failed');
    for (let count = 0; count < 3; count += 1) await world.ask();
    await world.start(await publishGraph(services, tenant.owner, failing));
    const step = () => enqueueNext(services, { tasks: 1, usage: 1 });
    await Promise.all(Array.from({ length: 6 }, step));
    while (await step());
    expect(await world.deliveriesOf(tenant.owner)).toHaveLength(4);
    await db.pool.query('UPDATE notification_progress SET task_seq = 0, usage_seq = 0');
    while (await step());
    expect(await world.deliveriesOf(tenant.owner)).toHaveLength(4);
  });

  test('even if the numbers of a task and of a failed run are held while later ones are read', async () => {
    const { tenant, services } = world;
    const { pool } = world.db;
    await world.hook(tenant.owner, 'task_waiting', 'run_failed');
    const workflow = await publishGraph(services, tenant.owner, failing);
    const [heldTask, laterTask] = [await world.ask(), await world.ask()];
    const [heldRun, laterRun] = [await world.start(workflow), await world.start(workflow)];
    await pool.query(
      `UPDATE notification_progress SET task_seq = (SELECT max(seq) FROM human_tasks), usage_seq = (SELECT max(seq) FROM run_usage)`,
    );
    const notifyAgain = (db: Queryable, { runID }: { runID: string }) =>
      db.query(`UPDATE human_tasks SET seq = nextval('human_tasks_seq_seq') WHERE run_id = $1`, [runID]);
    const enqueueAll = async () => {
      while (await enqueueNext(services));
    };
    await whileHeld(
      pool,
      client => notifyAgain(client, heldTask),
      async () => {
        await notifyAgain(pool, laterTask);
        await enqueueAll();
      },
    );
    await whileHeld(
      pool,
      client => repeatEnd(client, heldRun.runID),
      async () => {
        await repeatEnd(pool, laterRun.runID);
        await enqueueAll();
      },
    );
    await enqueueAll();
    const notifiedRuns = (await world.deliveriesOf(tenant.owner)).map(({ run_id }) => run_id);
    expect(notifiedRuns.sort()).toEqual([heldTask, laterTask, heldRun, laterRun].map(({ runID }) => runID).sort());
  });

  test('and not about what happened before the person chose to be notified', async () => {
    const { tenant } = world;
    await world.ask();
    await world.start(await publishGraph(world.services, tenant.owner, failing));
    await world.pass();
    await world.hook(tenant.owner, 'task_waiting', 'run_failed');
    expect(await world.pass()).toBe(0);
    expect(await world.deliveriesOf(tenant.owner)).toEqual([]);
  });

  test('a process that dies in an attempt leaves it to the next, after the time of a failed one', async () => {
    const { tenant, services, clock } = world;
    await world.hook(tenant.owner, 'task_waiting');
    await world.ask();
    while (await enqueueNext(services));
    const claim = () => claimDue(services.pool, clock.now(), [0, MINUTE_MS, HOUR_MS], { recipients: 9, perMessage: 9 });
    const both = await Promise.all([claim(), claim()]);
    expect(both.flat()).toHaveLength(1);
    expect(await world.pass()).toBe(0);
    clock.advance(MINUTE_MS);
    expect(await world.pass()).toBe(1);
    expect(await world.deliveriesOf(tenant.owner)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  });

  test('an attempt that was the last one and did not end counts as failed', async () => {
    const { tenant, services, clock, db } = world;
    await world.hook(tenant.owner, 'task_waiting');
    await world.ask();
    while (await enqueueNext(services));
    await db.pool.query('UPDATE notification_deliveries SET attempts = 8');
    clock.advance(1);
    await world.pass();
    expect(world.received()).toEqual([]);
    expect(await world.deliveriesOf(tenant.owner)).toMatchObject([
      { state: 'failed', reason: 'The service stopped during the last attempt.' },
    ]);
  });

  test('many recipients take turns, and one message holds a bounded number', async () => {
    const { tenant, services, clock } = world;
    await world.hook(tenant.owner, 'task_waiting');
    await world.hook(tenant.contributor, 'task_waiting');
    for (let count = 0; count < 3; count += 1) await world.ask();
    while (await enqueueNext(services));
    const limits = { recipients: 1, perMessage: 2 };
    const claim = async () => (await claimDue(services.pool, clock.now(), [0, HOUR_MS, HOUR_MS], limits)).length;
    const taken = [await claim(), await claim(), await claim(), await claim(), await claim()];
    expect(taken.sort()).toEqual([0, 1, 1, 2, 2]);
  });
});

describe('a delivery is skipped', () => {
  test('when the task was answered meanwhile', async () => {
    const { tenant, receiver, clock } = world;
    await world.hook(tenant.owner, 'task_waiting');
    receiver.status = 500;
    const ref = await world.ask();
    await world.pass();
    await world.call(tenant.owner, 'tasks_complete', { ...ref, task_id: 'ask', approved: true });
    clock.advance(MINUTE_MS);
    await world.pass();
    expect(world.received()).toHaveLength(1);
    expect(await world.deliveriesOf(tenant.owner)).toMatchObject([
      { state: 'skipped', reason: 'The task no longer waits.' },
    ]);
  });

  test('when the person disabled the channel, removed the webhook or lost the role', async () => {
    const { tenant, services, db } = world;
    const people = [tenant.owner, tenant.contributor];
    people.push(await createTestMember(services, tenant, 'project_contributor', 'third@acme.example.com'));
    for (const person of people) await world.hook(person, 'task_waiting');
    await world.ask();
    while (await enqueueNext(services));
    const [first, second, third] = people;
    if (!first || !second || !third) throw new Error('three people');
    await world.patch(first, { webhook: [] });
    await world.patch(second, { webhook_url: null });
    await db.pool.query(`UPDATE project_members SET role = 'project_viewer' WHERE user_id = $1`, [third.userId]);
    await world.pass();
    expect(world.received()).toEqual([]);
    const reasons = await Promise.all(people.map(async who => (await world.deliveriesOf(who))[0]?.reason));
    expect(reasons).toEqual(['Turned off.', 'There is no webhook.', 'You no longer have access.']);
  });

  test('and leaves with the member', async () => {
    const { tenant, services, db } = world;
    await world.hook(tenant.contributor, 'task_waiting');
    await world.ask();
    while (await enqueueNext(services));
    await db.pool.query('DELETE FROM project_members WHERE user_id = $1', [tenant.contributor.userId]);
    await db.pool.query('DELETE FROM memberships WHERE user_id = $1', [tenant.contributor.userId]);
    expect(await world.pass()).toBe(0);
    expect((await db.pool.query('SELECT FROM notification_deliveries')).rowCount).toBe(0);
    expect((await db.pool.query('SELECT FROM notification_preferences')).rowCount).toBe(0);
  });
});
