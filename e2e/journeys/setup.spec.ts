import { expect, test } from '../fixtures/console.ts';
import { startServer } from '../fixtures/server.ts';

test('only the first visit sets up the owner', async ({ page }) => {
  const none = { BATON_OWNER_EMAIL: '', BATON_OWNER_PASSWORD: '', BATON_PAT: '', BATON_SEED: 'none' };
  const server = await startServer({ env: none });
  try {
    await page.goto(`${server.url}/`);
    await expect(page).toHaveURL(/\/setup$/);
    const fill = async (token: string) => {
      await page.getByLabel('Set-up token').fill(token);
      await page.getByLabel('Your name').fill('Ada');
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Password').fill('a-long-enough-password');
      await page.getByRole('button', { name: 'Create account' }).click();
    };
    await fill('wrong');
    await expect(page.getByText('The set-up token is not the one printed at start-up.')).toBeVisible();
    const token = /Set-up token (\S+)/.exec(server.output())?.[1] ?? '';
    await fill(token);
    await expect(page).toHaveURL(`${server.url}/workflows`);
    await expect(page.getByRole('button', { name: 'Account of Ada' })).toBeVisible();
    // An open console would notice the end of its session, and ask for the password.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(`${server.url}/setup`);
    await expect(page).toHaveURL(/\/sign-in/);
  } finally {
    await server.stop();
  }
});
