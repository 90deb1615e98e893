import { expect, test } from 'vitest';
import { charge } from '../../../testing/billing/ledger.ts';
import {
  type BillingWorld,
  BUSINESS,
  CREDITS,
  confirmPayments,
  createBillingWorld,
  DAY,
  FREE,
  PRO,
  type Subscribed,
} from '../../../testing/billing/subscriptions.ts';
import { auditLedger } from '../ledger/audit-store.ts';
import { applyProviderFact } from '../provider-events/apply.ts';
import { cancelPayment, confirmPayment, type OperatorServices, refundPayment } from '../settlement/operate.ts';
import { formatMoney } from './money.ts';

const START = Date.parse('2026-03-10T08:00:00.000Z');
/** The microcredits that 5.00 buys: 10 credits for a cent. */
const FIVE = 500 * 10 * CREDITS;

type TopUp = { payment: { id: string; status: string }; instructions: string | null; checkout: unknown };
const topUp = async (world: BillingWorld, amount = 500) =>
  (await world.ask<TopUp>('billing_topup_intent', { amount })).payment.id;
const operator = (world: BillingWorld): OperatorServices => world.services;

test('a top-up waits for the operator, and grants its credits once even if it is confirmed repeatedly', async () => {
  await using world = await createBillingWorld(START);
  const asked = await world.ask<TopUp>('billing_topup_intent', { amount: 500 });
  expect(asked).toMatchObject({
    payment: { status: 'pending', amount: 500, credits_microcredits: FIVE },
    checkout: null,
  });
  expect(asked.instructions).toContain('USD 5.00');
  expect((await world.balances()).payg).toBe(0);
  const { id } = asked.payment;
  await Promise.all([1, 2, 3].map(() => confirmPayment(operator(world), id)));
  expect((await world.balances()).payg).toBe(FIVE);
  await expect(cancelPayment(operator(world), id)).rejects.toMatchObject({ status: 409, code: 'not_pending' });
  expect((await auditLedger(world.db.pool, { now: START })).differences).toEqual([]);
});

test('a cancelled payment grants nothing', async () => {
  await using world = await createBillingWorld(START);
  const id = await topUp(world);
  await cancelPayment(operator(world), id);
  await expect(confirmPayment(operator(world), id)).rejects.toMatchObject({ status: 409 });
  expect((await world.balances()).payg).toBe(0);
});

test('a refund reverses the same share of the credits as of the money, but no spent credits', async () => {
  await using world = await createBillingWorld(START);
  const id = await topUp(world);
  await expect(refundPayment(operator(world), id, null)).rejects.toMatchObject({ status: 409, code: 'not_paid' });
  await confirmPayment(operator(world), id);
  await refundPayment(operator(world), id, 100);
  expect((await world.balances()).payg).toBe((FIVE * 4) / 5);
  await charge(world.db.pool, 'acme', FREE + FIVE / 2, START);
  expect((await world.balances()).payg).toBe((FIVE * 3) / 10);
  await expect(refundPayment(operator(world), id, 401)).rejects.toMatchObject({ code: 'refund_exceeds_payment' });
  expect(await refundPayment(operator(world), id, null)).toMatchObject({ status: 'refunded', refundedAmount: 500 });
  expect((await world.balances()).payg).toBe(0);
  expect((await auditLedger(world.db.pool, { now: START })).differences).toEqual([]);
});

test('a subscription’s credits are granted once, when its payment is confirmed', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  const { rows } = await world.db.pool.query('SELECT id FROM payments');
  world.clock.advance(DAY);
  await Promise.all([1, 2, 3].map(() => confirmPayment(operator(world), rows[0].id)));
  expect(await world.balances()).toEqual({ trial: 0, included: FREE + PRO, payg: 0 });
  await refundPayment(operator(world), rows[0].id, null);
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  expect((await auditLedger(world.db.pool, { now: world.clock.now() })).differences).toEqual([]);
});

test('a subscription that is never paid leaves no credits, however it ends', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  await world.ask('billing_change_plan', { plan_code: 'business', when: 'now' });
  await world.ask('billing_cancel', { at_period_end: false });
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  const { rows } = await world.db.pool.query('SELECT id FROM payments');
  for (const { id } of rows) await cancelPayment(operator(world), id);
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  expect((await auditLedger(world.db.pool, { now: START })).differences).toEqual([]);
});

test('a plan that replaces an unpaid one grants its credits when both payments are confirmed', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  world.clock.advance(DAY);
  await world.ask('billing_change_plan', { plan_code: 'business', when: 'now' });
  const { rows } = await world.db.pool.query('SELECT id FROM payments ORDER BY created_at, id');
  expect(rows).toHaveLength(2);
  await confirmPayment(operator(world), rows[1].id);
  expect((await world.balances()).included).toBe(FREE);
  await confirmPayment(operator(world), rows[0].id);
  // One day of Pro, and Business for the other thirty days of the month.
  const pro = PRO - Math.floor((PRO * 30) / 31);
  expect((await world.balances()).included).toBe(FREE + pro + Math.floor((BUSINESS * 30) / 31));
  expect((await auditLedger(world.db.pool, { now: world.clock.now() })).differences).toEqual([]);
});

