import type { Response } from '@playwright/test';
import { expect, signIn, test } from '../fixtures/console.ts';
import { colleagueOf } from '../fixtures/workspace.ts';

test('a member is invited, accepts in another browser, changes role, and is removed', async ({
  member,
  browser,
  server,
}) => {
  const grace = colleagueOf(server, 'grace');
  await member.goto('/settings/members');
  await member.getByRole('button', { name: 'Invite' }).click();
  await member.getByLabel('Email').fill(grace);
  await member.getByRole('button', { name: 'Create link' }).click();
  const link = await member.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  await member.getByRole('button', { name: 'Done' }).click();
  await expect(member.getByRole('region', { name: 'Open invitations' }).getByText(grace)).toBeVisible();

  const other = await browser.newContext({ baseURL: server.url });
  const guest = await other.newPage();
  await guest.goto(link);
  await guest.getByLabel('Your name').fill('Grace');
  await guest.getByLabel('Password').fill('another-long-password');
  await guest.getByRole('button', { name: 'Accept invitation' }).click();
  await expect(guest.getByRole('button', { name: 'Account of Grace' })).toBeVisible();
  await expect(guest.getByRole('button', { name: 'Create workflow' }).first()).toBeVisible();
  await guest.goto('/settings/profile');
  await expect(guest.getByText('This service does not send email')).toBeVisible();
  await expect(guest.getByRole('button', { name: 'Email me a link' })).toHaveCount(0);
  await guest.goto('/workflows');

  await member.reload();
  await member.getByRole('combobox', { name: 'Role of Grace' }).click();
  await member.getByRole('option', { name: /Viewer/ }).click();
  await expect(member.getByText('Grace is changed')).toBeVisible();
  await guest.reload();
  await expect(guest.getByRole('heading', { name: 'Workflows' })).toBeVisible();
  await expect(guest.getByRole('button', { name: 'Create workflow' })).toHaveCount(0);

  await member.getByRole('button', { name: 'Remove Grace' }).click();
  await member.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(member.getByText('Grace is removed')).toBeVisible();
  await expect(member.getByRole('cell', { name: grace })).toHaveCount(0);
  await guest.goto('/workflows');
  await expect(guest).toHaveURL(/\/sign-in/);
  await other.close();
});

test('a revoked invitation cannot be accepted', async ({ member, page }) => {
  await member.goto('/settings/members');
  await member.getByRole('button', { name: 'Invite' }).click();
  await member.getByLabel('Email').fill('revoked@example.com');
  await member.getByRole('button', { name: 'Create link' }).click();
  const link = await member.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  await member.getByRole('button', { name: 'Done' }).click();
  await member.getByRole('button', { name: 'Revoke the invitation for revoked@example.com' }).click();
  await member.getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(member.getByText('Invitation revoked')).toBeVisible();
  await page.goto(link);
  await page.getByLabel('Your name').fill('Nobody');
  await page.getByLabel('Password').fill('another-long-password');
  await page.getByRole('button', { name: 'Accept invitation' }).click();
  await expect(page.getByText('Invitation not found.')).toBeVisible();
});

test('the password can be changed without losing this session', async ({ page, server, browser }) => {
  const other = await browser.newContext({ baseURL: server.url });
  const elsewhere = await other.newPage();
  await signIn(elsewhere, server.email, server.password);
  await signIn(page, server.email, server.password);
  // A poll may use the ended session before the new one is there; that must not open the sign-in dialog.
  const isRefused = (answer: Response) => answer.url().includes('/api/trpc/') && answer.status() === 401;
  const refused = page.waitForResponse(isRefused, { timeout: 0 });
  await page.route('**/api/auth/callback/credentials*', async route => {
    if (page.url().includes('/settings')) await refused;
    await route.continue();
  });
  const change = async (from: string, to: string) => {
    await page.goto('/settings/profile');
    await page.getByLabel('Current password').fill(from);
    await page.getByLabel('New password').fill(to);
    await page.getByRole('button', { name: 'Change password' }).click();
    await expect(page.getByText('Every other session is signed out.')).toBeVisible();
  };
  await change(server.password, 'a-new-long-password');
  await elsewhere.goto('/workflows');
  await expect(elsewhere).toHaveURL(/\/sign-in/);
  await change('a-new-long-password', server.password);
  await other.close();
});
