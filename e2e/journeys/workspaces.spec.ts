import { expect, expectAccessible, open, signIn, test } from '../fixtures/console.ts';

test.use({ serverEnv: { BATON_SIGN_UP: 'open', BATON_RATE_LIMIT_SIGN_IN_PER_MINUTE: '3' } });

const switcher = (name: string) => new RegExp(`^Workspace ${name}, project default`);

test('a workspace is created by keyboard, used, and left', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Of the first', graph: { steps: [] } });
  await open(member, '/workflows');
  await member.getByRole('button', { name: switcher('main') }).focus();
  await member.keyboard.press('Enter');
  await expect(member.getByRole('menuitemcheckbox', { name: 'default' })).toBeChecked();
  // The menu takes the focus once it is open.
  await expect(member.getByRole('menuitemcheckbox', { name: 'default' })).toBeFocused();
  await member.getByRole('menuitem', { name: 'Create workspace' }).focus();
  await member.keyboard.press('Enter');
  const dialog = member.getByRole('dialog', { name: 'Create workspace' });
  await expect(dialog.getByLabel('Name')).toBeFocused();

  const slug = dialog.getByLabel('Slug');
  await member.keyboard.press('Enter');
  await expect(dialog.getByText('Enter a name.')).toBeVisible();
  await dialog.getByLabel('Name').fill('North & Söhne');
  await expect(slug).toHaveValue('north-sohne');
  await slug.fill('North');
  await member.keyboard.press('Enter');
  await expect(slug).toHaveAccessibleDescription(/Use 1 to 63 lowercase letters/);
  await slug.fill('main');
  await member.keyboard.press('Enter');
  await expect(slug).toHaveAccessibleDescription(/already exists/);
  await expectAccessible(member);
  await slug.fill('north');
  await member.keyboard.press('Enter');

  await expect(member.getByRole('button', { name: switcher('North & Söhne') })).toBeVisible();
  await expect(member.getByRole('link', { name: 'Of the first' })).toHaveCount(0);
  await member.goto(`/workflows/${String(id)}`);
  await expect(member.getByText('Not found').first()).toBeVisible();
  const there = { 'X-Tenant-Id': 'north' };
  const mine = await member.request.get(`/v1/workflows/${String(id)}`, { headers: there });
  expect([mine.status(), (await member.request.get('/v1/workflows', { headers: there })).status()]).toEqual([404, 200]);

  await open(member, '/workflows');
  await member.getByRole('button', { name: switcher('North & Söhne') }).click();
  await member.getByRole('menuitemcheckbox', { name: 'default', checked: false }).click();
  await expect(member.getByRole('button', { name: switcher('main') })).toBeVisible();
  await expect(member.getByRole('link', { name: 'Of the first' })).toBeVisible();

  // The switch reloads the page, which handles keys only after hydration.
  await open(member, '/workflows');
  await member.keyboard.press('ControlOrMeta+k');
  await member.getByRole('option', { name: 'Switch to North & Söhne' }).click();
  await expect(member.getByRole('button', { name: switcher('North & Söhne') })).toBeVisible();
});

test('a visitor signs up and gets a workspace', async ({ page }) => {
  await page.goto('/sign-in');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await expectAccessible(page);
  await page.getByLabel('Your name').fill('Grace');
  await page.getByLabel('Email').fill('grace@example.com');
  await page.getByLabel('Password').fill('another-long-password');
  await page.getByLabel('Workspace name').fill('Graces');
  await page.getByLabel('Slug').fill('main');
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByLabel('Slug')).toHaveAccessibleDescription(/already exists/);
  await page.getByLabel('Slug').fill('graces');
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByRole('button', { name: switcher('Graces') })).toBeVisible();
});

test('above the rate limit, a sign-in is refused with 429 and the time of the next attempt', async ({
  page,
  server,
}) => {
  const { csrfToken } = await (await page.request.get('/api/auth/csrf')).json();
  const form = { csrfToken, email: 'nobody@example.com', password: 'a wrong password' };
  const attempt = (json = 'true') =>
    page.request.post('/api/auth/callback/credentials', { form: { ...form, json }, maxRedirects: 0 });
  // The limit applies to each minute of the clock, which may change meanwhile.
  await expect(async () => {
    const refused = await attempt();
    expect(refused.status()).toBe(429);
    expect(Number(refused.headers()['retry-after'])).toBeGreaterThan(0);
    const expected = { code: 'rate_limited', error: expect.stringContaining('Try again in') };
    expect(await refused.json()).toMatchObject(expected);
    const plain = await attempt('false');
    expect([plain.status(), plain.headers().location]).toEqual([429, undefined]);
  }).toPass({ intervals: [0] });
  await page.goto('/sign-in');
  await page.getByLabel('Email').fill(form.email);
  await page.getByLabel('Password').fill(form.password);
  await expect(async () => {
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'Too many sign-in attempts.' })).toBeVisible({
      timeout: 3_000,
    });
  }).toPass();
  // Another account at the same IP address is not limited.
  await signIn(page, server.email, server.password);
});
