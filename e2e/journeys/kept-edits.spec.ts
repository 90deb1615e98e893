import type { BrowserContext, Locator, Page } from '@playwright/test';
import { type Api, expect, expectAccessible, signIn, test } from '../fixtures/console.ts';
import { startConsoleServer } from '../fixtures/console-server.ts';
import { replaceText } from '../fixtures/editor.ts';
import { pressUntilFocused } from '../fixtures/keyboard.ts';
import { startServer } from '../fixtures/server.ts';

const lua = (id: string, script: string) => ({ id, type: 'lua_script', script });
const scriptOf = (page: Page) => page.getByRole('textbox', { name: 'Script' });
const waitUntilSaved = (page: Page) => expect(page.getByText('Saved', { exact: true })).toBeVisible();
const waitUntilRetrying = (page: Page) => expect(page.getByText('Not saved. Trying again')).toBeVisible();
const banner = (page: Page) => page.getByRole('region', { name: 'Unsaved changes' });

async function create(api: Api, name: string): Promise<string> {
  const graph = { steps: [lua('a', 'return 1'), lua('b', 'return 2')] };
  const { id } = await api.call('POST', '/v1/workflows', { name, graph });
  return String(id);
}

/** Blocks every save from now on, as if only writes failed. */
const blockSaves = (context: BrowserContext) => context.route('**/api/trpc/workflows_patch*', route => route.abort());

const allowSaves = (context: BrowserContext) => context.unroute('**/api/trpc/workflows_patch*');

/** Waits until the browser has stored a text. */
const waitUntilStored = (page: Page, text: string) =>
  page.waitForFunction(part => Object.values(window.localStorage).some(entry => entry.includes(part)), text);

/** Moves the focus to an element with the keyboard, and presses it. */
async function press(page: Page, target: Locator): Promise<void> {
  await pressUntilFocused(page, 'Tab', target);
  await page.keyboard.press('Enter');
}

