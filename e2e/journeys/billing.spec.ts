import type { Page } from '@playwright/test';
import { publishSteps, runBillingCommand, runOnce, tinyPlans, waitForWarning } from '../fixtures/billing.ts';
import { expect, expectAccessible, open, settled, test } from '../fixtures/console.ts';

test.use({ serverEnv: tinyPlans });

const notice = (page: Page) => page.getByRole('region', { name: 'Credits', exact: true });
/** Returns the balance shown beside the name of an account. */
const account = (page: Page, name: string) =>
  page
    .locator('dl > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .getByRole('definition');

test('a trial is started, used up, topped up, read step by step, and cancelled', async ({ member, api, ownServer }) => {
  const workflow = await publishSteps(api.call, 'Ship orders', 4);
  await open(member, '/billing');
  await settled(member);
  await expect(member.getByRole('listitem').filter({ hasText: 'Current plan' })).toContainText('Free');
  // Without credits, no run starts.
  await expect(runOnce(api.call, workflow)).rejects.toThrow(/422.*insufficient_credits/);

  await member.getByRole('button', { name: 'Start trial Pro' }).click();
  await expect(member.getByRole('dialog')).toContainText('14 days with 10 credits');
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Start trial', exact: true }).click();
  await expect(member.getByText('The trial of Pro has started')).toBeVisible();
  await expect(member.getByText('14 days left')).toBeVisible();
  await expect(account(member, 'Trial')).toContainText('10');

  // The two runs use eight of the ten credits.
  expect(await runOnce(api.call, workflow)).toBe('completed');
  expect(await runOnce(api.call, workflow)).toBe('completed');
  await waitForWarning(api.call, 80);
  await open(member, '/workflows');
  await expect(notice(member)).toContainText('80% of the credits are used.');
  await expectAccessible(member);
  await notice(member).getByRole('button', { name: 'Dismiss' }).click();
  await expect(notice(member)).toHaveCount(0);
  await open(member, '/runs');
  await expect(notice(member)).toHaveCount(0);

  // The credits do not cover the last two steps of the third run.
  expect(await runOnce(api.call, workflow)).toBe('failed');
  await waitForWarning(api.call, 100);
  await open(member, '/workflows');
  await expect(notice(member)).toContainText('All credits are used');
  // The inbox fills the height that the notice leaves.
  await open(member, '/inbox');
  await expect(notice(member)).toBeVisible();
  expect(await member.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)).toBe(0);
  // A run that cannot be paid does not start, and the page links to billing.
  await open(member, `/workflows/${workflow}`);
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  await member.getByRole('button', { name: 'Start run' }).click();
  await expect(member.getByRole('dialog').getByRole('alert')).toContainText('The run was not started.');
  await expectAccessible(member);
  await member.getByRole('link', { name: 'Go to billing' }).click();
  await settled(member);

  await member.getByRole('button', { name: 'Top up', exact: true }).click();
  await member.getByLabel('Amount in USD').fill('1');
  await expect(member.getByText('The minimum is $5.')).toBeVisible();
  await member.getByLabel('Amount in USD').fill('5');
  await expect(member.getByText('Buys 5,000 credits.')).toBeVisible();
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Continue with $5.00' }).click();
  await expect(member.getByRole('heading', { name: 'Top-up of $5.00 is recorded' })).toBeVisible();
  const payment = await member.getByRole('textbox', { name: 'Payment reference' }).inputValue();
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Done' }).click();

  await member.getByRole('tab', { name: 'Payments' }).click();
  const payments = member.getByRole('region', { name: 'Payments' });
  await expect(payments.getByText('Pending')).toBeVisible();
  await runBillingCommand(ownServer, 'confirm-payment', payment);
  // The list refetches while a payment is pending.
  await expect(payments.getByText('Paid', { exact: true })).toBeVisible();
  await expect(payments).toContainText('$5.00');
  await expect(notice(member)).toHaveCount(0);

  // The server learns of an operator's change within seconds; until then it refuses runs.
  await expect(async () => expect(await runOnce(api.call, workflow)).toBe('completed')).toPass();
  await member.getByRole('tab', { name: 'Ledger' }).click();
  const charges = member.getByRole('region', { name: 'Ledger' }).getByRole('row', { name: /^Charge/ });
  // Columns: trial, included, pay-as-you-go. The newest charge covers the whole run, and only pay-as-you-go paid it.
  for (const [cell, text] of ['Used since the last entry', '0', '0', '-4', '+4'].entries())
    await expect(
      charges
        .first()
        .getByRole('cell')
        .nth(cell + 1),
    ).toHaveText(text);
  await member.getByRole('tab', { name: 'Overview' }).click();
  await expect(account(member, 'Pay-as-you-go')).toContainText('4,996');

  await member.getByRole('tab', { name: 'Usage' }).click();
  await member.getByRole('button', { name: 'Ship orders', exact: true }).click();
  await expect(member.getByRole('button', { name: 'Remove the filter Workflow: Ship orders' })).toBeVisible();
  await expect(member.getByRole('region', { name: 'Usage by step type' })).toContainText('Lua script');
  const lines = member.getByRole('region', { name: 'Usage lines' });
  await expect(lines.getByRole('link', { name: 'step_4' }).first()).toBeVisible();
  await settled(member);
  await expectAccessible(member);
  const saved = member.waitForEvent('download');
  await member.getByRole('button', { name: 'Export CSV' }).click();
  expect((await saved).suggestedFilename()).toMatch(/^usage-\d{4}-\d{2}-\d{2}\.csv$/);
  await lines.getByRole('link', { name: 'step_4' }).first().click();
  await expect(member).toHaveURL(/\/runs\/.*step=step_4/);

  await open(member, '/billing');
  await member.getByRole('button', { name: 'Cancel trial', exact: true }).click();
  await member.getByRole('radio', { name: 'Now' }).click();
  await expectAccessible(member);
  await member.getByRole('dialog').getByRole('button', { name: 'Cancel trial' }).click();
  await expect(member.getByText('Pro has ended')).toBeVisible();
  await expect(member.getByRole('listitem').filter({ hasText: 'Current plan' })).toContainText('Free');
  await expect(account(member, 'Pay-as-you-go')).toContainText('4,996');
  // A workspace has only one trial.
  await expect(member.getByRole('button', { name: /^Start trial/ })).toHaveCount(0);
});

