import { describe, expect, test } from 'vitest';
import { createTestCode } from '../../../testing/billing/codes.ts';
import { charge } from '../../../testing/billing/ledger.ts';
import {
  type BillingWorld,
  BUSINESS,
  type Changed,
  CREDITS,
  confirmPayments,
  createBillingWorld,
  DAY,
  FREE,
  goTo,
  PRO,
  PRO_TRIAL,
  type Subscribed,
} from '../../../testing/billing/subscriptions.ts';
import { auditLedger } from '../ledger/audit-store.ts';
import { applyProviderFact } from '../provider-events/apply.ts';
import { processDueBilling } from './process-due.ts';

const START = Date.parse('2026-01-31T10:00:00.000Z');
const iso = (at: number) => new Date(at).toISOString();

async function expectBalancedLedger({ db, clock }: BillingWorld): Promise<void> {
  expect((await auditLedger(db.pool, { now: clock.now() })).differences).toEqual([]);
}

test('a new workspace is on the onboarding plan, whose periods keep their day through short months', async () => {
  await using world = await createBillingWorld(START);
  expect(await world.status()).toMatchObject({
    provider: 'manual',
    status: 'active',
    plan_code: 'free',
    current_period_start: iso(START),
    current_period_end: '2026-02-28T10:00:00.000Z',
    trial: { available: true, plan_code: null },
    allowance: FREE,
  });
  await charge(world.db.pool, 'acme', 3 * CREDITS, START);
  goTo(world.clock, '2026-02-28T09:59:59.999Z');
  await world.status();
  expect(await world.balances()).toEqual({ trial: 0, included: FREE - 3 * CREDITS, payg: 0 });
  goTo(world.clock, '2026-02-28T10:00:00.000Z');
  expect(await world.status()).toMatchObject({ current_period_end: '2026-03-31T10:00:00.000Z' });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  await expectBalancedLedger(world);
});

test('a manual trial spends its credits first; at its end the onboarding period continues with its remaining credits', async () => {
  await using world = await createBillingWorld(START);
  await world.status();
  goTo(world.clock, START + DAY);
  const { status, checkout } = await world.ask<Subscribed>('billing_trial_start', {
    payment_price_id: 'price_baton_pro_monthly',
  });
  const ends = START + 15 * DAY;
  expect(checkout).toBeNull();
  expect(status).toMatchObject({
    status: 'trialing',
    plan_code: 'pro',
    current_period_end: iso(ends),
    trial: { available: false, plan_code: 'pro', started_at: iso(START + DAY), ends_at: iso(ends) },
  });
  expect(await world.balances()).toEqual({ trial: PRO_TRIAL, included: FREE, payg: 0 });
  expect(await world.ask('billing_action_pricing')).toMatchObject({ plan_code: 'pro' });
  await charge(world.db.pool, 'acme', CREDITS, world.clock.now());
  expect(await world.balances()).toEqual({ trial: PRO_TRIAL - CREDITS, included: FREE, payg: 0 });
  goTo(world.clock, ends - 1);
  expect((await world.status()).status).toBe('trialing');
  goTo(world.clock, ends);
  expect(await world.status()).toMatchObject({
    status: 'active',
    plan_code: 'free',
    current_period_start: iso(START),
    current_period_end: '2026-02-28T10:00:00.000Z',
    trial: { available: false, ends_at: iso(ends) },
  });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  await expect(world.ask('billing_trial_start', { plan_code: 'business' })).rejects.toMatchObject({
    status: 409,
    code: 'trial_used',
  });
  await expectBalancedLedger(world);
});

test('after a trial longer than the onboarding period, a new period starts', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_trial_start', { plan_code: 'business' });
  goTo(world.clock, START + 30 * DAY);
  expect(await world.status()).toMatchObject({ plan_code: 'free', current_period_start: iso(START + 30 * DAY) });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  await expectBalancedLedger(world);
});