test('text that is typed while the service is killed and restarted is saved automatically', async ({ browser }) => {
  const first = await startConsoleServer();
  const context = await browser.newContext({ baseURL: first.url });
  const page = await context.newPage();
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(first.url + path, {
      method,
      headers: { Authorization: `Bearer ${first.pat}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  const id = await create({ call }, 'Killed');
  await signIn(page, first.email, first.password);
  await page.goto(`/workflows/${id}?step=a`);
  await replaceText(scriptOf(page), 'return "before"');
  await waitUntilSaved(page);
  await expect(page.getByText('No problems: this draft can be published.')).toBeVisible();

  await first.kill();
  await replaceText(scriptOf(page), 'return "while it was away"');
  await waitUntilRetrying(page);
  await expect(page.getByRole('button', { name: 'Save now' })).toBeVisible();
  await expect(page.getByText('The draft could not be checked')).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.insertText(' -- more');
  await waitUntilRetrying(page);

  const env = { ...first.database, BATON_SEED: 'none', PORT: new URL(first.url).port };
  const second = await startServer({ env, dataDir: first.dataDir, cheapPasswords: true });
  await waitUntilSaved(page);
  await expect(page.getByText('No problems: this draft can be published.')).toBeVisible();
  expect(JSON.stringify(await call('GET', `/v1/workflows/${id}`))).toContain('away\\" -- more');
  await context.close();
  await second.stop();
  await first.stop();
});

test('edits of two closed tabs are offered again, and merged with later changes', async ({
  member: page,
  context,
  api,
}) => {
  const id = await create(api, 'Closed');
  const path = `/workflows/${id}`;
  await blockSaves(context);
  const openTab = async (step: string, script: string) => {
    const tab = await context.newPage();
    await tab.goto(`${path}?step=${step}`);
    await replaceText(scriptOf(tab), script);
    await waitUntilStored(tab, script.slice(-6, -1));
    return tab;
  };
  const first = await openTab('a', 'return "first"');
  const second = await openTab('b', 'return "other"');
  // Edits that an open tab keeps are not offered to another tab.
  await expect(banner(second)).toHaveCount(0);
  // The tabs close without a prompt, as in a crash.
  await first.close();
  await second.close();
  await allowSaves(context);
  await api.call('PATCH', `/v1${path}`, { graph: { steps: [lua('a', 'return "theirs"'), lua('b', 'return 2')] } });

  await page.goto(path);
  await expect(banner(page)).toContainText(/Unsaved changes from \d\d:\d\d were found\./);
  await expectAccessible(page);
  await press(page, banner(page).getByRole('button', { name: 'Restore' }));
  const stored = async () => JSON.stringify((await api.call('GET', `/v1${path}`)).graph);
  await expect.poll(stored).toContain('other');
  // The same script has changed since, which is a conflict.
  await press(page, banner(page).getByRole('button', { name: 'Restore' }));
  const conflict = page.getByRole('region', { name: 'Conflict' });
  await expect(conflict).toContainText('return "first"');
  await expect(banner(page)).toHaveCount(0);
  await press(page, conflict.getByRole('button', { name: 'Keep mine' }));
  await waitUntilSaved(page);
  expect(await stored()).toMatch(/first.*other/);
  await page.reload();
  await expect(page.getByText('No problems: this draft can be published.')).toBeVisible();
  await expect(banner(page)).toHaveCount(0);
});

test('an expired session asks for the password in every tab until one signs in, and repeats the refused requests', async ({
  page,
  context,
  server,
  api,
}) => {
  const id = await create(api, 'Expired');
  await signIn(page, server.email, server.password);
  const other = await context.newPage();
  await other.goto(`/workflows/${id}?panel=json`);
  await page.goto(`/workflows/${id}?step=a`);
  // The save is refused only after the text was typed: a poll would open the dialog over the field.
  await blockSaves(context);
  await replaceText(scriptOf(page), 'return "expired"');
  await waitUntilRetrying(page);
  await context.clearCookies();
  await allowSaves(context);
  const dialog = page.getByRole('alertdialog', { name: 'Your session has ended' });
  await expect(dialog).toHaveCount(1);
  await waitUntilStored(page, 'expired');
  await expectAccessible(page);
  await expect(dialog.getByLabel('Password')).toBeFocused();
  await page.keyboard.press('Escape');
  await page.keyboard.insertText('not the password');
  await page.keyboard.press('Enter');
  await expect(dialog.getByText('Incorrect email or password.')).toBeVisible();
  // A tab that has sent no request since notices the end of the session with its next call, and continues once the first tab has signed in.
  await expect(other.getByRole('alertdialog')).toHaveCount(1);
  await dialog.getByLabel('Password').fill(server.password);
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(other.getByRole('alertdialog')).toHaveCount(0);
  await waitUntilSaved(page);
  await expect(scriptOf(page)).toBeFocused();
  expect(JSON.stringify(await api.call('GET', `/v1/workflows/${id}`))).toContain('expired');
  await other.close();
});

test('signing out asks what to do with unsaved edits, which no other user sees', async ({
  page,
  context,
  server,
  api,
}) => {
  const id = await create(api, 'Signed out');
  await signIn(page, server.email, server.password);
  const signOut = async () => {
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
  };
  await blockSaves(context);
  await page.goto(`/workflows/${id}?step=a`);
  await replaceText(scriptOf(page), 'return "kept"');
  await waitUntilRetrying(page);
  await signOut();
  const dialog = page.getByRole('dialog', { name: 'Sign out with unsaved changes?' });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: /^Account of/ })).toBeFocused();
  await signOut();
  await dialog.getByRole('button', { name: 'Keep and sign out' }).click();
  await expect(page).toHaveURL(/\/sign-in/);

  await signIn(page, server.email, server.password);
  await page.goto(`/workflows/${id}?step=a`);
  await banner(page).getByRole('button', { name: 'Discard' }).click();
  await expect(banner(page)).toHaveCount(0);
  await page.locator('[data-sonner-toast]').getByRole('button', { name: 'Undo' }).click();
  await expect(banner(page)).toBeVisible();
  await signOut();
  await dialog.getByRole('button', { name: 'Remove and sign out' }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  expect(await page.evaluate(() => Object.keys(window.localStorage).filter(key => key.includes('edits')))).toEqual([]);
});
