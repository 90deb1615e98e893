import { startTestMailServer, type TestMailServer } from '../../server/testing/mail.ts';
import { test as base, expect, expectAccessible, signIn } from '../fixtures/console.ts';

/** Sign-up and password reset by email: a mail server on this machine receives the messages. */
const test = base.extend<{ mail: TestMailServer }>({
  mail: async ({ perFile }, use) => {
    await use(await perFile('mail', startTestMailServer, async mail => mail[Symbol.asyncDispose]()));
  },
  serverEnv: async ({ mail }, use) => {
    await use({ BATON_SMTP_URL: mail.url, BATON_MAIL_FROM: 'Baton <baton@example.com>' });
  },
});

const linkIn = (text: string): string => /http\S+#token=\S+/.exec(text)?.[0] ?? '';

test('a forgotten password is reset by email, which ends every other session', async ({
  page,
  server,
  mail,
  browser,
}) => {
  const other = await browser.newContext({ baseURL: server.url });
  const elsewhere = await other.newPage();
  await signIn(elsewhere, server.email, server.password);
  const reset = async (password: string) => {
    await page.context().clearCookies();
    await page.goto('/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    // The sign-in form has a field of the same name, until the page has changed.
    await expect(page.getByRole('heading', { name: 'Forgot your password?' })).toBeVisible();
    await page.getByLabel('Email').fill(server.email);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send link' }).click();
    await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible();
    const link = linkIn((await mail.next(server.email)).text);
    // Opening the link, as an email scanner does, does not use it up.
    await elsewhere.goto(link);
    await expect(elsewhere.getByRole('heading', { name: 'Choose a new password' })).toBeVisible();
    await page.goto(link);
    await page.getByLabel('New password').fill(password);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Set password' }).click();
    await expect(page.getByRole('heading', { name: 'Workflows' })).toBeVisible();
    return link;
  };
  const link = await reset('a-password-set-by-mail');
  await elsewhere.goto('/workflows');
  await expect(elsewhere).toHaveURL(/\/sign-in/);
  await elsewhere.goto(link);
  await elsewhere.getByLabel('New password').fill('a-second-use-of-it');
  await elsewhere.getByRole('button', { name: 'Set password' }).click();
  await expect(elsewhere.getByText('Link not found.')).toBeVisible();
  await reset(server.password);
  await other.close();
});

test('a new member is unconfirmed until they open the emailed link and enter their password', async ({
  member,
  server,
  mail,
  browser,
}) => {
  await member.goto('/settings/members');
  await member.getByRole('button', { name: 'Invite' }).click();
  await member.getByLabel('Email').fill('grace@example.com');
  await member.getByRole('button', { name: 'Create link' }).click();
  const invitation = await member.getByRole('textbox', { name: 'Invitation link' }).inputValue();
  await member.getByRole('button', { name: 'Done' }).click();
  const other = await browser.newContext({ baseURL: server.url });
  const guest = await other.newPage();
  await guest.goto(invitation);
  await guest.getByLabel('Your name').fill('Grace');
  await guest.getByLabel('Password').fill('another-long-password');
  await guest.getByRole('button', { name: 'Accept invitation' }).click();
  await expect(guest.getByRole('button', { name: 'Account of Grace' })).toBeVisible();
  const row = member.getByRole('row').filter({ hasText: 'grace@example.com' });
  await member.reload();
  await expect(row.getByText('Not confirmed')).toBeVisible();
  await guest.goto('/settings/profile');
  await guest.getByRole('button', { name: 'Email me a link' }).click();
  await expect(guest.getByText('Email sent')).toBeVisible();

  const link = linkIn((await mail.next('grace@example.com')).text);
  await guest.goto(link);
  await expectAccessible(guest);
  await guest.getByLabel('Password').fill('not-the-password');
  await guest.getByRole('button', { name: 'Confirm address' }).click();
  await expect(guest.getByText('This is not the password of the account.')).toBeVisible();
  await guest.getByLabel('Password').fill('another-long-password');
  await guest.getByRole('button', { name: 'Confirm address' }).click();
  await expect(guest.getByRole('button', { name: 'Account of Grace' })).toBeVisible();
  await member.reload();
  await expect(row).toBeVisible();
  await expect(row.getByText('Not confirmed')).toHaveCount(0);
  await other.close();
});

test('signing out everywhere ends the sessions of other browsers, too', async ({ page, server, browser }) => {
  const other = await browser.newContext({ baseURL: server.url });
  const elsewhere = await other.newPage();
  await signIn(elsewhere, server.email, server.password);
  await signIn(page, server.email, server.password);
  await page.goto('/settings/profile');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  await elsewhere.goto('/workflows');
  await expect(elsewhere).toHaveURL(/\/sign-in/);
  await other.close();
});
