import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../../platform/clock.ts';
import { type StripeService, startStripeService } from '../../../../testing/billing/stripe-service.ts';
import { findPlan, noteChange, savePlan } from '../../plans/store.ts';

const PRO = { plan_code: 'pro' };
const BUSINESS = { plan_code: 'business' };
const included = { free: 10_000_000_000, pro: 60_000_000_000, business: 500_000_000_000 };

let service: StripeService;
beforeEach(async () => {
  service = await startStripeService();
});
afterEach(() => service.close());

const status = async () => (await service.call('GET', 'status')).body as unknown as Record<string, unknown>;
/** Subscribes and pays with a card that works. */
async function subscribe(plan = PRO): Promise<void> {
  const { body } = await service.call('POST', 'subscription', plan);
  expect(service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok')).toBe('succeeded');
  await service.deliver();
  expect(await status()).toMatchObject({ status: 'active', ...plan });
}
const liveSubscriptions = () =>
  [...service.stripe.world.subscriptions.values()].filter(({ ended_at: ended }) => ended === null);

describe('a trial', () => {
  test('without a card starts immediately, and ends by itself if no card is given', async () => {
    const { status: code, body } = await service.call('POST', 'trial', PRO);
    expect(code, JSON.stringify(body)).toBe(200);
    expect(body.checkout).toBeNull();
    expect(body.status).toMatchObject({ provider: 'stripe', status: 'trialing', plan_code: 'pro' });
    expect(await service.balances()).toMatchObject({ trial: 5_000_000_000 });
    expect(new Set(await service.deliver())).toEqual(new Set([200]));
    expect(await status()).toMatchObject({ status: 'trialing' });

    service.pass(15 * DAY_MS);
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'free' });
    expect(await service.balances()).toMatchObject({ trial: 0 });
    expect(liveSubscriptions()).toEqual([]);
  });

  test('with a card starts once the card is given, and charges it at the end', async () => {
    const { body } = await service.call('POST', 'trial', BUSINESS);
    expect(body.checkout).toMatchObject({ provider: 'stripe', kind: 'setup' });
    expect(body.status.status).toBe('incomplete');
    await service.deliver();
    expect(await service.balances()).toMatchObject({ trial: 0 });

    expect(service.stripe.confirm(body.checkout?.client_secret ?? '', 'declined')).toBe('requires_payment_method');
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'incomplete' });

    expect(service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok')).toBe('succeeded');
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'trialing', plan_code: 'business' });
    expect(await service.balances()).toMatchObject({ trial: 20_000_000_000 });

    service.pass(31 * DAY_MS);
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'business' });
    expect(await service.balances()).toMatchObject({ trial: 0, included: included.business });
    expect((await service.call('GET', 'payment-history')).body.payments).toMatchObject([
      { kind: 'subscription', status: 'succeeded', amount: 29_900 },
    ]);
  });

  test('ends early on request: without a card the first payment is confirmed in the browser', async () => {
    await service.call('POST', 'trial', PRO);
    const { status: code, body } = await service.call('POST', 'subscription/convert-trial-now', {});
    expect(code, JSON.stringify(body)).toBe(200);
    expect(body.checkout).toMatchObject({ kind: 'payment' });
    expect(await service.balances()).not.toMatchObject({ included: included.pro });
    service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok');
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'pro' });
    expect(await service.balances()).toMatchObject({ trial: 0, included: included.free + included.pro });
  });

  test('continues while a subscription waits for its payment, and ends when that is paid', async () => {
    await service.call('POST', 'trial', PRO);
    const { body } = await service.call('POST', 'subscription', BUSINESS);
    await service.deliver();
    expect(liveSubscriptions()).toHaveLength(2);
    service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok');
    await service.deliver();
    await service.deliver();
    expect(liveSubscriptions()).toHaveLength(1);
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'business' });
  });
});

