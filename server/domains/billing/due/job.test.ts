import { expect, test } from 'vitest';
import { charge } from '../../../testing/billing/ledger.ts';
import {
  confirmPayments,
  createBillingWorld,
  DAY,
  FREE,
  goTo,
  PRO,
  PRO_TRIAL,
} from '../../../testing/billing/subscriptions.ts';
import { processDueBilling } from '../subscriptions/process-due.ts';
import { type BillingJobOptions, startBillingJob } from './job.ts';

const START = Date.parse('2026-01-31T10:00:00.000Z');

/** Returns an alarm that the test triggers, and that shows the time for which it was set. */
function manualAlarm() {
  const set: { delay: number; ring: () => void }[] = [];
  const waiting: (() => void)[] = [];
  return {
    set,
    alarm: (delay: number, ring: () => void) => {
      const one = { delay, ring };
      set.push(one);
      for (const tell of waiting.splice(0)) tell();
      return () => void set.splice(set.indexOf(one), 1);
    },
    /** Waits until the alarm is set. */
    async armed(): Promise<number> {
      if (set.length === 0) await new Promise<void>(resolve => waiting.push(resolve));
      return set[0]?.delay ?? Number.NaN;
    },
    async ring(): Promise<number> {
      set.shift()?.ring();
      return await this.armed();
    },
  };
}

/** Starts the job of a leading process. */
const startLeading = (services: BillingJobOptions['services'], { alarm }: ReturnType<typeof manualAlarm>) =>
  startBillingJob({ services, alarm, ready: Promise.resolve(), leading: () => true });

test('the leader processes missed periods at the start, and each later one at its time; a standby processes nothing', async () => {
  await using world = await createBillingWorld(START);
  const changed: string[] = [];
  const orchestrator = { ...world.services.orchestrator, creditsChanged: (id: string) => void changed.push(id) };
  const services = { ...world.services, orchestrator };
  await world.ask('billing_trial_start', { plan_code: 'pro' });
  await world.call(world.rival.owner, 'billing_subscribe', { plan_code: 'pro' });
  // The service was down for three months.
  goTo(world.clock, '2026-04-30T09:59:59.000Z');
  const alarm = manualAlarm();
  let leads = false;
  const job = startBillingJob({ services, alarm: alarm.alarm, ready: Promise.resolve(), leading: () => leads });
  expect(await alarm.armed()).toBe(5000);
  expect(changed).toEqual([]);
  leads = true;
  expect(await alarm.ring()).toBe(1000);
  expect([...changed].sort()).toEqual(['acme', 'rival']);
  const periods = async (tenant: string) => {
    const { rows } = await world.db.pool.query(
      `SELECT created_at FROM billing_events WHERE tenant_id = $1 AND kind = 'period' ORDER BY created_at, id`,
      [tenant],
    );
    return rows.map(row => row.created_at.toISOString().slice(0, 10));
  };
  expect(await periods('rival')).toEqual(['2026-01-31', '2026-01-31', '2026-02-28', '2026-03-31']);
  expect(await periods('acme')).toEqual(['2026-01-31', '2026-02-28', '2026-03-31']);
  const { rows } = await world.db.pool.query(
    `SELECT created_at, expired::float8 FROM credit_ledger WHERE tenant_id = 'acme' AND kind = 'expiry' ORDER BY created_at`,
  );
  expect(rows.map(row => [row.created_at.toISOString(), row.expired])).toEqual([
    [new Date(START + 14 * DAY).toISOString(), PRO_TRIAL],
    ['2026-02-28T10:00:00.000Z', FREE],
    ['2026-03-31T10:00:00.000Z', FREE],
  ]);
  // The next period is due exactly now.
  world.clock.advance(1000);
  expect(await alarm.ring()).toBe(60_000);
  expect((await periods('rival')).at(-1)).toBe('2026-04-30');
  await job.close();
  expect(alarm.set).toEqual([]);
});

test('charges are posted hourly, in one entry per hour', async () => {
  await using world = await createBillingWorld(START + 40 * 60_000);
  await world.status();
  const charges = async () => {
    const { rows } = await world.db.pool.query(
      `SELECT consumed::float8, created_at FROM credit_ledger WHERE tenant_id = 'acme' AND kind = 'charge' ORDER BY id`,
    );
    return rows.map(({ consumed, created_at }) => [consumed, created_at.toISOString().slice(11, 19)]);
  };
  const use = (amount: number) => charge(world.db.pool, 'acme', amount, world.clock.now());
  await use(5);
  const alarm = manualAlarm();
  const job = startLeading(world.services, alarm);
  expect(await alarm.armed()).toBe(60_000);
  expect(await charges()).toEqual([[5, '10:40:00']]);
  await use(20);
  await use(30);
  world.clock.advance(19 * 60_000 + 30_000);
  expect(await alarm.ring()).toBe(30_000);
  expect(await charges()).toHaveLength(1);
  world.clock.advance(30_000);
  expect(await alarm.ring()).toBe(60_000);
  expect(await charges()).toEqual([
    [5, '10:40:00'],
    [50, '11:00:00'],
  ]);
  world.clock.advance(3_600_000);
  await alarm.ring();
  expect(await charges()).toHaveLength(2);
  await job.close();
});

test('a workspace that cannot be processed delays no other, and is tried again', async () => {
  await using world = await createBillingWorld(START);
  await world.call(world.rival.owner, 'billing_status');
  await world.call(world.acme.owner, 'billing_subscribe', { plan_code: 'pro' });
  await world.db.pool.query(`UPDATE subscriptions SET product_code = 'gone' WHERE tenant_id = 'acme'`);
  goTo(world.clock, '2026-02-28T10:00:00.000Z');
  const alarm = manualAlarm();
  const job = startLeading(world.services, alarm);
  expect(await alarm.armed()).toBe(5000);
  expect(await world.call(world.rival.owner, 'billing_status')).toMatchObject({
    current_period_end: '2026-03-31T10:00:00.000Z',
  });
  await world.db.pool.query(`UPDATE subscriptions SET product_code = 'baton' WHERE tenant_id = 'acme'`);
  expect(await alarm.ring()).toBe(60_000);
  await confirmPayments(world);
  expect(await world.balances()).toEqual({ trial: 0, included: PRO, payg: 0 });
  await job.close();
});

test('closing the job does not wait until it is known whether the process leads', async () => {
  await using world = await createBillingWorld(START);
  const alarm = manualAlarm();
  const ready = new Promise<void>(() => undefined);
  const job = startBillingJob({ services: world.services, alarm: alarm.alarm, ready, leading: () => true });
  await job.close();
  expect(alarm.set).toEqual([]);
});

test('two concurrent processes do each step once', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  goTo(world.clock, '2026-08-31T10:00:00.000Z');
  await Promise.all(Array.from({ length: 4 }, () => processDueBilling(world.services, 'acme')));
  expect(await world.payments()).toHaveLength(8);
  await confirmPayments(world);
  expect(await world.balances()).toEqual({ trial: 0, included: PRO, payg: 0 });
});
