import { expect, test } from 'vitest';
import type { PaymentProvider, ProviderSubscription } from '../../../operation/payment-provider.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { charge } from '../../../testing/billing/ledger.ts';
import {
  type BillingWorld,
  BUSINESS,
  type Changed,
  createBillingWorld,
  DAY,
  FREE,
  goTo,
  PRO,
  PRO_TRIAL,
  type Subscribed,
} from '../../../testing/billing/subscriptions.ts';
import { auditLedger } from '../ledger/audit-store.ts';
import { grantCredits } from '../ledger/post.ts';
import { createManualProvider } from '../provider/manual.ts';
import { applyProviderFact } from './apply.ts';

const START = Date.parse('2026-05-01T00:00:00.000Z');
const MONTH = 31 * DAY;

const withPeriod = (from: number, to: number) => ({ period: { from, to } });
const base: ProviderSubscription = {
  customerId: 'cus_1',
  subscriptionId: 'sub_1',
  planCode: 'pro',
  status: 'active',
  ...withPeriod(START, START + MONTH),
  trialEndsAt: null,
  cancelAtPeriodEnd: false,
  pendingPlanCode: null,
  version: 100,
  checkout: null,
};

/** Creates a provider that manages subscriptions itself. The test sets its next answers. */
function scriptedProvider() {
  const answers: ProviderSubscription[] = [];
  const calls: [name: string, key: string][] = [];
  const answer =
    (name: string) =>
    async (_first: unknown, ...rest: unknown[]) => {
      const options = rest.at(-1) as { key: string };
      calls.push([name, options.key]);
      const next = answers.shift();
      if (next === undefined) throw new Error('the answer was lost');
      return next;
    };
  const payments: PaymentProvider = {
    ...createManualProvider({ clock: new ManualClock(START) }),
    kind: 'stripe',
    subscribe: answer('subscribe'),
    startTrial: answer('startTrial'),
    changePlan: answer('changePlan'),
    cancel: answer('cancel'),
    convertTrial: answer('convertTrial'),
  };
  return { payments, answers, calls };
}

const applyState = (world: BillingWorld, subscription: Partial<ProviderSubscription>) =>
  applyProviderFact(world.services, {
    type: 'subscription',
    tenantId: 'acme',
    subscription: { ...base, ...subscription },
    at: world.clock.now(),
  });

async function expectBalancedLedger({ db, clock }: BillingWorld): Promise<void> {
  expect((await auditLedger(db.pool, { now: clock.now() })).differences).toEqual([]);
}

test('a checkout keeps the onboarding plan until a notification reports the payment', async () => {
  const { payments, answers } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  answers.push({ ...base, status: 'incomplete', checkout: { kind: 'payment', clientSecret: 'secret' } });
  const { status, checkout } = await world.ask<Subscribed>('billing_subscribe', { plan_code: 'pro' });
  expect(checkout).toEqual({ provider: 'stripe', kind: 'payment', client_secret: 'secret' });
  expect(status).toMatchObject({ status: 'incomplete', plan_code: 'free', pending_plan_code: 'pro' });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  // No payment for a month: the onboarding plan continues.
  goTo(world.clock, START + MONTH);
  expect(await world.status()).toMatchObject({ status: 'incomplete', plan_code: 'free' });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  const paid = { version: 200, ...withPeriod(START + MONTH, START + 2 * MONTH) };
  expect(await applyState(world, paid)).toBe('applied');
  expect(await applyState(world, paid)).toBe('applied');
  expect(await applyState(world, { version: 150, status: 'incomplete' })).toBe('stale');
  expect(await world.status()).toMatchObject({ status: 'active', plan_code: 'pro', pending_plan_code: null });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO, payg: 0 });
  expect(await world.payments()).toEqual([]);
  await expectBalancedLedger(world);
});

test('a checkout that is abandoned or expires leaves the onboarding plan unchanged', async () => {
  const { payments, answers } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  answers.push({ ...base, status: 'incomplete' }, { ...base, status: 'cancelled', version: 101 });
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  const { status } = await world.ask<Subscribed>('billing_cancel');
  expect(status).toMatchObject({ status: 'active', plan_code: 'free', pending_plan_code: null });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  expect(await applyState(world, { status: 'cancelled', version: 102 })).toBe('ignored');
});

test('the provider renews; an overdue renewal grants nothing until it is paid', async () => {
  const { payments } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  await applyState(world, {});
  goTo(world.clock, START + MONTH + DAY);
  expect(await world.status()).toMatchObject({ plan_code: 'pro', status: 'active' });
  expect(await world.balances()).toEqual({ trial: 0, included: 0, payg: 0 });
  const second = { version: 300, ...withPeriod(START + MONTH, START + 2 * MONTH) };
  await applyState(world, { ...second, status: 'past_due' });
  expect((await world.status()).status).toBe('past_due');
  expect((await world.balances()).included).toBe(0);
  await applyState(world, { ...second, version: 301 });
  await applyState(world, { ...second, version: 302 });
  expect((await world.balances()).included).toBe(PRO);
  expect(await applyState(world, { version: 299, status: 'past_due' })).toBe('stale');
  expect(await world.status()).toMatchObject({ status: 'active' });
  await expectBalancedLedger(world);
});

