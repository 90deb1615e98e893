import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../../platform/clock.ts';
import { type StripeService, startStripeService } from '../../../../testing/billing/stripe-service.ts';
import { testStripe } from '../../../../testing/stripe/wire.ts';

const PRO = { plan_code: 'pro' };
const TEN_DOLLARS = { amount: 1_000 };
const TEN_DOLLARS_OF_CREDITS = 10_000_000_000;

let service: StripeService;
beforeEach(async () => {
  service = await startStripeService();
});
afterEach(() => service.close());

const topUp = () => service.call('POST', 'topups/payg/intent', TEN_DOLLARS);
const intentOf = (secret: string) => secret.slice(0, secret.indexOf('_secret_'));
const payments = async () => (await service.call('GET', 'payment-history')).body.payments;

describe('a top-up', () => {
  test('grants its credits when Stripe reports the payment', async () => {
    const { status, body } = await topUp();
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body.payment).toMatchObject({ status: 'pending', credits_microcredits: TEN_DOLLARS_OF_CREDITS });
    const secret = body.checkout?.client_secret ?? '';
    expect(service.stripe.confirm(secret, 'ok')).toBe('succeeded');
    expect((await service.balances()).payg).toBe(0);
    await service.deliver();
    expect((await service.balances()).payg).toBe(TEN_DOLLARS_OF_CREDITS);
    expect(await payments()).toMatchObject([{ kind: 'topup', status: 'succeeded', amount: 1_000 }]);
  });

  test('that is declined grants none, and may be paid with another card', async () => {
    const secret = (await topUp()).body.checkout?.client_secret ?? '';
    service.stripe.confirm(secret, 'declined');
    await service.deliver();
    expect(await payments()).toMatchObject([{ status: 'failed' }]);
    expect((await service.balances()).payg).toBe(0);
    service.stripe.confirm(secret, 'ok');
    await service.deliver();
    expect(await payments()).toMatchObject([{ status: 'succeeded' }]);
    expect((await service.balances()).payg).toBe(TEN_DOLLARS_OF_CREDITS);
  });

  test('that is refunded at Stripe has its credits reversed, partly or completely', async () => {
    const secret = (await topUp()).body.checkout?.client_secret ?? '';
    service.stripe.confirm(secret, 'ok');
    await service.deliver();
    service.stripe.refund(intentOf(secret), 400);
    await service.deliver();
    expect((await service.balances()).payg).toBe(TEN_DOLLARS_OF_CREDITS * 0.6);
    expect(await payments()).toMatchObject([{ status: 'succeeded', refunded_amount: 400 }]);
    service.stripe.refund(intentOf(secret));
    await service.deliver();
    expect((await service.balances()).payg).toBe(0);
    expect(await payments()).toMatchObject([{ status: 'refunded', refunded_amount: 1_000 }]);
  });

  test('whose payer wins a dispute has its credits reversed', async () => {
    const secret = (await topUp()).body.checkout?.client_secret ?? '';
    service.stripe.confirm(secret, 'ok');
    await service.deliver();
    const { world } = service.stripe;
    const [charge] = world.charges.values();
    if (!charge) throw new Error('no charge');
    charge.disputed = true;
    world.emit('charge.dispute.closed', { ...charge, id: 'dp_1', charge: charge.id } as { id: string });
    await service.deliver();
    expect((await service.balances()).payg).toBe(0);
    expect(await payments()).toMatchObject([{ status: 'refunded', refunded_amount: 1_000 }]);
  });

  test('uses the customer of the workspace’s other payments', async () => {
    await topUp();
    await service.call('POST', 'subscription', PRO);
    await topUp();
    expect(service.stripe.world.customers.size).toBe(1);
    const [customer] = service.stripe.world.customers.values();
    expect(customer?.metadata).toEqual({ tenant_id: 'acme', product_code: 'baton' });
  });
});

