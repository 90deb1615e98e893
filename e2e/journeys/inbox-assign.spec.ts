import type { Locator } from '@playwright/test';
import { expect, expectThemesAccessible, open, publishApproval, startApproval, test } from '../fixtures/console.ts';
import { colleagueOf } from '../fixtures/workspace.ts';

test('a task is claimed, assigned to a colleague who answers it, and shows its history', async ({
  member,
  api,
  browser,
  server,
}) => {
  const grace = colleagueOf(server, 'grace');
  const invitation = { email: grace, role: 'project_contributor' };
  const { accept_url } = await api.call('POST', '/v1/invitations', invitation);
  const context = await browser.newContext({ baseURL: server.url });
  const guest = await context.newPage();
  await guest.goto(String(accept_url));
  await guest.getByLabel('Your name').fill('Grace');
  await guest.getByLabel('Password').fill('another-long-password');
  await guest.getByRole('button', { name: 'Accept invitation' }).click();
  await expect(guest.getByRole('button', { name: 'Account of Grace' })).toBeVisible();

  const workflow = await publishApproval(api, 'Handover');
  const run = await startApproval(api, workflow, 'a desk');
  const task = member.getByRole('region', { name: 'Task', exact: true });
  await open(member, `/inbox/${run}/ask?workflow_id=${workflow}`);
  await task.getByRole('button', { name: 'Assign to me' }).click();
  await expect(task.getByText(`assigned by ${server.email}`)).toBeVisible();
  await expect(task.getByRole('button', { name: 'Assign to me' })).toHaveCount(0);
  await guest.goto(`/inbox/${run}/ask?workflow_id=${workflow}`);
  await expect(guest.getByText(`Only ${server.email} can answer this.`)).toBeVisible();

  await task.getByLabel('Comment').fill('kept');
  await task.getByRole('button', { name: 'Assign to others' }).click();
  const dialog = member.getByRole('dialog', { name: 'Assign task' });
  await dialog.getByLabel('Email').fill('nobody@example.com');
  await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
  await expect(dialog.getByRole('alert')).toContainText('who may answer them');
  await expectThemesAccessible(member);
  await dialog.getByLabel('Email').fill(grace);
  await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(task.getByText(`for ${grace}`)).toBeVisible();
  // An administrator can still answer, and the typed comment is kept.
  await expect(task.getByLabel('Comment')).toHaveValue('kept');
  await expectThemesAccessible(member);

  await expect(guest.getByRole('button', { name: 'Approve' })).toBeVisible();
  await guest.getByRole('button', { name: 'Approve' }).click();
  await expect(guest.getByText('Approved “Decide Handover”')).toBeVisible();
  await expect(task.getByText(`Approved by ${grace}`)).toBeVisible();
  await context.close();
});

test('keys pressed in quick succession act on the task that the earlier keys selected', async ({ member, api }) => {
  const workflow = await publishApproval(api, 'Fast');
  const runs: string[] = [];
  for (const what of ['one', 'two', 'three']) runs.push(await startApproval(api, workflow, what));
  await open(member, `/inbox?workflow_id=${workflow}`);
  await expect(member.getByRole('link', { name: /Decide Fast/ })).toHaveCount(3);
  for (const key of ['j', 'j', 'a']) await member.keyboard.press(key);
  const confirm = member.getByRole('alertdialog', { name: 'Approve “Decide Fast”?' });
  await expect(confirm.getByRole('button', { name: 'Approve' })).toBeFocused();
  await expect(member).toHaveURL(new RegExp(`/inbox/${runs[1]}/ask`));
  await member.keyboard.press('Enter');
  await expect(member.getByText('Approved “Decide Fast”')).toBeVisible();
  const { steps } = await api.call('GET', `/v1/workflows/${workflow}/runs/${runs[1]}/context`);
  expect(steps).toMatchObject({ ask: { result: { approved: true } } });
});

test('a task is answered on a phone @phone', async ({ member, api, hasTouch }) => {
  const press = (element: Locator) => (hasTouch ? element.tap() : element.click());
  const form = { type: 'object', required: ['amount'], properties: { amount: { type: 'number', title: 'Amount' } } };
  const workflow = await publishApproval(api, 'On the way', form);
  const run = await startApproval(api, workflow, 'a taxi');
  await open(member, `/inbox?workflow_id=${workflow}`);
  const list = member.getByRole('region', { name: 'Waiting tasks' });
  await press(list.getByRole('link', { name: /Decide On the way/ }));
  // On a phone the task takes the place of the list.
  await expect(list).toBeVisible({ visible: !hasTouch });
  await expect(member.locator('strong', { hasText: 'a taxi' })).toBeVisible();
  await expect(member.getByRole('region', { name: 'Background' })).toContainText('a taxi');
  await expectThemesAccessible(member);
  await press(member.getByRole('button', { name: 'Approve' }));
  await expect(member.getByText('This field is required.')).toBeVisible();
  await expect(member.getByLabel('Amount')).toBeFocused();
  await member.getByLabel('Amount').fill('23.5');
  await press(member.getByRole('button', { name: 'Approve' }));
  await expect(member.getByText('Approved “Decide On the way”')).toBeVisible();
  await expect(list.getByText('No task matches')).toBeVisible();
  await press(member.getByRole('link', { name: 'Answered' }));
  const answered = member.getByRole('region', { name: 'Answered tasks' });
  await press(answered.getByRole('link', { name: /Decide On the way/ }));
  await expect(member.getByRole('status').filter({ hasText: 'Approved by' })).toBeVisible();
  // No content is cut off, and the page does not scroll sideways.
  const beyond = await member.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(beyond).toBeLessThanOrEqual(0);
  const { steps } = await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/context`);
  expect(steps).toMatchObject({ ask: { result: { amount: 23.5, approved: true } } });
});
