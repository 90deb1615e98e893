import { expect, test } from '../fixtures/console.ts';

test('a key is created, works over REST, is revealed again, and stops working when revoked', async ({
  member,
  server,
}) => {
  const statusWith = async (token: string) =>
    (await fetch(`${server.url}/v1/workflows`, { headers: { Authorization: `Bearer ${token}` } })).status;
  await member.goto('/settings/api-keys');
  await member.getByRole('button', { name: 'Create API key' }).first().click();
  await member.getByRole('textbox', { name: 'Name' }).fill('Pipeline');
  await member.getByRole('button', { name: 'Create', exact: true }).click();
  const token = await member.getByLabel('API key', { exact: true }).inputValue();
  expect(token).toMatch(/^pat_[0-9A-Za-z]{46}$/);
  // Escape must not close the dialog, which is the only place that shows the key.
  await member.keyboard.press('Escape');
  await member.getByRole('button', { name: 'I have copied the key' }).click();
  expect(await statusWith(token)).toBe(200);

  await member.getByRole('button', { name: 'Reveal Pipeline once' }).click();
  await member.getByRole('button', { name: 'Reveal', exact: true }).click();
  await expect(member.getByLabel('API key', { exact: true })).toHaveValue(token);
  await member.getByRole('button', { name: 'Done' }).click();
  await member.getByRole('button', { name: 'Reveal Pipeline once' }).click();
  await member.getByRole('button', { name: 'Reveal', exact: true }).click();
  await expect(member.getByText('This key was revealed before.')).toBeVisible();
  await member.getByRole('button', { name: 'Done' }).click();

  await member.getByRole('button', { name: 'Revoke Pipeline' }).click();
  await member.getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(member.getByText('Pipeline is revoked')).toBeVisible();
  expect(await statusWith(token)).toBe(401);
});

test('the API reference shows an operation and keeps it in the URL', async ({ member }) => {
  await member.goto('/settings/api-reference');
  await member.getByRole('searchbox', { name: 'Search operations' }).fill('pats reveal');
  await expect(member).toHaveURL(/q=pats/);
  await member
    .getByRole('region', { name: 'Operations' })
    .getByRole('button', { name: /Reveal a token of your own/ })
    .click();
  await expect(member).toHaveURL(/operation=pats_reveal/);
  await member.reload();
  await expect(member.getByText('/v1/pats/{id}/reveal', { exact: true })).toBeVisible();
});