test('converting a trial starts the period, requests the invoice and removes the trial’s remaining credits', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_trial_start', { plan_code: 'pro' });
  goTo(world.clock, START + 3 * DAY);
  const { status } = await world.ask<Subscribed>('billing_convert_trial');
  expect(status).toMatchObject({
    status: 'active',
    plan_code: 'pro',
    current_period_start: iso(START + 3 * DAY),
    current_period_end: '2026-03-03T10:00:00.000Z',
    trial: { ends_at: iso(START + 3 * DAY) },
  });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  expect(await world.payments()).toEqual([{ kind: 'subscription', status: 'pending', amount: 4900, credits: PRO }]);
  await confirmPayments(world);
  expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO, payg: 0 });
  await expect(world.ask('billing_convert_trial')).rejects.toMatchObject({ status: 409, code: 'not_trialing' });
  await expectBalancedLedger(world);
});

test('fourteen overdue renewals keep the day, grant once each, and request fourteen payments', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  goTo(world.clock, '2027-03-31T10:00:00.000Z');
  // Two processes that start at the same time.
  await Promise.all([
    processDueBilling(world.services, 'acme'),
    processDueBilling(world.services, 'acme'),
    world.status(),
  ]);
  expect(await world.status()).toMatchObject({
    plan_code: 'pro',
    current_period_start: '2027-03-31T10:00:00.000Z',
    current_period_end: '2027-04-30T10:00:00.000Z',
  });
  const { rows } = await world.db.pool.query(
    `SELECT (data->>'from')::float8 AS begins, (data->>'to')::float8 AS ends FROM billing_events
     WHERE kind = 'period' AND data->>'planCode' = 'pro' ORDER BY 1`,
  );
  const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 28, 31];
  expect(rows.map(row => new Date(row.begins).getUTCDate())).toEqual(days);
  expect(rows.slice(1).map(row => row.begins)).toEqual(rows.slice(0, -1).map(row => row.ends));
  expect(await world.payments()).toEqual(
    days.map(() => ({ kind: 'subscription', status: 'pending', amount: 4900, credits: PRO })),
  );
  // Confirming the payments of past periods now grants nothing any more.
  await confirmPayments(world);
  expect(await world.balances()).toEqual({ trial: 0, included: PRO, payg: 0 });
  await expectBalancedLedger(world);
});