test('a payment that is confirmed after its period grants nothing', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  await world.ask('billing_cancel', { at_period_end: true });
  const { rows } = await world.db.pool.query('SELECT id FROM payments');
  world.clock.advance(40 * DAY);
  await confirmPayment(operator(world), rows[0].id);
  expect(await world.balances()).toEqual({ trial: 0, included: FREE, payg: 0 });
  expect((await auditLedger(world.db.pool, { now: world.clock.now() })).differences).toEqual([]);
});

test('cancelling an invoice ends the subscription and reverses the period’s remaining credits', async () => {
  await using world = await createBillingWorld(START);
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  const { rows } = await world.db.pool.query('SELECT id FROM payments');
  await charge(world.db.pool, 'acme', FREE + CREDITS, START);
  world.clock.advance(DAY);
  await cancelPayment(operator(world), rows[0].id);
  expect(await world.status()).toMatchObject({ plan_code: 'free', status: 'active' });
  expect(await world.balances()).toEqual({ trial: 0, included: 0, payg: 0 });
  expect((await world.ask<Subscribed>('billing_subscribe', { plan_code: 'pro' })).status.plan_code).toBe('pro');
  await confirmPayments(world);
  expect(await world.balances()).toEqual({ trial: 0, included: PRO, payg: 0 });
});

test('an operator cannot confirm unknown payments or those of another provider', async () => {
  await using world = await createBillingWorld(START);
  await world.status();
  for (const id of ['nonsense', '0190a000-0000-7000-8000-000000000000'])
    await expect(confirmPayment(operator(world), id)).rejects.toMatchObject({ status: 404 });
  await world.db.pool.query(
    `INSERT INTO payments (id, tenant_id, kind, status, amount, currency, description, provider, created_at)
     VALUES ('0190a000-0000-7000-8000-000000000000', 'acme', 'topup', 'pending', 500, 'usd', 'Top-up', 'stripe', now())`,
  );
  await expect(confirmPayment(operator(world), '0190a000-0000-7000-8000-000000000000')).rejects.toMatchObject({
    code: 'settled_by_provider',
  });
});

test('the history is paged, filtered, and exported as CSV', async () => {
  await using world = await createBillingWorld(START);
  const ids: string[] = [];
  for (const amount of [500, 600, 700]) {
    ids.unshift(await topUp(world, amount));
    world.clock.advance(1000);
  }
  await world.ask('billing_subscribe', { plan_code: 'pro' });
  type Page = { payments: { id: string; amount: number }[]; next_cursor: string | null };
  const first = await world.ask<Page>('billing_payment_history', { limit: '2', kind: 'topup' });
  expect(first.payments.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const rest = await world.ask<Page>('billing_payment_history', {
    limit: '2',
    kind: 'topup',
    cursor: first.next_cursor,
  });
  expect(rest).toMatchObject({ payments: [{ id: ids[2] }], next_cursor: null });
  const from = new Date(START + 1000).toISOString();
  const to = new Date(START + 2000).toISOString();
  expect((await world.ask<Page>('billing_payment_history', { from, to })).payments.map(({ id }) => id)).toEqual([
    ids[1],
  ]);
  const csv = await world.ask<string>('billing_payments_export');
  const lines = csv.trim().split('\r\n');
  expect(lines[0]).toMatch(/^created_at,kind,status,amount,currency,/);
  expect(lines.map(line => line.split(',')[3])).toEqual(['amount', '4900', '700', '600', '500']);
});

test('payments that a provider reports take effect once, in any order', async () => {
  await using world = await createBillingWorld(START);
  const about = { tenantId: 'acme', paymentId: 'in_1', amount: 500, currency: 'usd', description: 'Top-up', at: START };
  const paid = { ...about, type: 'payment', kind: 'topup', status: 'succeeded', invoiceUrl: null } as const;
  const applyFact = (fact: Parameters<typeof applyProviderFact>[1]) => applyProviderFact(world.services, fact);
  expect(await applyFact({ ...paid, status: 'failed' })).toBe('applied');
  expect(await applyFact(paid)).toBe('applied');
  expect(await applyFact(paid)).toBe('stale');
  expect(await applyFact({ ...paid, status: 'pending' })).toBe('ignored');
  expect(await applyFact({ ...paid, status: 'failed' })).toBe('stale');
  expect((await world.balances()).payg).toBe(FIVE);
  const refund = { type: 'refund', tenantId: 'acme', paymentId: 'in_1', refundedAmount: 250, at: START } as const;
  expect(await applyFact(refund)).toBe('applied');
  expect(await applyFact({ ...refund, refundedAmount: 100 })).toBe('stale');
  expect(await applyFact(refund)).toBe('stale');
  expect((await world.balances()).payg).toBe(FIVE / 2);
  expect(await applyFact({ ...refund, paymentId: 'in_2' })).toBe('ignored');
  // A refund that is reported before its payment implies that the payment succeeded.
  expect(await applyFact({ ...paid, paymentId: 'in_3', status: 'pending' })).toBe('applied');
  expect(await applyFact({ ...refund, paymentId: 'in_3', refundedAmount: 500 })).toBe('applied');
  expect(await applyFact({ ...paid, paymentId: 'in_3' })).toBe('stale');
  expect((await world.balances()).payg).toBe(FIVE / 2);
});

test('money is formatted with the decimals of its currency', () => {
  expect([formatMoney(4900, 'usd'), formatMoney(4900, 'jpy'), formatMoney(1, 'eur')]).toEqual([
    'USD 49.00',
    'JPY 4,900',
    'EUR 0.01',
  ]);
});