describe('a discount', () => {
  test('of a Stripe promotion code is deducted from the invoice', async () => {
    service.stripe.addPromotionCode('SPRING25', { percent_off: '25', duration: 'forever' });
    const check = await service.call('POST', 'discounts/validate', { code: 'spring25', ...PRO });
    expect(check.body, JSON.stringify(check.body)).toMatchObject({ valid: true, amount: 4_900, amount_after: 3_675 });
    const { body } = await service.call('POST', 'subscription', { ...PRO, discount_code: 'SPRING25' });
    service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok');
    await service.deliver();
    expect(await payments()).toMatchObject([{ status: 'succeeded', amount: 3_675 }]);
  });

  test('of an unknown code is refused', async () => {
    const { status } = await service.call('POST', 'subscription', { ...PRO, discount_code: 'NOTHING' });
    expect(status).toBe(422);
    expect(service.stripe.world.subscriptions.size).toBe(0);
  });
});

describe('failures of Stripe', () => {
  test('a request whose answer was lost is repeated with the same key, and creates one subscription', async () => {
    service.stripe.mishap('answer_lost', { method: 'POST', path: '/v1/subscriptions' });
    const { status, body } = await service.call('POST', 'subscription', PRO);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(service.stripe.world.subscriptions.size).toBe(1);
  });

  test('a request that is abandoned and repeated has the same key, even if the trial would end later', async () => {
    service.stripe.mishap('answer_lost', { method: 'POST', path: '/v1/subscriptions' }, 3);
    const first = await service.call('POST', 'trial', PRO);
    expect(first.status).toBe(503);
    expect(first.body.code).toBe('payment_provider_unavailable');
    service.clock.advance(5_000);
    const second = await service.call('POST', 'trial', PRO);
    expect(second.status, JSON.stringify(second.body)).toBe(200);
    expect(second.body.status.status).toBe('trialing');
    expect(service.stripe.world.subscriptions.size).toBe(1);
    expect(service.stripe.world.customers.size).toBe(1);
  });

  test('while Stripe is unavailable everything is 503 with Retry-After, and nothing changes partially', async () => {
    service.stripe.down(true);
    for (const [path, body] of [
      ['trial', PRO],
      ['subscription', PRO],
      ['topups/payg/intent', TEN_DOLLARS],
    ] as const) {
      const answer = await service.call('POST', path, body);
      expect(answer.status, path).toBe(503);
      expect(answer.body.code).toBe('payment_provider_unavailable');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await service.call('GET', 'status')).body).toMatchObject({ status: 'active', plan_code: 'free' });
    expect(await payments()).toEqual([]);
    service.stripe.down(false);
    expect((await service.call('POST', 'trial', PRO)).status).toBe(200);
  });

  test.each([429, 500] as const)('%s from Stripe is 503', async status => {
    service.stripe.mishap(status, { path: '/v1/payment_intents' });
    expect(await topUp()).toMatchObject({ status: 503, body: { code: 'payment_provider_unavailable' } });
  });

  test('a price that Stripe does not know is 422, without a secret in the answer', async () => {
    service.stripe.world.prices.clear();
    const { status, body } = await service.call('POST', 'subscription', PRO);
    expect(status).toBe(422);
    expect(body.code).toBe('payment_refused');
    expect(JSON.stringify(body)).not.toContain(testStripe.secretKey);
    expect((await service.call('GET', 'status')).body).toMatchObject({ status: 'active', plan_code: 'free' });
  });

  test('a customer that was deleted at Stripe is created again', async () => {
    await topUp();
    service.stripe.world.customers.clear();
    const { status, body } = await service.call('POST', 'subscription', PRO);
    expect(status, JSON.stringify(body)).toBe(200);
    service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok');
    await service.deliver();
    expect((await service.call('GET', 'status')).body).toMatchObject({ status: 'active', plan_code: 'pro' });
  });

  test('an unpaid renewal is overdue until it is paid', async () => {
    const { body } = await service.call('POST', 'subscription', PRO);
    service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok');
    await service.deliver();
    for (const id of service.stripe.world.cards.keys()) service.stripe.world.cards.set(id, 'declined');
    service.pass(32 * DAY_MS);
    await service.deliver();
    expect((await service.call('GET', 'status')).body).toMatchObject({ status: 'past_due', plan_code: 'pro' });
    const [, renewal] = [...service.stripe.world.paymentIntents.values()];
    service.stripe.confirm(renewal?.client_secret ?? '', 'ok');
    await service.deliver();
    expect((await service.call('GET', 'status')).body).toMatchObject({ status: 'active', plan_code: 'pro' });
  });
});
