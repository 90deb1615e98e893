import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import { promotionCodeObject } from './money.ts';
import { priceObject, type Recurrence } from './objects.ts';
import { addCard, authenticatePayment, confirmPayment, confirmSetup, refundCharge } from './payments.ts';
import { advance } from './renewal.ts';
import { createCoupon } from './subscriptions.ts';
import { createStripeWire, type StripeWire, testStripe } from './wire.ts';
import { type CardBehaviour, need, reference, type StoredEvent, StripeWorld } from './world.ts';

/** Stripe, as far as Baton speaks to it: keeps state, speaks its wire format, sends signed events. */
export type StripeServer = Omit<StripeWire, 'server'> & {
  url: string;
  world: StripeWorld;
  /** The environment of a service that uses this server for its payments. */
  env: Record<string, string>;
  addPrice(price: { id: string; amount: number; currency?: string; recurring?: Recurrence }): void;
  /** Adds a promotion code of Stripe on a coupon with these parameters. */
  addPromotionCode(code: string, coupon: Record<string, string>): string;
  /** Acts as the browser with a client secret: confirms with a card of this behavior. */
  confirm(clientSecret: string, behaviour: CardBehaviour): string;
  /** Acts as the bank's page for a payment that requires it. */
  authenticate(clientSecret: string, agreed: boolean): void;
  refund(paymentIntentId: string, amount?: number): void;
  /**
   * Advances the account's time to `at` (ms) and processes what becomes due. The test advances the service's own clock
   * itself.
   */
  advance(at: number): void;
  /** Returns the signature header of a delivery of `payload`, computed by the SDK. */
  sign(payload: string, options?: { secret?: string; at?: number }): string;
  /** Delivers events to a webhook; default: those that were not answered with 2xx yet, in order. Returns the statuses. */
  deliver(url: string, events?: readonly StoredEvent[]): Promise<number[]>;
  close(): Promise<void>;
};

export async function startStripeServer(clock: () => number = Date.now): Promise<StripeServer> {
  const world = new StripeWorld(clock);
  const { server, requests, mishap, down } = createStripeWire(world);
  const delivered = new Set<string>();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sign: StripeServer['sign'] = (payload, { secret = testStripe.webhookSecret, at = clock() } = {}) =>
    Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(at / 1000) });

  return {
    url,
    world,
    requests,
    env: {
      BATON_STRIPE_SECRET_KEY: testStripe.secretKey,
      BATON_STRIPE_PUBLISHABLE_KEY: testStripe.publishableKey,
      BATON_STRIPE_WEBHOOK_SECRET: testStripe.webhookSecret,
      BATON_STRIPE_API_URL: url,
    },
    mishap,
    down,
    ...controls(world),
    sign,
    async deliver(target, events = world.events.filter(({ id }) => !delivered.has(id))) {
      const statuses: number[] = [];
      for (const event of [...events]) {
        const payload = JSON.stringify(event);
        const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Stripe-Signature': sign(payload) };
        const { status } = await fetch(target, { method: 'POST', body: payload, headers });
        if (status < 300) delivered.add(event.id);
        statuses.push(status);
      }
      return statuses;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

type Controls = Pick<StripeServer, 'addPrice' | 'addPromotionCode' | 'confirm' | 'authenticate' | 'refund' | 'advance'>;

/** Returns actions of people and banks at Stripe, and of the passing of time. */
function controls(world: StripeWorld): Controls {
  const intentOf = (clientSecret: string) => clientSecret.slice(0, clientSecret.indexOf('_secret_'));
  return {
    addPrice({ id, amount, currency = 'usd', recurring = { interval: 'month', interval_count: 1 } }) {
      const product = `prod_${id}`;
      world.prices.set(
        id,
        priceObject({ id, created: world.now(), product, currency, unit_amount: amount, recurring }),
      );
    },
    addPromotionCode(code, coupon) {
      const { id } = createCoupon(world, coupon);
      const promotion = promotionCodeObject({
        id: world.id('promotionCodes'),
        created: world.now(),
        code,
        coupon: id,
        expires_at: null,
      });
      world.promotionCodes.set(promotion.id, promotion);
      return promotion.id;
    },
    confirm(clientSecret, behaviour) {
      const card = addCard(world, behaviour);
      const id = intentOf(clientSecret);
      return (id.startsWith('seti_') ? confirmSetup(world, id, card) : confirmPayment(world, id, card)).status;
    },
    authenticate: (clientSecret, agreed) => void authenticatePayment(world, intentOf(clientSecret), agreed),
    refund(paymentIntentId, amount) {
      const intent = need(world.paymentIntents, paymentIntentId, 'payment_intent');
      refundCharge(world, reference(intent.latest_charge) ?? '', amount);
    },
    advance: at => advance(world, Math.floor(at / 1000)),
  };
}
