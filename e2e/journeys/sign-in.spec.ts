import { expect, signIn, test } from '../fixtures/console.ts';

test('a page requested without a session opens after signing in', async ({ page, server }) => {
  await page.goto('/runs?status=failed');
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  await page.getByLabel('Email').fill(server.email);
  await page.getByLabel('Password').fill(server.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(/\/runs\?status=failed$/);
  await expect(page.getByRole('heading', { name: 'Runs' })).toBeVisible();
});

test('a wrong password shows an error and never enters the URL', async ({ page, server }) => {
  await page.goto('/sign-in');
  await page.getByLabel('Email').fill(server.email);
  await page.getByLabel('Password').fill('not-the-password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'Incorrect email or password.' })).toBeVisible();
  expect(page.url()).not.toContain('password');
});

test('the form is disabled until hydration, and uses POST', async ({ browser, server }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: server.url });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeDisabled();
  await expect(page.locator('form')).toHaveAttribute('method', 'post');
  await context.close();
});

test('signing out ends the session', async ({ page, server }) => {
  await signIn(page, server.email, server.password);
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  await page.goto('/workflows');
  await expect(page).toHaveURL(/\/sign-in/);
});

test('a copied cookie is invalid after signing out', async ({ page, server, browser }) => {
  await signIn(page, server.email, server.password);
  const thief = await browser.newContext({ baseURL: server.url });
  await thief.addCookies(await page.context().cookies());
  expect((await thief.request.get('/v1/me')).status()).toBe(200);
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  expect((await thief.request.get('/v1/me')).status()).toBe(401);
  await thief.close();
});

for (const next of ['//example.com/', '/.//example.com/'])
  test(`a return path to another site is not followed: ${next}`, async ({ page, server }) => {
    await page.goto(`/sign-in?next=${next}`);
    await page.getByLabel('Email').fill(server.email);
    await page.getByLabel('Password').fill(server.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(`${server.url}/workflows`);
  });

test('pages have a policy without eval and refuse framing', async ({ page }) => {
  const response = await page.goto('/sign-in');
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toMatch(/script-src 'self' 'nonce-[0-9a-f]{32}' 'strict-dynamic';/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe-eval');
  expect(response?.headers()['x-content-type-options']).toBe('nosniff');
});
