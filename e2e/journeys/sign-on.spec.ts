import type { Page } from '@playwright/test';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import {
  type IdentityProvider,
  signOnClientId,
  signOnClientSecret,
  startIdentityProvider,
} from '../../server/testing/identity-provider.ts';
import { test as base, expect, expectThemesAccessible } from '../fixtures/console.ts';

const roleMap = { builders: { workspace: 'main', role: 'project_contributor' } };
const ada = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['builders'] };

/** A service without passwords, and the provider at which its people sign in. */
const test = base.extend<{ issuer: IdentityProvider }>({
  serverEnv: async ({ perFile }, use) => {
    const port = await perFile('port', freePort, async () => undefined);
    await use({
      BATON_OIDC_ISSUER: `http://127.0.0.1:${port}`,
      BATON_OIDC_CLIENT_ID: signOnClientId,
      BATON_OIDC_CLIENT_SECRET: signOnClientSecret,
      BATON_OIDC_ROLE_MAP: JSON.stringify(roleMap),
      BATON_PASSWORD_SIGN_IN: 'off',
    });
  },
  issuer: async ({ server, perFile }, use) => {
    const port = await perFile('port', freePort, async () => undefined);
    const addresses = { redirectUri: `${server.url}/api/auth/oidc/callback`, signedOutUri: `${server.url}/sign-in` };
    const start = () => startIdentityProvider({ ...addresses, port });
    await use(await perFile('issuer', start, issuer => issuer.close()));
  },
});

const button = (page: Page) => page.getByRole('link', { name: 'Sign in with single sign-on' });

test('a person signs in with single sign-on, and out of both', async ({ page, issuer, server }) => {
  issuer.person = ada;
  await page.goto('/runs?status=failed');
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  await expect(page.getByLabel('Password')).toHaveCount(0);
  await expectThemesAccessible(page);
  await button(page).click();
  await expect(page).toHaveURL(/\/runs\?status=failed$/);
  await expect(page.getByRole('heading', { name: 'Runs' })).toBeVisible();
  await page.goto('/settings/profile');
  await expect(page.getByRole('button', { name: 'Sign out everywhere' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Change password' })).toHaveCount(0);

  const cookies = await page.context().cookies();
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign out there' }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  await page.goto('/workflows');
  await expect(page).toHaveURL(/\/sign-in/);
  await page.context().addCookies(cookies.filter(({ name }) => name === 'next-auth.session-token'));
  expect((await page.request.get(`${server.url}/v1/me`)).status()).toBe(401);
});

test('a refused sign-in says why in one line', async ({ page, issuer }) => {
  issuer.person = { ...ada, sub: 'eve', email: 'eve@example.com', groups: [] };
  await page.goto('/sign-in');
  await button(page).click();
  await expect(page).toHaveURL(/\/sign-in\?error=sign_on_no_role$/);
  await expect(page.getByRole('alert').filter({ hasText: 'Your account has no role here.' })).toBeVisible();
  await expectThemesAccessible(page);
});

test('the way back of another browser signs nobody in', async ({ page, issuer, browser, server }) => {
  issuer.person = ada;
  const other = await (await browser.newContext({ baseURL: server.url })).newPage();
  const waiting = other.waitForRequest(request => request.url().includes('/api/auth/oidc/callback?'));
  await other.route('**/api/auth/oidc/callback?*', route => route.abort());
  await other.goto('/sign-in');
  await button(other).click();
  const back = (await waiting).url();
  await other.context().close();
  await page.goto(back);
  await expect(page).toHaveURL(/\/sign-in\?error=sign_on_expired$/);
  expect((await page.request.get(`${server.url}/v1/me`)).status()).toBe(401);
});

test('a session that ends is continued from a new tab, without losing the page', async ({ page, issuer, context }) => {
  issuer.person = ada;
  await page.goto('/sign-in');
  await button(page).click();
  await expect(page.getByRole('heading', { name: 'Workflows' })).toBeVisible();
  await page.goto('/settings/profile');
  await page.getByLabel('Name').fill('Ada Lovelace');
  await context.clearCookies({ name: 'next-auth.session-token' });
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Your session has ended' });
  await expect(dialog).toBeVisible();
  await expectThemesAccessible(page);
  const opened = context.waitForEvent('page');
  await dialog.getByRole('link', { name: 'Sign in with single sign-on in a new tab' }).click();
  await expect(await opened).toHaveURL(/\/workflows$/);
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText('Name saved')).toBeVisible();
});
