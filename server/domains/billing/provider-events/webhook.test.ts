import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Member, type StripeService, startStripeService } from '../../../testing/billing/stripe-service.ts';
import { startTestContainer } from '../../../testing/container.ts';
import type { StoredEvent } from '../../../testing/stripe/world.ts';

const PRO = { plan_code: 'pro' };
const BUSINESS = { plan_code: 'business' };

let service: StripeService;
let slugs = 0;
beforeAll(async () => {
  service = await startStripeService();
});
afterAll(() => service.close());

const join = () => {
  slugs += 1;
  return service.join(`tenant-${slugs}`);
};
const rows = async (eventId: string) => {
  const { rows: found } = await service.db.pool.query('SELECT * FROM provider_events WHERE event_id = $1', [eventId]);
  return found;
};

async function post(body: string | Uint8Array<ArrayBuffer>, signature: string | null, type = 'application/json') {
  const headers = { 'Content-Type': type, ...(signature !== null && { 'Stripe-Signature': signature }) };
  const response = await fetch(service.webhook, { method: 'POST', body, headers });
  const { request_id: _, ...answered } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body: answered };
}

/** A paid top-up whose event Stripe has not sent yet. */
async function paidTopUp(member: Member): Promise<{ event: StoredEvent; payload: string }> {
  const { body } = await member.call('POST', 'topups/payg/intent', { amount: 1_000 });
  service.stripe.confirm(body.checkout?.client_secret ?? '', 'ok');
  const event = member.events().find(({ type }) => type === 'payment_intent.succeeded');
  if (!event) throw new Error('no payment');
  return { event, payload: JSON.stringify(event) };
}

describe('the signature', () => {
  const refused = {
    status: 401,
    body: { error: 'The signature is missing, invalid or too old.', code: 'bad_signature' },
  };

  test('is checked before anything else, and every bad one gets the same answer', async () => {
    const member = await join();
    const { event, payload } = await paidTopUp(member);
    const { stripe, clock } = service;
    const good = stripe.sign(payload);
    expect(await post(payload, null)).toEqual(refused);
    expect(await post(payload, '')).toEqual(refused);
    expect(await post(payload, 'nonsense')).toEqual(refused);
    expect(await post(payload, 't=1,v1=00')).toEqual(refused);
    expect(await post(payload, stripe.sign(payload, { secret: 'whsec_of_somebody_else' }))).toEqual(refused);
    expect(await post(payload, stripe.sign(payload, { at: clock.now() - 301_000 }))).toEqual(refused);
    expect(await post(payload.replace('1000', '9000'), good)).toEqual(refused);
    expect(await post(`${payload} `, good)).toEqual(refused);
    // The time is part of the signed content, so a newer time does not make an old signature valid.
    expect(await post(payload, good.replace(/t=\d+/, `t=${Math.floor(clock.now() / 1000) + 1}`))).toEqual(refused);
    expect(await post(payload, good.replace('v1=', 'v0='))).toEqual(refused);
    expect(await post('no json', 't=1,v1=00')).toEqual(refused);
    expect(await rows(event.id)).toEqual([]);
    expect((await member.balances()).payg).toBe(0);

    expect(await post(payload, stripe.sign(payload, { at: clock.now() - 299_000 }))).toEqual({
      status: 200,
      body: { received: true },
    });
    expect((await member.balances()).payg).toBe(10_000_000_000);
  });

  test('with the same event again has no further effect', async () => {
    const member = await join();
    const { event, payload } = await paidTopUp(member);
    const signature = service.stripe.sign(payload);
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(payload, signature)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await post(payload, signature)).toMatchObject({ status: 200 });
    expect((await member.balances()).payg).toBe(10_000_000_000);
    expect(await rows(event.id)).toMatchObject([{ tenant_id: member.tenant.tenantId, outcome: 'applied' }]);
  });

  test('of content that is no event is 400, of another content type 415, of an oversized body 413', async () => {
    for (const payload of ['no json', '[]', '{}', '{"id":"evt_1","object":"event"}'])
      expect(await post(payload, service.stripe.sign(payload)), payload).toMatchObject({ status: 400 });
    expect(await post('{}', service.stripe.sign('{}'), 'text/plain')).toMatchObject({ status: 415 });
    const large = `"${'x'.repeat(1024 * 1024)}"`;
    expect(await post(large, service.stripe.sign(large))).toMatchObject({ status: 413 });
  });

  test('is 404 if Stripe is not the provider', async () => {
    const manual = await startTestContainer();
    try {
      const payload = '{}';
      const response = await fetch(`${manual.url}/v1/billing/provider-webhook`, {
        method: 'POST',
        body: payload,
        headers: { 'Content-Type': 'application/json', 'Stripe-Signature': service.stripe.sign(payload) },
      });
      expect(response.status).toBe(404);
    } finally {
      await manual.close();
    }
  });
});

