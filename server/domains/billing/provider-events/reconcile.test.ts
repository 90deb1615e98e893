import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../platform/clock.ts';
import { type StripeService, startStripeService } from '../../../testing/billing/stripe-service.ts';
import { isStripe } from '../provider/stripe/kind.ts';
import { startReconciliationJob } from './job.ts';
import { describeReconciliation, reconcile } from './reconcile.ts';

const PRO = { plan_code: 'pro' };
let service: StripeService;
beforeEach(async () => {
  service = await startStripeService();
});
afterEach(() => service.close());

async function runReconciliation(since?: number) {
  const { services } = service.container;
  if (!isStripe(services.payments)) throw new Error('not at Stripe');
  const printed: string[] = [];
  const result = await reconcile(services, services.payments.account, {
    since,
    print: line => void printed.push(line),
  });
  return { result, printed };
}
const status = async () => (await service.call('GET', 'status')).body as unknown as Record<string, unknown>;

describe('reconciliation', () => {
  test('applies what no webhook delivered, reports it, and changes nothing the second time', async () => {
    const subscribed = await service.call('POST', 'subscription', PRO);
    service.stripe.confirm(subscribed.body.checkout?.client_secret ?? '', 'ok');
    const topUp = await service.call('POST', 'topups/payg/intent', { amount: 1_000 });
    service.stripe.confirm(topUp.body.checkout?.client_secret ?? '', 'ok');
    expect(await status()).toMatchObject({ status: 'incomplete' });

    const { result, printed } = await runReconciliation();
    expect(result.events.missed).toBeGreaterThan(2);
    expect(printed.some(line => line.includes('payment_intent.succeeded: applied'))).toBe(true);
    expect(describeReconciliation(result)[0]).toContain(`${result.events.missed} missed`);
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'pro' });
    expect((await service.balances()).payg).toBe(10_000_000_000);

    const again = await runReconciliation();
    expect(again.result.events).toMatchObject({ missed: 0, applied: 0 });
    expect(again.result.subscriptions).toEqual({ compared: 1, corrected: 0 });
    expect(again.result.payments).toMatchObject({ corrected: 0 });
    expect((await service.balances()).payg).toBe(10_000_000_000);
    // Late deliveries of the same events change nothing.
    expect(new Set(await service.deliver())).toEqual(new Set([200]));
    expect((await service.balances()).payg).toBe(10_000_000_000);
  });

  test('compares states too, even if Stripe no longer keeps their events', async () => {
    const subscribed = await service.call('POST', 'subscription', PRO);
    service.stripe.confirm(subscribed.body.checkout?.client_secret ?? '', 'ok');
    const topUp = await service.call('POST', 'topups/payg/intent', { amount: 1_000 });
    service.stripe.confirm(topUp.body.checkout?.client_secret ?? '', 'ok');
    service.stripe.world.events.length = 0;
    const { result } = await runReconciliation();
    expect(result).toMatchObject({
      events: { listed: 0 },
      subscriptions: { compared: 1, corrected: 1 },
      payments: { compared: 1, corrected: 1, unknown: 0 },
    });
    expect(await status()).toMatchObject({ status: 'active', plan_code: 'pro' });
    expect((await service.balances()).payg).toBe(10_000_000_000);
  });

  test('pages through more events than Stripe lists at once', async () => {
    const intents: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const { body } = await service.call('POST', 'topups/payg/intent', { amount: 1_000 });
      intents.push(body.checkout?.client_secret ?? '');
    }
    for (const secret of intents)
      for (let tries = 0; tries < 45; tries += 1) service.stripe.confirm(secret, 'declined');
    for (const secret of intents) service.stripe.confirm(secret, 'ok');
    const { result } = await runReconciliation();
    expect(result.events.listed).toBe(138);
    expect((await service.balances()).payg).toBe(30_000_000_000);
  });

  test('starts three days before the newest known event, or at the given date', async () => {
    const first = await service.call('POST', 'topups/payg/intent', { amount: 1_000 });
    service.stripe.confirm(first.body.checkout?.client_secret ?? '', 'ok');
    await service.deliver();
    const deliveredAt = Math.floor(service.clock.now() / 1000) * 1000;
    service.pass(10 * DAY_MS);
    expect((await runReconciliation()).result.since).toBe(deliveredAt - 3 * DAY_MS);
    expect((await runReconciliation(service.clock.now() - DAY_MS)).result).toMatchObject({
      since: service.clock.now() - DAY_MS,
      events: { listed: 0 },
    });
  });

  test('continues after an item that cannot be applied, and reports it', async () => {
    const topUp = await service.call('POST', 'topups/payg/intent', { amount: 1_000 });
    const secret = topUp.body.checkout?.client_secret ?? '';
    service.stripe.world.emit('payment_intent.succeeded', { id: 'pi_that_stripe_has_lost' });
    service.clock.advance(2_000);
    service.stripe.confirm(secret, 'ok');
    const { result, printed } = await runReconciliation();
    expect(result.failed).toBe(1);
    expect(printed.some(line => line.endsWith('failed'))).toBe(true);
    expect(describeReconciliation(result).at(-1)).toContain('1 could not be applied');
    expect((await service.balances()).payg).toBe(10_000_000_000);
  });

  test('runs once a day in the process that leads, and an hour later after a failure', async () => {
    const waits: number[] = [];
    let ring = () => {};
    let leads = false;
    const { services } = service.container;
    const armed = () => new Promise<void>(resolve => (whenArmed = resolve));
    let whenArmed = () => {};
    const job = startReconciliationJob({
      services,
      leading: () => leads,
      alarm: (delayMs, then) => {
        waits.push(delayMs);
        ring = then;
        whenArmed();
        return () => {};
      },
    });
    const runNextTurn = async () => {
      const next = armed();
      ring();
      await next;
    };
    const topUp = await service.call('POST', 'topups/payg/intent', { amount: 1_000 });
    service.stripe.confirm(topUp.body.checkout?.client_secret ?? '', 'ok');
    await runNextTurn();
    expect((await service.balances()).payg).toBe(0);
    leads = true;
    service.stripe.down(true);
    await runNextTurn();
    service.stripe.down(false);
    await runNextTurn();
    expect((await service.balances()).payg).toBe(10_000_000_000);
    expect(waits).toEqual([120_000, 3_600_000, 3_600_000, 86_400_000]);
    await job.close();
  });

  test('rejects with 503 if Stripe is unavailable, and continues the next time', async () => {
    service.stripe.down(true);
    await expect(runReconciliation()).rejects.toMatchObject({ status: 503, code: 'payment_provider_unavailable' });
    service.stripe.down(false);
    expect((await runReconciliation()).result.events.missed).toBe(0);
  });
});