describe('changing the plan', () => {
  test('an upgrade takes effect now, with money and credits for exactly the remaining time', async () => {
    await using world = await createBillingWorld(START);
    await world.ask('billing_subscribe', { plan_code: 'pro' });
    await confirmPayments(world);
    goTo(world.clock, START + 7 * DAY);
    const whole = 28 * DAY;
    const left = 21 * DAY;
    const shares = { credit: Math.floor((4900 * left) / whole), charge: Math.floor((29900 * left) / whole) };
    const { preview } = await world.ask<Changed>('billing_change_plan', { plan_code: 'business', preview: true });
    expect(preview).toEqual({
      effective_at: iso(START + 7 * DAY),
      currency: 'usd',
      amount_due: shares.charge - shares.credit,
      lines: [
        { description: 'Unused time on Pro', amount: -shares.credit },
        { description: 'Remaining time on Business', amount: shares.charge },
      ],
      included_credits_granted: (BUSINESS * 3) / 4,
    });
    expect(await world.status()).toMatchObject({ plan_code: 'pro' });
    const changed = await world.ask<Changed>('billing_change_plan', { plan_code: 'business' });
    expect(changed.preview).toEqual(preview);
    expect(changed.status).toMatchObject({ plan_code: 'business', current_period_start: iso(START) });
    // The credits that were paid for with the old plan are granted at once, the rest when the invoice is paid.
    expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO, payg: 0 });
    expect((await world.payments()).at(-1)).toEqual({
      kind: 'subscription',
      status: 'pending',
      amount: shares.charge - shares.credit,
      credits: (BUSINESS * 3) / 4 - (PRO * 3) / 4,
    });
    await confirmPayments(world);
    expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO / 4 + (BUSINESS * 3) / 4, payg: 0 });
    goTo(world.clock, '2026-02-28T10:00:00.000Z');
    await world.status();
    await confirmPayments(world);
    expect(await world.balances()).toEqual({ trial: 0, included: BUSINESS, payg: 0 });
    expect((await world.payments()).at(-1)).toMatchObject({ amount: 29900 });
    await expectBalancedLedger(world);
  });

  test('there and back within one millisecond adds and removes no credits', async () => {
    await using world = await createBillingWorld(START);
    await world.ask('billing_subscribe', { plan_code: 'pro' });
    for (const plan_code of ['business', 'pro', 'business', 'pro'])
      await world.ask('billing_change_plan', { plan_code, when: 'now' });
    // A cheaper plan that replaces an unpaid one needs no payment, but does not count as paid: it grants no credits yet.
    expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
    await confirmPayments(world);
    // Each change counts as a millisecond later, so at most the value of that time on a plan may remain.
    const { included } = await world.balances();
    expect(Math.abs(included - FREE - PRO)).toBeLessThan(CREDITS / 1000);
    await expectBalancedLedger(world);
  });

  test('a downgrade takes effect at the period’s end; choosing the current plan again cancels it', async () => {
    await using world = await createBillingWorld(START);
    await world.ask('billing_subscribe', { plan_code: 'business' });
    const { preview, status } = await world.ask<Changed>('billing_change_plan', { plan_code: 'pro' });
    expect(preview).toMatchObject({ effective_at: '2026-02-28T10:00:00.000Z', amount_due: 0, lines: [] });
    expect(status).toMatchObject({ plan_code: 'business', pending_plan_code: 'pro' });
    const kept = await world.ask<Changed>('billing_change_plan', { plan_code: 'business' });
    expect(kept.status.pending_plan_code).toBeNull();
    await world.ask('billing_change_plan', { plan_code: 'pro' });
    goTo(world.clock, '2026-02-28T10:00:00.000Z');
    expect(await world.status()).toMatchObject({ plan_code: 'pro', pending_plan_code: null });
    expect(await world.balances()).toEqual({ trial: 0, included: 0, payg: 0 });
    await confirmPayments(world);
    expect(await world.balances()).toEqual({ trial: 0, included: PRO, payg: 0 });
    expect((await world.payments()).map(({ amount }) => amount)).toEqual([29900, 4900]);
    await expectBalancedLedger(world);
  });

  test('to the onboarding plan is a cancellation', async () => {
    await using world = await createBillingWorld(START);
    await world.ask('billing_subscribe', { plan_code: 'pro' });
    const { status } = await world.ask<Changed>('billing_change_plan', { plan_code: 'free' });
    expect(status).toMatchObject({ plan_code: 'pro', cancel_at_period_end: true, pending_plan_code: null });
    const kept = await world.ask<Changed>('billing_change_plan', { plan_code: 'pro' });
    expect(kept.status.cancel_at_period_end).toBe(false);
    await world.ask('billing_change_plan', { plan_code: 'free' });
    goTo(world.clock, '2026-02-28T10:00:00.000Z');
    expect(await world.status()).toMatchObject({ plan_code: 'free', cancel_at_period_end: false });
    expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
    await expectBalancedLedger(world);
  });
});