describe('an event', () => {
  const eventOf = (type: string, object: object): StoredEvent => ({
    id: `evt_made_${type}_${Math.trunc(service.clock.now())}`,
    object: 'event',
    api_version: '2020-08-27',
    created: Math.floor(service.clock.now() / 1000),
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  });

  test('of an unknown type is received and not stored', async () => {
    const event = eventOf('something.new', { id: 'x' });
    expect(await service.deliver([event])).toEqual([200]);
    expect(await rows(event.id)).toEqual([]);
  });

  test('of a customer without a workspace here is received and ignored', async () => {
    const { stripe } = service;
    const foreign = { tenant_id: 'acme', product_code: 'another-product' };
    const created = await fetch(`${stripe.url}/v1/payment_intents`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stripe.env.BATON_STRIPE_SECRET_KEY}`, 'Stripe-Version': '2026-10-28.endive' },
      body: new URLSearchParams({
        amount: '1000',
        currency: 'usd',
        'metadata[tenant_id]': foreign.tenant_id,
        'metadata[product_code]': foreign.product_code,
        'metadata[baton_payment]': 'topup',
      }),
    });
    const { client_secret: secret, id } = (await created.json()) as { client_secret: string; id: string };
    stripe.confirm(secret, 'ok');
    const event = stripe.world.events.find(
      ({ type, data: { object } }) => type === 'payment_intent.succeeded' && Reflect.get(Object(object), 'id') === id,
    );
    if (!event) throw new Error('no payment');
    expect(await service.deliver([event])).toEqual([200]);
    expect(await rows(event.id)).toMatchObject([{ tenant_id: null, outcome: 'ignored' }]);
    expect((await service.balances()).payg).toBe(0);
  });

  test('only names its object: the state is read from Stripe, not from the event', async () => {
    const member = await join();
    const { body } = await member.call('POST', 'topups/payg/intent', { amount: 1_000 });
    const id = (body.checkout?.client_secret ?? '').split('_secret_')[0];
    expect(
      await service.deliver([eventOf('payment_intent.succeeded', { id, status: 'succeeded', amount: 9_999 })]),
    ).toEqual([200]);
    expect((await member.balances()).payg).toBe(0);
  });

  test('whose object cannot be read is answered with 503, and applied when it is sent again', async () => {
    const member = await join();
    const { event } = await paidTopUp(member);
    service.stripe.down(true);
    expect(await service.deliver([event])).toEqual([503]);
    service.stripe.down(false);
    expect(await rows(event.id)).toEqual([]);
    expect(await service.deliver([event])).toEqual([200]);
    expect((await member.balances()).payg).toBe(10_000_000_000);
  });
});

/** Everything that can happen to a workspace in a month. Events are delivered only as far as the next step needs them. */
async function simulateMonth(member: Member): Promise<void> {
  const { stripe } = service;
  const deliverLast = async (type: string) => {
    const last = member.events().findLast(event => event.type === type);
    if (!last) throw new Error(`there was no ${type}`);
    await service.deliver([last]);
  };
  const subscribed = await member.call('POST', 'subscription', PRO);
  stripe.confirm(subscribed.body.checkout?.client_secret ?? '', 'declined');
  stripe.confirm(subscribed.body.checkout?.client_secret ?? '', 'ok');
  await deliverLast('customer.subscription.updated');
  const topUp = await member.call('POST', 'topups/payg/intent', { amount: 2_000 });
  const secret = topUp.body.checkout?.client_secret ?? '';
  stripe.confirm(secret, 'declined');
  stripe.confirm(secret, 'ok');
  stripe.refund(secret.split('_secret_')[0] ?? '', 500);
  expect((await member.call('POST', 'subscription/change-plan', BUSINESS)).status).toBe(200);
  stripe.refund(secret.split('_secret_')[0] ?? '', 250);
  expect((await member.call('POST', 'subscription/cancel', {})).status).toBe(200);
}

async function readState(member: Member): Promise<unknown> {
  const { body: status } = await member.call('GET', 'status');
  const { body: history } = await member.call('GET', 'payment-history');
  const payments = history.payments
    .map(({ kind, status: state, amount, refunded_amount, credits_microcredits }) =>
      [kind, state, amount, refunded_amount, credits_microcredits].join(' '),
    )
    .sort();
  return { status, payments, balances: await member.balances() };
}

describe('events in any order, any number of times', () => {
  test('lead to the same state', async () => {
    const straight = await join();
    await simulateMonth(straight);
    await service.deliver(straight.events());
    const expected = await readState(straight);
    expect(expected).toMatchObject({
      status: { status: 'active', plan_code: 'business', cancel_at_period_end: true },
      balances: { payg: 12_500_000_000 },
    });

    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat()), async numbers => {
        const next = () => Number(numbers.next().value);
        const member = await join();
        await simulateMonth(member);
        const events = member.events();
        // Each event at least once, some of them twice, all shuffled, a few at the same time.
        const queue = [...events, ...events.filter(() => next() % 3 === 0)]
          .map(event => ({ event, place: next() }))
          .sort((a, b) => a.place - b.place)
          .map(({ event }) => event);
        while (queue.length > 0) {
          const batch = queue.splice(0, 1 + (next() % 3));
          const answers = await Promise.all(batch.map(event => service.deliver([event])));
          expect(new Set(answers.flat())).toEqual(new Set([200]));
        }
        expect(await readState(member)).toEqual(expected);
      }),
      { numRuns: 8 },
    );
  });
});