test('a plan is bought, changed after its price is shown, cancelled and resumed', async ({
  member,
  api,
  ownServer,
}) => {
  await open(member, '/billing');
  await member.getByRole('button', { name: 'Subscribe Pro' }).click();
  const dialog = member.getByRole('dialog');
  await dialog.getByLabel(/Discount code/).fill('NO-SUCH-CODE');
  await dialog.getByRole('button', { name: 'Check' }).click();
  await expect(dialog.getByText(/typo/)).toBeVisible();
  await expectAccessible(member);
  await dialog.getByLabel(/Discount code/).fill('');
  await dialog.getByRole('button', { name: 'Subscribe' }).click();
  await expect(member.getByText('Pro is yours')).toBeVisible();
  // The credits of the plan are granted when its invoice is paid.
  await expect(account(member, 'Included')).not.toContainText('1,000');
  const due = await api.call('GET', '/v1/billing/payment-history?kind=subscription&limit=1');
  const [bill] = due.payments as { id: string }[];
  await runBillingCommand(ownServer, 'confirm-payment', String(bill?.id));
  await member.reload();
  await expect(account(member, 'Included')).toContainText('1,000');

  await member.getByRole('button', { name: 'Change to Business' }).click();
  await expect(dialog.getByText('To pay now')).toBeVisible();
  await expect(dialog.getByText('Unused time on Pro')).toBeVisible();
  await dialog.getByRole('radio', { name: /^On / }).click();
  await expect(dialog.getByText('$0.00')).toBeVisible();
  await expectAccessible(member);
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await expect(member.getByText('Business begins with the next period')).toBeVisible();
  await expect(member.getByRole('listitem').filter({ hasText: /From \d/ })).toContainText('Business');

  await member.getByRole('button', { name: 'Keep plan' }).click();
  await dialog.getByRole('button', { name: 'Keep Pro' }).click();
  await expect(member.getByText('Pro continues')).toBeVisible();
  await member.getByRole('button', { name: 'Cancel plan', exact: true }).click();
  await dialog.getByRole('button', { name: 'Cancel plan' }).click();
  await expect(member.getByText(/^Pro ends on /)).toBeVisible();
  await expect(member.getByRole('button', { name: 'Keep plan' })).toBeVisible();

  await member.getByRole('textbox', { name: 'Code', exact: true }).fill('WELCOME');
  await member.getByRole('button', { name: 'Apply' }).click();
  await expect(member.getByText(/This code is not valid/)).toBeVisible();
  await member.getByRole('radio', { name: 'Pause the run' }).click();
  await expect(member.getByText('Saved')).toBeVisible();
});

test('a member who may not change billing sees the reason', async ({ member, browser, server }) => {
  await open(member, '/settings/members');
  await member.getByRole('button', { name: 'Invite' }).click();
  await member.getByLabel('Email').fill('viewer@example.com');
  await member.getByRole('combobox', { name: /^Role/ }).click();
  await member.getByRole('option', { name: /Viewer/ }).click();
  await member.getByRole('button', { name: 'Create link' }).click();
  const link = await member.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  await member.getByRole('button', { name: 'Done' }).click();
  const other = await browser.newContext({ baseURL: server.url });
  const viewer = await other.newPage();
  await viewer.goto(link);
  await viewer.getByLabel('Your name').fill('Vera');
  await viewer.getByLabel('Password').fill('another-long-password');
  await viewer.getByRole('button', { name: 'Accept invitation' }).click();
  await expect(viewer.getByRole('button', { name: 'Account of Vera' })).toBeVisible();
  await viewer.goto('/billing');
  await expect(viewer.getByText('Individual lines need the contributor role.')).toBeVisible();
  await expect(viewer.getByRole('heading', { level: 1, name: 'Usage' })).toBeVisible();
  await expect(viewer.getByRole('tab')).toHaveCount(0);
  await expectAccessible(viewer);

  await member.reload();
  await member.getByRole('combobox', { name: 'Role of Vera' }).click();
  await member.getByRole('option', { name: /Contributor/ }).click();
  await expect(member.getByText('Vera is changed')).toBeVisible();
  await viewer.goto('/billing');
  await expect(viewer.getByText('An admin of the workspace can change the plan.')).toBeVisible();
  await expect(viewer.getByRole('button', { name: /Subscribe|Cancel plan|Keep plan/ })).toHaveCount(0);
  await expect(viewer.getByRole('radio', { name: 'Pause the run' })).toBeDisabled();
  await other.close();
});
