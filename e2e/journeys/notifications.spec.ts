import type { Page } from '@playwright/test';
import { startHttpServer } from '../../server/testing/http-server.ts';
import { sign } from '../../server/testing/webhooks.ts';
import {
  expect,
  expectThemesAccessible,
  open,
  publishApproval,
  settled,
  startApproval,
  test,
} from '../fixtures/console.ts';

const on = (page: Page, name: string) => page.getByRole('switch', { name });

test('a webhook is set up and tested, receives the chosen events, and shows its deliveries @phone', async ({
  member,
  api,
}) => {
  const receiver = { status: 200 };
  const hook = await startHttpServer({
    '/hook': (_, response) => void response.writeHead(receiver.status).end(),
  });
  await open(member, '/settings/notifications');
  await settled(member);
  await expect(member.getByText('No notifications yet')).toBeVisible();
  await expect(on(member, 'A run fails: Webhook')).toBeDisabled();

  await member.getByRole('button', { name: 'Set up webhook' }).click();
  const dialog = member.getByRole('dialog', { name: 'Set up webhook' });
  await dialog.getByLabel('Address').fill('http://10.0.0.1/hook');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toContainText('10.0.0.1');
  await dialog.getByLabel('Address').fill(`${hook.url}/hook`);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const secret = await member.getByRole('textbox', { name: 'Signing secret' }).inputValue();
  expect(secret).toMatch(/^whsec_/);
  await member.getByRole('button', { name: 'I have copied the secret' }).click();
  await expect(on(member, 'A run fails: Webhook')).toBeChecked();

  await member.getByRole('button', { name: 'Send a test' }).click();
  await expect(member.getByText('Delivered.', { exact: true })).toBeVisible();
  const [request] = hook.seen;
  expect(request?.headers['x-service-signature']).toBe(
    sign(secret, request?.body ?? '', String(request?.headers['x-service-timestamp'])),
  );

  await on(member, 'A run fails: Webhook').click();
  await expect(on(member, 'A run fails: Webhook')).not.toBeChecked();
  receiver.status = 500;
  await startApproval(api, await publishApproval(api, 'Orders'), 'this');
  const list = member.getByRole('region', { name: 'Recent notifications' });
  const row = list.getByRole('row').filter({ hasText: 'Decide Orders (Orders) is waiting for you' });
  await expect(row).toContainText('Retrying');
  await expect(row).toContainText('answered 500.');
  await expectThemesAccessible(member);
  await row.getByRole('link').click();
  await expect(member.getByRole('heading', { name: 'Decide Orders' })).toBeVisible();

  await open(member, '/settings/notifications');
  await member.getByRole('button', { name: 'Remove', exact: true }).click();
  await member.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await expect(member.getByRole('button', { name: 'Set up webhook' })).toBeVisible();
  await expect(on(member, 'A task is waiting: Webhook')).toBeDisabled();
  await hook.close();
});

/** Replaces the browser's notifications, which a headless browser does not have, and records what they show. */
function stubNotifications(): void {
  const shown: string[] = [];
  class Stub {
    static get permission() {
      return localStorage.getItem('stub-permission') ?? 'default';
    }
    static async requestPermission() {
      localStorage.setItem('stub-permission', 'granted');
      return 'granted';
    }
    onclick: (() => void) | null = null;
    constructor(title: string) {
      shown.push(title);
      Reflect.set(window, 'lastNotification', this);
    }
    close() {}
  }
  Reflect.set(window, 'Notification', Stub);
  Reflect.set(window, 'shownNotifications', shown);
}

const shownNotifications = (page: Page) => page.evaluate(() => Reflect.get(window, 'shownNotifications') as string[]);
/** Returns whether the browser has recorded which notifications are old. */
const hasLooked = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).some(key => key.startsWith('baton-notified:')));

test('the browser shows a notification for a waiting task once, which opens the task', async ({ member, api }) => {
  await member.addInitScript(stubNotifications);
  await open(member, '/settings/notifications');
  await settled(member);
  const saved = member.waitForResponse(/me_notifications_patch/);
  await on(member, 'A task is waiting: Browser').click();
  await saved;
  await expect(on(member, 'A task is waiting: Browser')).toBeChecked();
  await expect.poll(() => hasLooked(member)).toBe(true);
  const workflow = await publishApproval(api, 'Shown');
  const run = await startApproval(api, workflow, 'this');
  await expect.poll(() => shownNotifications(member)).toEqual(['Decide Shown (Shown) is waiting for you']);

  // The next page load remembers the notification, and shows only the new one.
  await open(member, '/workflows');
  const next = await startApproval(api, workflow, 'that');
  await expect.poll(() => shownNotifications(member)).toEqual(['Decide Shown (Shown) is waiting for you']);
  // The page may be closed before it answers.
  await member
    .evaluate(() => (Reflect.get(window, 'lastNotification') as { onclick: () => void }).onclick())
    .catch(() => undefined);
  await expect(member).toHaveURL(new RegExp(`/inbox/${next}/ask`));
  expect(next).not.toBe(run);
});

test('preferences that fail to load show an error, and can be retried', async ({ member }) => {
  let isAway = true;
  await member.route(/me_notifications_/, route => (isAway ? route.abort() : route.continue()));
  await member.goto('/settings/notifications');
  const failures = member.getByText('Could not load this');
  await expect(failures).toHaveCount(2);
  isAway = false;
  await member.getByRole('button', { name: 'Try again' }).first().click();
  await expect(on(member, 'A task is waiting: Browser')).toBeVisible();
  await expect(failures).toHaveCount(0);
});
