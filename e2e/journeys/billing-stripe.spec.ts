import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { type StripeServer, startStripeServer } from '../../server/testing/stripe/server.ts';
import { publishSteps, runOnce, tinyPlans, waitForWarning } from '../fixtures/billing.ts';
import { test as base, expect, expectAccessible, open, settled } from '../fixtures/console.ts';
import { replaceStripeJs } from '../fixtures/stripe-js.ts';

/** The server uses a fake Stripe, which keeps state and speaks Stripe's wire format. */
const test = base.extend<{ stripe: StripeServer }>({
  stripe: async ({ perFile }, use) => {
    await use(await perFile('stripe', startStripe, stripe => stripe.close()));
  },
  serverEnv: async ({ stripe }, use) => use({ ...tinyPlans, ...stripe.env }),
});

async function startStripe(): Promise<StripeServer> {
  const stripe = await startStripeServer();
  const { plans } = JSON.parse(readFileSync(tinyPlans.BATON_PLANS_FILE, 'utf8')) as {
    plans: { payment_price_id?: string; amount: number }[];
  };
  for (const { payment_price_id: id, amount } of plans) if (id !== undefined) stripe.addPrice({ id, amount });
  return stripe;
}

const account = (page: Page, name: string) =>
  page
    .locator('dl > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .getByRole('definition');

test('a trial, a top-up by card, a paid plan and its cancellation, through Stripe', async ({
  member,
  api,
  server,
  stripe,
}) => {
  const webhook = `${server.url}/v1/billing/provider-webhook`;
  let card: 'ok' | 'declined' = 'ok';
  await replaceStripeJs(member, async clientSecret => {
    const status = stripe.confirm(clientSecret, card);
    expect((await stripe.deliver(webhook)).every(answered => answered === 200)).toBe(true);
    return status === 'succeeded' ? null : 'Your card was declined.';
  });
  const workflow = await publishSteps(api.call, 'Ship orders', 4);
  const stripeRequests: string[] = [];
  member.on('request', request => request.url().includes('stripe.com') && stripeRequests.push(request.url()));

  await open(member, '/billing');
  await member.getByRole('button', { name: 'Start trial Pro' }).click();
  await member.getByRole('button', { name: 'Start trial', exact: true }).click();
  await expect(member.getByText('The trial of Pro has started')).toBeVisible();
  await stripe.deliver(webhook);
  expect(await runOnce(api.call, workflow)).toBe('completed');
  expect(await runOnce(api.call, workflow)).toBe('completed');
  await waitForWarning(api.call, 80);
  await open(member, '/workflows');
  await expect(member.getByRole('region', { name: 'Credits', exact: true })).toContainText('80% of the credits');
  // The browser requests nothing from Stripe until the user confirms.
  expect(stripeRequests).toEqual([]);

  await open(member, '/billing?topup=1');
  await member.getByLabel('Amount in USD').fill('20');
  await member.getByRole('button', { name: 'Continue with $20.00' }).click();
  const form = member.getByRole('dialog', { name: 'Pay $20.00' });
  await form.getByLabel('Card number').fill('4242');
  await settled(member);
  await expectAccessible(member);
  card = 'declined';
  await form.getByRole('button', { name: 'Pay $20.00' }).click();
  await expect(form.getByRole('alert')).toHaveText('Your card was declined.');
  card = 'ok';
  await form.getByRole('button', { name: 'Pay $20.00' }).click();
  await expect(member.getByText('$20.00 is paid')).toBeVisible();
  await expect(account(member, 'Pay-as-you-go')).toContainText('20,000');
  expect(stripeRequests.every(url => url.startsWith('https://js.stripe.com/'))).toBe(true);

  // The run uses the last two credits of the trial and two of the top-up.
  expect(await runOnce(api.call, workflow)).toBe('completed');
  await open(member, '/billing');
  await expect(account(member, 'Pay-as-you-go')).toContainText('19,998');
  await expect(account(member, 'Trial')).toHaveText('0');

  await member.getByRole('button', { name: 'End trial and pay now' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Pay $49.00' }).click();
  const payment = member.getByRole('dialog', { name: 'Pay for Pro' });
  await payment.getByLabel('Card number').fill('4242');
  await payment.getByRole('button', { name: 'Pay', exact: true }).click();
  await expect(account(member, 'Included')).toHaveText('1,000');
  await expect(member.getByText(/^Renews on/)).toBeVisible();
  await member.getByRole('tab', { name: 'Payments' }).click();
  const payments = member.getByRole('region', { name: 'Payments' });
  await expect(payments.getByText('Paid', { exact: true })).toHaveCount(2);
  await expect(payments.getByText('$49.00')).toBeVisible();

  await member.getByRole('tab', { name: 'Overview' }).click();
  await member.getByRole('button', { name: 'Cancel plan', exact: true }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Cancel plan' }).click();
  await expect(member.getByText(/^Pro ends on /)).toBeVisible();
  expect([...stripe.world.subscriptions.values()].filter(each => each.cancel_at_period_end)).toHaveLength(1);
  await member.getByRole('button', { name: 'Keep plan' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Keep Pro' }).click();
  await expect(member.getByText('Pro continues')).toBeVisible();
  await member.getByRole('button', { name: 'Cancel plan', exact: true }).click();
  await member.getByRole('radio', { name: 'Now' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Cancel plan' }).click();
  await expect(member.getByText('Pro has ended')).toBeVisible();
  await stripe.deliver(webhook);
  await expect(member.getByRole('listitem').filter({ hasText: 'Current plan' })).toContainText('Free');
});

test('a payment form that fails to load shows an error, and a return from the bank is acknowledged', async ({
  member,
}) => {
  await member.route('https://js.stripe.com/**', route => route.abort());
  await open(member, '/billing?topup=1');
  await member.getByRole('button', { name: /^Continue with/ }).click();
  await expect(member.getByRole('dialog').getByText('The payment form could not be loaded')).toBeVisible();
  await member.unroute('https://js.stripe.com/**');
  await replaceStripeJs(member, async () => null);
  await member.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
  await expect(member.getByLabel('Card number')).toBeVisible();

  await member.goto('/billing?payment_intent=pi_1&payment_intent_client_secret=pi_1_secret_2&redirect_status=failed');
  await expect(member.getByText('The payment was not confirmed. You have not been charged.')).toBeVisible();
  await expect(member).toHaveURL(/\/billing$/);
});
