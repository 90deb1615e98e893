import {
  expect,
  expectAccessible,
  expectPagesAccessibleOnAllScreens,
  open,
  publishApproval,
  startApproval,
  test,
} from '../fixtures/console.ts';
import { pressPair } from '../fixtures/keyboard.ts';
import { consolePages } from '../fixtures/pages.ts';

/** Dialogs and views that are opened by query parameters. */
const openedByQuery = [
  '/workflows?create=1',
  '/workflows?import=1',
  '/webhooks?create=1',
  '/connections?create=credentials',
  '/mcp-servers?open=catalog',
  '/mcp-servers?open=register',
  '/mcp-servers?view=instances',
  '/mcp-servers?view=instances&open=instance',
  '/billing?topup=1',
  '/billing?tab=usage',
  '/billing?tab=usage&by=day',
  '/billing?tab=payments',
  '/billing?tab=ledger',
];

test('every page is accessible in both themes and on a phone', async ({ member, api }) => {
  test.setTimeout(480_000);
  const workflow = await publishApproval(api, 'Accessible');
  const run = await startApproval(api, workflow, 'this');
  const pages = consolePages();
  expect(pages).toContain('/settings/audit-log');
  await expectPagesAccessibleOnAllScreens(member, [...pages, ...openedByQuery, `/inbox/${run}/ask`]);
});

for (const theme of ['light', 'dark'] as const) {
  test.describe(theme, () => {
    test.use({ colorScheme: theme });

    test(`pages before signing in are accessible (${theme})`, async ({ page }) => {
      for (const path of ['/sign-in', '/forgot-password', '/accept-invitation#token=x', '/accept-invitation']) {
        await page.goto(path);
        await expect(page.getByRole('heading').first()).toBeVisible();
        await expectAccessible(page);
      }
    });

    test(`palette, help and menus are accessible (${theme})`, async ({ member }) => {
      await open(member, '/workflows');
      await member.keyboard.press('ControlOrMeta+k');
      await expect(member.getByPlaceholder('Search workflows, runs, pages…')).toBeFocused();
      await expectAccessible(member);
      await member.keyboard.press('Escape');
      await member.keyboard.press('?');
      await expect(member.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
      await expectAccessible(member);
    });
  });
}

test('the theme follows the system until the user chooses one, and the choice persists', async ({ member }) => {
  await member.emulateMedia({ colorScheme: 'dark' });
  await member.goto('/workflows');
  await expect(member.locator('html')).toHaveClass(/dark/);
  await member.getByRole('button', { name: /^Account of/ }).click();
  await member.getByRole('menuitemcheckbox', { name: 'Light' }).click();
  await expect(member.locator('html')).not.toHaveClass(/dark/);
  await member.reload();
  await expect(member.locator('html')).not.toHaveClass(/dark/);
});

test('every part of the page can be reached by keyboard', async ({ member }) => {
  await open(member, '/workflows');
  await member.keyboard.press('Tab');
  await expect(member.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await pressPair(member, 'g', 'r');
  await expect(member).toHaveURL(/\/runs$/);
});