test('a change of plan at the provider is applied, with credits for the remaining time', async () => {
  const { payments } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  await applyState(world, {});
  goTo(world.clock, START + MONTH / 2);
  await applyState(world, { planCode: 'business', version: 300 });
  await applyState(world, { planCode: 'business', version: 301 });
  expect(await world.status()).toMatchObject({ plan_code: 'business' });
  expect((await world.balances()).included).toBe(FREE + PRO / 2 + BUSINESS / 2);
  expect(await applyState(world, { planCode: 'nobody knows', version: 400 })).toBe('ignored');
  await expectBalancedLedger(world);
});

test('a trial with a card becomes a paid plan at its end, one without a card just ends', async () => {
  const { payments, answers } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  const trial = {
    ...base,
    status: 'trialing' as const,
    trialEndsAt: START + 14 * DAY,
    ...withPeriod(START, START + 14 * DAY),
  };
  answers.push(trial);
  await world.ask('billing_trial_start', { plan_code: 'pro' });
  expect(await world.balances()).toEqual({ trial: PRO_TRIAL, included: FREE, payg: 0 });
  // The charges used the grant that would have expired first, before its expiry moves behind another's.
  const also = {
    account: 'trial',
    amount: 7,
    expiresAt: START + 15 * DAY,
    source: 'operator',
    reference: null,
  } as const;
  await transact(world.db.pool, db => grantCredits(db, { ...also, tenantId: 'acme', note: '', at: START }));
  await charge(world.db.pool, 'acme', 10, START);
  // Extended at the provider: the credits expire at the new end.
  await applyState(world, {
    ...trial,
    trialEndsAt: START + 20 * DAY,
    ...withPeriod(START, START + 20 * DAY),
    version: 110,
  });
  goTo(world.clock, START + 19 * DAY);
  expect(await world.status()).toMatchObject({ status: 'trialing' });
  expect(await world.balances()).toMatchObject({ trial: PRO_TRIAL - 10 });
  goTo(world.clock, START + 20 * DAY);
  await world.status();
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  await applyState(world, { version: 120, ...withPeriod(START + 20 * DAY, START + 51 * DAY) });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO, payg: 0 });
  await applyState(world, { version: 130, status: 'cancelled' });
  expect(await world.status()).toMatchObject({ status: 'active', plan_code: 'free', trial: { available: false } });
  await expectBalancedLedger(world);
});

test('the end of a replaced subscription does not end the new one', async () => {
  const { payments } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  await applyState(world, { subscriptionId: 'sub_old', version: 100 });
  expect(await applyState(world, { subscriptionId: 'sub_new', planCode: 'business', version: 200 })).toBe('applied');
  expect(await applyState(world, { subscriptionId: 'sub_old', status: 'cancelled', version: 300 })).toBe('ignored');
  expect(await applyState(world, { subscriptionId: 'sub_old', version: 150 })).toBe('stale');
  expect(await world.status()).toMatchObject({ plan_code: 'business', status: 'active' });
});

test('a call whose answer was lost is repeated with the same key; after the next change the key differs', async () => {
  const { payments, answers, calls } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  await expect(world.ask('billing_subscribe', { plan_code: 'pro' })).rejects.toThrow('the answer was lost');
  world.clock.advance(1000);
  answers.push(base);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  answers.push({ ...base, cancelAtPeriodEnd: true, version: 101 }, { ...base, version: 102 });
  await world.ask('billing_cancel');
  expect((await world.ask<Changed>('billing_change_plan', { plan_code: 'pro' })).status.cancel_at_period_end).toBe(
    false,
  );
  answers.push({ ...base, cancelAtPeriodEnd: true, version: 103 });
  await world.ask('billing_cancel');
  expect(calls.map(([name]) => name)).toEqual(['subscribe', 'subscribe', 'cancel', 'changePlan', 'cancel']);
  const keys = calls.map(([, key]) => key);
  expect(keys[0]).toBe(keys[1]);
  expect(new Set(keys).size).toBe(4);
});

test('a subscription of a provider that is no longer configured cannot be changed, and the error says so', async () => {
  const { payments } = scriptedProvider();
  await using world = await createBillingWorld(START, { payments });
  await applyState(world, {});
  world.services.payments = createManualProvider(world.services);
  await expect(world.ask('billing_cancel')).rejects.toMatchObject({
    status: 503,
    code: 'payment_provider_unavailable',
  });
  expect(await world.status()).toMatchObject({ provider: 'stripe', plan_code: 'pro' });
});