describe('a subscription', () => {
  test('is active once its first payment is confirmed', async () => {
    const { body } = await service.call('POST', 'subscription', PRO);
    expect(body.checkout).toMatchObject({ provider: 'stripe', kind: 'payment' });
    expect(body.status.status).toBe('incomplete');
    expect(await service.balances()).not.toMatchObject({ included: included.pro });
    service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok');
    expect(new Set(await service.deliver())).toEqual(new Set([200]));
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'pro' });
    expect(await service.balances()).toMatchObject({ included: included.free + included.pro });
  });

  test('waits for the bank (3DS), survives a declined card, and ends if it is not paid', async () => {
    const { body } = await service.call('POST', 'subscription', PRO);
    const secret = body.checkout?.client_secret ?? '';
    expect(service.stripe.confirm(secret, 'declined')).toBe('requires_payment_method');
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'incomplete' });
    expect(service.stripe.confirm(secret, 'requires_action')).toBe('requires_action');
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'incomplete' });
    service.stripe.authenticate(secret, false);
    service.pass(DAY_MS);
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'free' });
    expect((await service.call('GET', 'payment-history')).body.payments).toMatchObject([{ status: 'cancelled' }]);
  });

  test('is paid once the bank approves', async () => {
    const { body } = await service.call('POST', 'subscription', PRO);
    const secret = body.checkout?.client_secret ?? '';
    service.stripe.confirm(secret, 'requires_action');
    service.stripe.authenticate(secret, true);
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'pro' });
  });

  test('is renewed each month, with the month’s credits', async () => {
    await subscribe();
    service.pass(32 * DAY_MS);
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', current_period_start: '2026-02-15T12:00:00.000Z' });
    expect((await service.balances()).included).toBe(included.pro);
    expect((await service.call('GET', 'payment-history')).body.payments).toHaveLength(2);
  });

  test('stays on its plan if the plan gets another price for new subscriptions', async () => {
    await subscribe();
    await service.call('POST', 'subscription/change-plan', BUSINESS);
    const { pool } = service.db;
    const before = await findPlan(pool, 'baton', BUSINESS);
    if (before === null) throw new Error('no plan');
    const after = { ...before, paymentPriceId: 'price_dearer' };
    await savePlan(pool, after, service.clock.now());
    await noteChange(pool, before, after, { by: 'operator:test', at: service.clock.now() });
    service.pass(32 * DAY_MS);
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'business' });
    expect((await service.call('GET', 'payment-history')).body.payments[0]).toMatchObject({ amount: 29_900 });
  });

  test('is canceled at the period’s end, or immediately', async () => {
    await subscribe();
    const later = await service.call('POST', 'subscription/cancel', {});
    expect(later.body.status).toMatchObject({ status: 'active', cancel_at_period_end: true });
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', cancel_at_period_end: true });
    const now = await service.call('POST', 'subscription/cancel', { at_period_end: false });
    expect(now.status, JSON.stringify(now.body)).toBe(200);
    expect(now.body.status).toMatchObject({ status: 'active', plan_code: 'free' });
    await service.deliver();
    expect(await status()).toMatchObject({ plan_code: 'free' });
    expect(liveSubscriptions()).toEqual([]);
  });

  test('that is canceled at the period’s end continues until then', async () => {
    await subscribe();
    await service.call('POST', 'subscription/cancel', {});
    service.pass(32 * DAY_MS);
    await service.deliver();
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'free', cancel_at_period_end: false });
  });
});

describe('another plan', () => {
  test('upgraded now costs the amount of the preview', async () => {
    await subscribe();
    service.pass(15 * DAY_MS + DAY_MS / 2);
    const preview = await service.call('POST', 'subscription/change-plan', { ...BUSINESS, preview: true });
    expect(preview.status, JSON.stringify(preview.body)).toBe(200);
    expect(preview.body.preview).toMatchObject({
      amount_due: 12_500,
      lines: [{ amount: -2_450 }, { amount: 14_950 }],
    });
    expect(await status()).toMatchObject({ plan_code: 'pro' });
    const changed = await service.call('POST', 'subscription/change-plan', BUSINESS);
    expect(changed.body.preview.amount_due).toBe(12_500);
    expect(changed.body.status).toMatchObject({ status: 'active', plan_code: 'business' });
    await service.deliver();
    expect(await status()).toMatchObject({ plan_code: 'business', current_period_end: '2026-02-15T12:00:00.000Z' });
    const { payments } = (await service.call('GET', 'payment-history')).body;
    expect(payments[0]).toMatchObject({ status: 'succeeded', amount: 12_500 });
  });

  test('whose payment requires the bank’s approval takes effect when it is paid', async () => {
    await subscribe();
    for (const id of service.stripe.world.cards.keys()) service.stripe.world.cards.set(id, 'requires_action');
    const { body } = await service.call('POST', 'subscription/change-plan', BUSINESS);
    expect(body.status.plan_code).toBe('pro');
    expect(body.checkout).toMatchObject({ kind: 'payment' });
    await service.deliver();
    expect(await status()).toMatchObject({ plan_code: 'pro', status: 'active' });
    service.stripe.authenticate(body.checkout?.client_secret ?? '', true);
    await service.deliver();
    expect(await status()).toMatchObject({ plan_code: 'business', status: 'active' });
  });

  test('downgraded at the period’s end is scheduled, and the schedule can be canceled', async () => {
    await subscribe(BUSINESS);
    const change = await service.call('POST', 'subscription/change-plan', PRO);
    expect(change.status, JSON.stringify(change.body)).toBe(200);
    expect(change.body.status).toMatchObject({ plan_code: 'business', pending_plan_code: 'pro' });
    const back = await service.call('POST', 'subscription/change-plan', BUSINESS);
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(back.body.status).toMatchObject({ plan_code: 'business', pending_plan_code: null });
    expect((await service.call('POST', 'subscription/change-plan', PRO)).body.status.pending_plan_code).toBe('pro');
    await service.deliver();
    service.pass(32 * DAY_MS);
    await service.deliver();
    expect(await status()).toMatchObject({ plan_code: 'pro', pending_plan_code: null, status: 'active' });
    expect((await service.balances()).included).toBe(included.pro);
    expect((await service.call('GET', 'payment-history')).body.payments[0]).toMatchObject({ amount: 4_900 });
  });

  test('is no longer scheduled after a cancellation', async () => {
    await subscribe(BUSINESS);
    await service.call('POST', 'subscription/change-plan', PRO);
    const { status: code, body } = await service.call('POST', 'subscription/cancel', {});
    expect(code, JSON.stringify(body)).toBe(200);
    expect(body.status).toMatchObject({ cancel_at_period_end: true, pending_plan_code: null });
  });
});
