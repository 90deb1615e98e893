import { createHmac } from 'node:crypto';
import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, open, publishApproval, settled, test } from '../fixtures/console.ts';

/** Fills in the fields that every preset needs, and returns the dialog. */
async function openDialog(member: Page, { name, workflow, preset }: Record<'name' | 'workflow' | 'preset', string>) {
  await open(member, '/webhooks?create=1');
  const dialog = member.getByRole('dialog', { name: 'Create webhook' });
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  await choose(member, dialog.getByRole('combobox', { name: 'Workflow' }), workflow);
  await choose(member, dialog.getByRole('combobox', { name: 'Deliveries are authenticated by' }), preset);
  return dialog;
}

async function choose(member: Page, field: Locator, option: string | RegExp): Promise<void> {
  await field.click();
  await member.getByRole('option', { name: option }).first().click();
  await expect(member.getByRole('listbox')).toHaveCount(0);
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<number> {
  const all = { 'Content-Type': 'application/json', ...headers };
  return (await fetch(url, { method: 'POST', headers: all, body })).status;
}

test('a webhook for GitHub shows the strength of its authentication, and accepts GitHub’s signatures', async ({
  member,
  api,
}) => {
  await publishApproval(api, 'Triage issues');
  const dialog = await openDialog(member, { name: 'Issues', workflow: 'Triage issues', preset: 'GitHub' });
  await expect(dialog.getByText('Medium', { exact: true })).toBeVisible();
  await expect(dialog.getByRole('checkbox', { name: 'Require a timestamp' })).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog.getByText('Choose an API key, because the sender cannot send one.')).toBeVisible();
  await choose(member, dialog.getByRole('combobox', { name: 'Runs belong to' }), /@/);
  await expectAccessible(member);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();

  const ready = member.getByRole('dialog', { name: 'Issues is ready' });
  const secret = await ready.getByRole('textbox', { name: 'Signing secret', exact: true }).inputValue();
  const url = await ready.getByRole('textbox', { name: 'Ingress URL' }).inputValue();
  await expectAccessible(member);
  await ready.getByRole('button', { name: 'I have copied it' }).click();
  await expect(ready).toHaveCount(0);

  const body = '{"action":"opened"}';
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { 'X-GitHub-Event': 'issues', 'X-GitHub-Delivery': '1', 'X-Hub-Signature-256': signature };
  expect(await post(url, headers, body)).toBe(202);
  expect(await post(url, { ...headers, 'X-GitHub-Event': 'ping', 'X-GitHub-Delivery': '2' }, body)).toBe(200);
  expect(await post(url, {}, body)).toBe(401);

  const listed = member.getByRole('region', { name: 'Webhooks' }).getByRole('row').filter({ hasText: 'Issues' });
  await expect(listed).toContainText('GitHub');
  await expect(listed.getByText('Medium', { exact: true })).toBeVisible();
  await member.getByRole('link', { name: 'Issues', exact: true }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'Issues' })).toBeVisible();
  await expect(member.getByText('Medium', { exact: true })).toBeVisible();
  await expect(member.getByText('Set up the sender')).toBeVisible();
  const deliveries = member.getByRole('region', { name: 'Deliveries' });
  await expect(deliveries.getByText('missing_signature')).toBeVisible();
  await expect(deliveries.getByText('ping', { exact: true })).toBeVisible();
  await settled(member);
  await expectAccessible(member);
});

test('the secret shown by Stripe is stored after the webhook is created', async ({ member, api }) => {
  await publishApproval(api, 'Book payment');
  const dialog = await openDialog(member, { name: 'Payments', workflow: 'Book payment', preset: 'Stripe' });
  await choose(member, dialog.getByRole('combobox', { name: 'Runs belong to' }), /@/);
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const ready = member.getByRole('dialog', { name: 'Payments is ready' });
  const url = await ready.getByRole('textbox', { name: 'Ingress URL' }).inputValue();
  await ready.getByRole('button', { name: 'Done' }).click();
  await expect(ready).toHaveCount(0);

  await member.getByRole('link', { name: 'Payments', exact: true }).click();
  await expect(member.getByText('Until then all deliveries are refused.')).toBeVisible();
  await member.getByRole('button', { name: 'Store secret' }).click();
  const storing = member.getByRole('dialog', { name: 'Store the secret of Payments' });
  await storing.getByRole('button', { name: 'Store', exact: true }).click();
  await expect(storing.getByText('Paste the secret shown by the sender.')).toBeVisible();
  const secret = 'whsec_4242424242424242';
  await storing.getByLabel('Signing secret').fill(secret);
  await expectAccessible(member);
  await storing.getByRole('button', { name: 'Store', exact: true }).click();
  await expect(member.getByText('The secret of Payments is stored')).toBeVisible();
  await expect(member.getByText('Until then all deliveries are refused.')).toHaveCount(0);

  const body = '{"id":"evt_1"}';
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  expect(await post(url, { 'Stripe-Signature': `t=${time},v1=${signature}` }, body)).toBe(202);
});
