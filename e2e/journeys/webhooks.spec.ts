import { createHmac } from 'node:crypto';
import { expect, expectAccessible, open, publishApproval, settled, test } from '../fixtures/console.ts';

test('a webhook is created, receives deliveries, is tested, switched off, rotated and deleted', async ({
  member,
  api,
  server,
}) => {
  await publishApproval(api, 'Fulfil order');
  await open(member, '/webhooks');
  await member.getByRole('button', { name: 'Create webhook' }).first().click();
  await member.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member.getByText('Enter a name.')).toBeVisible();
  await expect(member.getByText('Choose a workflow.')).toBeVisible();
  await member.getByRole('textbox', { name: 'Name' }).fill('Shop');
  await member.getByRole('combobox', { name: 'Workflow' }).click();
  await member.getByRole('option', { name: 'Fulfil order' }).click();
  await member.getByRole('textbox', { name: /Fixed payload/ }).fill('{"source": "shop"}');
  await member.getByRole('checkbox', { name: 'Require a timestamp' }).click();
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Create', exact: true }).click();

  const secretField = member.getByRole('textbox', { name: 'Signing secret', exact: true });
  const secret = await secretField.inputValue();
  const url = await member.getByRole('textbox', { name: 'Ingress URL' }).inputValue();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
  await expect(member.getByRole('region', { name: 'curl example' })).toContainText(secret);
  await member.getByRole('tab', { name: 'Python' }).click();
  await expect(member.getByRole('region', { name: 'Python example' })).toContainText(url);
  await expectAccessible(member);
  // Escape must not close the dialog, which is the only place that shows the secret.
  await member.keyboard.press('Escape');
  await expect(secretField).toHaveValue(secret);
  await member.getByRole('button', { name: 'I have copied it' }).click();

  const deliver = async (key: string, body = '{"order": 1042}') => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${server.pat}`,
        'X-Service-Timestamp': timestamp,
        'X-Service-Signature': `sha256=${signature}`,
      },
      body,
    });
    return response.status;
  };
  expect(await deliver(secret)).toBe(202);
  expect(await deliver('whsec_wrong')).toBe(401);

  await member.getByRole('link', { name: 'Shop', exact: true }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'Shop' })).toBeVisible();
  const deliveries = member.getByRole('region', { name: 'Deliveries' });
  await expect(deliveries.getByText('Accepted', { exact: true })).toBeVisible();
  await expect(deliveries.getByText('bad_signature')).toBeVisible();
  await expect(member.getByRole('region', { name: 'curl example' })).not.toContainText(secret);

  await member.getByRole('button', { name: 'Test delivery' }).click();
  await member.getByRole('textbox', { name: 'Payload' }).fill('{"order"');
  await member.getByRole('button', { name: 'Deliver', exact: true }).click();
  await expect(member.getByRole('dialog').getByRole('alert')).toBeVisible();
  await member.getByRole('textbox', { name: 'Payload' }).fill('{"order": 7}');
  await member.getByRole('button', { name: 'Deliver', exact: true }).click();
  await expect(member.getByText('The delivery was accepted')).toBeVisible();
  await expect(deliveries.getByText(/^Test by /)).toBeVisible();
  await settled(member);
  await expectAccessible(member);

  const chooseAction = async (name: string) => {
    await member.getByRole('button', { name: /^Actions for / }).click();
    await member.getByRole('menuitem', { name }).click();
  };
  await chooseAction('Edit');
  await member.getByRole('textbox', { name: 'Name' }).fill('Web shop');
  await member.getByRole('button', { name: 'Save' }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'Web shop' })).toBeVisible();

  await member.getByRole('switch', { name: 'Accepts deliveries' }).click();
  await expect(member.getByText('Web shop is turned off')).toBeVisible();
  expect(await deliver(secret)).toBe(401);
  await member.getByRole('switch', { name: 'Accepts deliveries' }).click();
  await expect(member.getByText('Web shop is turned on')).toBeVisible();

  await chooseAction('Rotate secret');
  await member.getByRole('button', { name: 'Rotate', exact: true }).click();
  const rotated = await secretField.inputValue();
  expect(rotated).not.toBe(secret);
  await member.getByRole('button', { name: 'I have copied it' }).click();
  await expect(member.getByText(/^accepted until/)).toBeVisible();
  expect([await deliver(secret), await deliver(rotated)]).toEqual([202, 202]);

  await deliveries.getByRole('link', { name: 'Open run' }).first().click();
  await expect(member).toHaveURL(/\/workflows\/.*\/runs\//);
  await expect(member.getByText('webhook').first()).toBeVisible();
  await member.goBack();

  await chooseAction('Delete');
  await member.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(member.getByText('Web shop is deleted')).toBeVisible();
  await expect(member).toHaveURL(/\/webhooks$/);
  expect(await deliver(rotated)).toBe(401);
});

test('the page of an unknown webhook says that it does not exist', async ({ member }) => {
  await open(member, '/webhooks/01890000-0000-7000-8000-000000000000');
  await expect(member.getByText('Webhook not found.')).toBeVisible();
});
