import { expect, expectThemesAccessible, publishApproval, startApproval, test } from '../fixtures/console.ts';

const form = { type: 'object', required: ['amount'], properties: { amount: { type: 'number', title: 'Amount' } } };

test('several tasks are answered after one confirmation, and are listed in the history @phone', async ({
  member,
  api,
}) => {
  const workflow = await publishApproval(api, 'Many');
  for (const what of ['one', 'two', 'three']) await startApproval(api, workflow, what);
  await member.goto(`/inbox?workflow_id=${workflow}`);
  const list = member.getByRole('region', { name: 'Waiting tasks' });
  await expect(list.getByRole('link', { name: /Decide Many/ })).toHaveCount(3);
  await list.getByRole('checkbox', { name: 'Select Decide Many' }).first().click();
  await expect(list.getByText('1 selected')).toBeVisible();
  await list.getByRole('checkbox', { name: '1 selected' }).click();
  await expect(list.getByText('3 selected')).toBeVisible();
  await expectThemesAccessible(member);
  await list.getByRole('button', { name: 'Approve selected' }).click();
  const dialog = member.getByRole('alertdialog', { name: 'Approve 3 tasks?' });
  await expect(dialog).toBeVisible();
  await expectThemesAccessible(member);
  await dialog.getByRole('button', { name: 'Approve 3 tasks' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(member.getByText('Approved 3 tasks')).toBeVisible();
  await expect(member.getByText('No task matches')).toBeVisible();

  await member.getByRole('link', { name: 'Answered' }).click();
  const history = member.getByRole('region', { name: 'Answered tasks' });
  await expect(history.getByRole('link', { name: /Decide Many.*Approved by/ })).toHaveCount(3);
  await expectThemesAccessible(member);
  await history
    .getByRole('link', { name: /Decide Many/ })
    .first()
    .click();
  await expect(member.getByRole('region', { name: 'Task', exact: true })).toContainText('Approved by');
});

test('a task with a form is excluded from a bulk approval, and can be rejected with others', async ({
  member,
  api,
}) => {
  const workflow = await publishApproval(api, 'Forms', form);
  await startApproval(api, workflow, 'one');
  await startApproval(api, workflow, 'two');
  await member.goto(`/inbox?workflow_id=${workflow}`);
  const list = member.getByRole('region', { name: 'Waiting tasks' });
  await expect(list.getByRole('link', { name: /Decide Forms/ })).toHaveCount(2);
  await list.getByRole('checkbox', { name: 'Select all' }).click();
  await list.getByRole('button', { name: 'Approve selected' }).click();
  const refused = member.getByRole('alertdialog', { name: 'These tasks have forms' });
  await refused.getByRole('button', { name: 'Cancel' }).click();
  await expect(refused).toHaveCount(0);
  await list.getByRole('button', { name: 'Reject selected' }).click();
  await member.getByRole('alertdialog').getByRole('button', { name: 'Reject 2 tasks' }).click();
  await expect(member.getByText('Rejected 2 tasks')).toBeVisible();
});

test('a task that somebody else answered first is named, and the other answers are sent', async ({
  member,
  api,
  server,
}) => {
  const workflow = await publishApproval(api, 'Raced');
  const run = await startApproval(api, workflow, 'one');
  await startApproval(api, workflow, 'two');
  await member.goto(`/inbox?workflow_id=${workflow}`);
  const list = member.getByRole('region', { name: 'Waiting tasks' });
  await expect(list.getByRole('link', { name: /Decide Raced/ })).toHaveCount(2);
  await list.getByRole('checkbox', { name: 'Select all' }).click();
  await list.getByRole('button', { name: 'Reject selected' }).click();
  const dialog = member.getByRole('alertdialog', { name: 'Reject 2 tasks?' });
  await expect(dialog).toBeVisible();
  await api.call('POST', `/v1/workflows/${workflow}/runs/${run}/tasks/ask/complete`, { approved: true });
  await dialog.getByRole('button', { name: 'Reject 2 tasks' }).click();
  const failed = member.getByRole('alertdialog', { name: '1 task could not be answered' });
  await expect(failed).toContainText(`already answered by ${server.email}`);
  await expect(member.getByText('Rejected 1 task')).toBeVisible();
  await failed.getByRole('button', { name: 'Close' }).click();
  await expect(failed).toHaveCount(0);
});

test('tasks are searched and filtered, with the filters in the URL, and selected by keyboard', async ({
  member,
  api,
}) => {
  const first = await publishApproval(api, 'Lamp');
  await startApproval(api, first, 'a lamp');
  await startApproval(api, await publishApproval(api, 'Desk'), 'a desk');
  await member.goto('/inbox');
  const list = member.getByRole('region', { name: 'Waiting tasks' });
  await expect(list.getByRole('link', { name: /Decide Desk/ })).toBeVisible();
  await list.getByRole('searchbox', { name: 'Search tasks' }).fill('decide lamp');
  await expect(list.getByRole('link', { name: /Decide Desk/ })).toHaveCount(0);
  await expect(list.getByRole('link', { name: /Decide Lamp/ })).toBeVisible();
  await expect(member).toHaveURL(/q=decide\+lamp/);
  await list.getByRole('combobox', { name: 'Due' }).click();
  await member.getByRole('option', { name: 'Due in an hour' }).click();
  await expect(list.getByText('No task matches')).toBeVisible();
  await list.getByRole('button', { name: 'Clear filters' }).click();
  await expect(list.getByRole('link', { name: /Decide Desk/ })).toBeVisible();

  await member.goto(`/inbox?workflow_id=${first}`);
  await startApproval(api, first, 'another lamp');
  await expect(list.getByRole('link', { name: /Decide Lamp/ })).toHaveCount(2);
  await member.keyboard.press('j');
  await expect(member.getByRole('heading', { name: 'Decide Lamp' })).toBeVisible();
  const select = list.getByRole('checkbox', { name: 'Select all' });
  await select.focus();
  await expect(select).toBeFocused();
  await member.keyboard.press('Space');
  await expect(list.getByText('2 selected')).toBeVisible();
  await expect(list.getByRole('checkbox', { name: '2 selected' })).toBeFocused();
  await member.keyboard.press('Tab');
  await expect(list.getByRole('button', { name: 'Approve selected' })).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(member.getByRole('alertdialog', { name: 'Approve 2 tasks?' })).toBeVisible();
  await member.keyboard.press('Escape');
  await expect(member.getByRole('alertdialog')).toHaveCount(0);
});