describe('cancelling', () => {
  test('now keeps paid credits until the paid period ends, and the onboarding period continues', async () => {
    await using world = await createBillingWorld(START);
    await world.ask('billing_subscribe', { plan_code: 'pro' });
    goTo(world.clock, START + DAY);
    const { status } = await world.ask<Subscribed>('billing_cancel', { at_period_end: false });
    expect(status).toMatchObject({ plan_code: 'free', status: 'active', current_period_start: iso(START) });
    expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
    await expect(world.ask('billing_subscribe', { plan_code: 'pro' })).rejects.toMatchObject({
      status: 409,
      code: 'payment_due',
    });
    await confirmPayments(world);
    expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO, payg: 0 });
    await expectBalancedLedger(world);
  });

  test('a trial takes effect at the trial’s end, or now, which also removes its credits', async () => {
    await using world = await createBillingWorld(START);
    await world.ask('billing_trial_start', { plan_code: 'pro' });
    expect((await world.ask<Subscribed>('billing_cancel')).status).toMatchObject({
      status: 'trialing',
      cancel_at_period_end: true,
    });
    expect((await world.ask<Subscribed>('billing_cancel', { at_period_end: false })).status).toMatchObject({
      status: 'active',
      plan_code: 'free',
      trial: { available: false },
    });
    expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
    await expectBalancedLedger(world);
  });
});

test('impossible changes are conflicts with a reason', async () => {
  await using world = await createBillingWorld(START);
  const outcomeOf = (name: Parameters<BillingWorld['ask']>[0], input: unknown) =>
    world.ask(name, input).then(
      () => 'done',
      (error: { status: number; code: string }) => `${error.status} ${error.code}`,
    );
  expect(await outcomeOf('billing_cancel', {})).toBe('409 not_subscribed');
  expect(await outcomeOf('billing_change_plan', { plan_code: 'pro' })).toBe('409 not_subscribed');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'free' })).toBe('409 already_subscribed');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'gold' })).toBe('422 unknown_plan');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'pro', payment_price_id: 'p' })).toBe(
    '422 validation_error',
  );
  expect(await outcomeOf('billing_subscribe', {})).toBe('422 validation_error');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'pro', discount_code: 'NONE' })).toBe('422 code_not_valid');
  expect(await outcomeOf('billing_trial_start', { plan_code: 'free' })).toBe('422 no_trial');
  expect(await outcomeOf('billing_topup_intent', { amount: 499 })).toBe('422 invalid');
  expect(await outcomeOf('billing_topup_intent', { amount: 100_001 })).toBe('422 invalid');
  expect(await outcomeOf('billing_trial_start', { plan_code: 'pro' })).toBe('done');
  expect(await outcomeOf('billing_change_plan', { plan_code: 'business' })).toBe('409 trialing');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'free' })).toBe('409 onboarding_plan');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'pro' })).toBe('done');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'pro' })).toBe('409 already_subscribed');
  expect(await outcomeOf('billing_subscribe', { plan_code: 'business' })).toBe('409 already_subscribed');
  expect(await outcomeOf('billing_trial_start', { plan_code: 'business' })).toBe('409 trial_used');
  expect(await outcomeOf('billing_change_plan', { plan_code: 'pro' })).toBe('409 same_plan');
  expect(await outcomeOf('billing_convert_trial', {})).toBe('409 not_trialing');
  await expectBalancedLedger(world);
});

describe('concurrently', () => {
  const outcomes = async (calls: Promise<unknown>[]) =>
    (await Promise.allSettled(calls))
      .map(result => (result.status === 'fulfilled' ? 'done' : String(result.reason.code)))
      .sort();

  test('of six requests to subscribe, one succeeds', async () => {
    await using world = await createBillingWorld(START);
    const calls = Array.from({ length: 6 }, () => world.ask('billing_subscribe', { plan_code: 'pro' }));
    expect(await outcomes(calls)).toEqual([...Array(5).fill('already_subscribed'), 'done']);
    expect(await world.payments()).toHaveLength(1);
    await confirmPayments(world);
    expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO, payg: 0 });
  });

  test('of six requests to start the trial, one succeeds', async () => {
    await using world = await createBillingWorld(START);
    const calls = Array.from({ length: 6 }, () => world.ask('billing_trial_start', { plan_code: 'pro' }));
    expect(await outcomes(calls)).toEqual(['done', ...Array(5).fill('trial_used')]);
    expect(await world.balances()).toEqual({ trial: PRO_TRIAL, included: FREE, payg: 0 });
  });

  test('many new workspaces are each onboarded once', async () => {
    await using world = await createBillingWorld(START);
    await Promise.all(Array.from({ length: 12 }, () => world.status()));
    expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
    await expectBalancedLedger(world);
  });
});

