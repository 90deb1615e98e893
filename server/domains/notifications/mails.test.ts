import { afterEach, beforeEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../platform/clock.ts';
import { failing, type NotificationWorld, startNotificationWorld } from '../../testing/notifications.ts';
import { publishGraph } from '../../testing/runs.ts';
import { mailOf, type Notice } from './notice.ts';

let world: NotificationWorld;
beforeEach(async () => {
  world = await startNotificationWorld();
});
afterEach(() => world.close());

test('tasks of one minute become one mail, which names the workflow, the task and its page, and nothing else', async () => {
  const { tenant, clock, mail } = world;
  await world.patch(tenant.contributor, { email: ['task_waiting'] });
  const first = await world.ask({ name: 'Approve the order', instructions: 'Of a customer' });
  expect(await world.pass()).toBe(0);
  clock.advance(MINUTE_MS - 1);
  const second = await world.ask({ name: 'Sign' });
  expect(await world.pass()).toBe(0);
  clock.advance(1);
  expect(await world.pass()).toBe(2);
  expect(mail.received).toHaveLength(1);
  const link = (runID: string) =>
    `https://baton.example.com/inbox/${runID}/ask?tenant=acme&project=${tenant.projectId}`;
  expect(mail.received[0]?.to).toBe('contributor@acme.example.com');
  expect(
    mail.received[0]?.text.replaceAll('\r\n', '\n').trim(),
  ).toBe(`Approve the order (Under test) is waiting for you:
${link(first.runID)}

Sign (Under test) is waiting for you:
${link(second.runID)}

You chose these emails. Change that in your settings:
https://baton.example.com/settings/notifications`);
  clock.advance(MINUTE_MS);
  expect(await world.pass()).toBe(0);
  expect((await world.deliveriesOf(tenant.contributor)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});

test('a task that is answered within the minute is not mailed', async () => {
  const { tenant, clock, mail } = world;
  await world.patch(tenant.owner, { email: ['task_waiting'] });
  const ref = await world.ask();
  await world.pass();
  await world.call(tenant.owner, 'tasks_complete', { ...ref, task_id: 'ask', approved: true });
  clock.advance(MINUTE_MS);
  await world.pass();
  expect(mail.received).toEqual([]);
  expect(await world.deliveriesOf(tenant.owner)).toMatchObject([{ state: 'skipped' }]);
});

test('a mail that the server refuses is sent again later; the reason names no address', async () => {
  const { tenant, clock, mail } = world;
  await world.patch(tenant.owner, { email: ['run_failed'] });
  const { id, runID } = await world.start(await publishGraph(world.services, tenant.owner, failing));
  await world.pass();
  mail.refuse();
  clock.advance(MINUTE_MS);
  expect(await world.pass()).toBe(1);
  expect(await world.deliveriesOf(tenant.owner)).toMatchObject([
    { state: 'pending', attempts: 1, reason: 'The mail server did not take a message (554).' },
  ]);
  mail.accept();
  clock.advance(MINUTE_MS);
  expect(await world.pass()).toBe(1);
  const { text } = await mail.next('owner@acme.example.com');
  expect(text).toContain('A run of Under test failed:');
  expect(text).toContain(`https://baton.example.com/workflows/${id}/runs/${runID}?tenant=acme`);
});

test('an address that is not confirmed any more gets no mail', async () => {
  const { tenant, clock, mail } = world;
  await world.patch(tenant.owner, { email: ['task_waiting'] });
  await world.db.pool.query('UPDATE users SET confirmed_at = NULL WHERE id = $1', [tenant.owner.userId]);
  await world.ask();
  clock.advance(MINUTE_MS);
  await world.pass();
  expect(mail.received).toEqual([]);
});

const notice: Notice = {
  kind: 'task_waiting',
  tenantId: 'acme',
  projectId: 'p',
  workflowId: 'w',
  workflowName: 'Orders',
  runId: 'r',
  stepId: 'each.3.ask',
  taskName: 'Approve',
  createdAt: 0,
};

test('a subject is one line and counts what the mail holds', () => {
  const subject = (...notices: Partial<Notice>[]) =>
    mailOf(
      'https://baton.example.com',
      notices.map(some => ({ ...notice, ...some })),
    ).subject;
  const failed = { kind: 'run_failed', stepId: '', taskName: null } as const;
  expect(subject({})).toBe('Approve (Orders) is waiting for you');
  expect(subject({ taskName: 'A\r\nBcc: x@example.com' })).toBe('A Bcc: x@example.com (Orders) is waiting for you');
  expect(subject({ taskName: 'x'.repeat(300) })).toBe(`${'x'.repeat(100)}… (Orders) is waiting for you`);
  expect(subject(failed)).toBe('A run of Orders failed');
  expect(subject({}, {}, failed)).toBe('2 tasks are waiting for you, 1 run failed');
  expect(subject({}, failed, failed)).toBe('1 task is waiting for you, 2 runs failed');
});