test('a subscription does not affect another workspace', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  const status = await world.call(world.rival.owner, 'billing_status');
  expect(status).toMatchObject({ plan_code: 'free' });
  expect(await world.call(world.rival.owner, 'billing_payment_history')).toEqual({ payments: [], next_cursor: null });
});

test('the summary counts the usage of the workspace and of the project in the current period', async () => {
  await using world = await createBillingWorld(START);
  await world.status();
  await charge(world.db.pool, 'acme', 5 * CREDITS, START + 1);
  goTo(world.clock, START + DAY);
  expect(await world.ask('billing_summary')).toMatchObject({
    tenant: {
      id: 'acme',
      plan_code: 'free',
      consumed_microcredits: 5 * CREDITS,
      balances: { included_remaining: FREE - 5 * CREDITS },
    },
    project: { id: world.acme.projectId, name: 'default', consumed_microcredits: 0 },
  });
  goTo(world.clock, START + 40 * DAY);
  expect(await world.ask('billing_summary')).toMatchObject({ tenant: { consumed_microcredits: 0 } });
});

test('a fact about a workspace that does not exist is ignored', async () => {
  await using world = await createBillingWorld(START);
  const fact = { type: 'refund', tenantId: 'nobody', paymentId: 'pi_1', refundedAmount: 1, at: START } as const;
  expect(await applyProviderFact(world.services, fact)).toBe('ignored');
});

describe('discounts', () => {
  const createCode = async (
    world: BillingWorld,
    code: { value: number; months: number | null; planCodes?: string[] },
  ) => createTestCode(world.db.pool, { code: 'HALF', kind: 'percent', ...code });
  const amounts = async (world: BillingWorld) => (await world.payments()).map(({ amount }) => amount);

  test('last for their months, even if the plan changes', async () => {
    await using world = await createBillingWorld(START);
    await createCode(world, { value: 50, months: 3 });
    const { preview } = await world
      .ask<Changed>('billing_subscribe', { plan_code: 'pro', discount_code: 'half' })
      .then(() => world.ask<Changed>('billing_change_plan', { plan_code: 'business', preview: true }));
    expect(preview.amount_due).toBe(29900 / 2 - 4900 / 2);
    await world.ask('billing_change_plan', { plan_code: 'business', when: 'period_end' });
    goTo(world.clock, '2026-05-31T10:00:00.000Z');
    expect((await world.status()).discount).toBeNull();
    expect(await amounts(world)).toEqual([2450, 14950, 14950, 29900, 29900]);
    await expectBalancedLedger(world);
  });

  test('for another plan do not change the price of the present one', async () => {
    await using world = await createBillingWorld(START);
    await createCode(world, { value: 50, months: null, planCodes: ['business'] });
    await world.ask('billing_code_apply', { code: 'HALF' });
    await world.ask('billing_subscribe', { plan_code: 'pro' });
    goTo(world.clock, '2026-02-28T10:00:00.000Z');
    expect((await world.status()).discount).toMatchObject({ code: 'HALF' });
    await world.ask('billing_change_plan', { plan_code: 'business' });
    goTo(world.clock, '2026-03-31T10:00:00.000Z');
    await world.status();
    expect(await amounts(world)).toEqual([4900, 4900, 14950 - 4900, 14950]);
  });

  test('are released if the subscription is refused', async () => {
    await using world = await createBillingWorld(START);
    await createCode(world, { value: 50, months: null });
    await world.ask('billing_subscribe', { plan_code: 'business' });
    await expect(world.ask('billing_subscribe', { plan_code: 'pro', discount_code: 'HALF' })).rejects.toMatchObject({
      code: 'already_subscribed',
    });
    const { rows } = await world.db.pool.query('SELECT redeemed FROM billing_codes');
    expect(rows).toEqual([{ redeemed: 0 }]);
  });
});
