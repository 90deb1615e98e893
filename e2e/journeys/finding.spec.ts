import { expect, expectThemesAccessible, publishApproval, startApproval, test } from '../fixtures/console.ts';

test('workflows are found by folder and tag: dragged, moved by keyboard, renamed and filtered', async ({
  member,
  api,
}) => {
  const ids: Record<string, string> = {};
  for (const name of ['Invoices', 'Orders', 'Refunds']) {
    ids[name] = String((await api.call('POST', '/v1/workflows', { name })).id);
  }
  await api.call('POST', '/v1/workflows/organize', {
    workflow_ids: [ids.Refunds],
    folder: 'Finance',
    add_tags: ['monthly'],
  });
  await member.goto('/workflows');
  const list = member.getByRole('region', { name: 'Workflows' });
  const row = (name: string) => list.getByRole('row').filter({ hasText: name });
  const folders = member.getByRole('navigation', { name: 'Folders' });
  await expect(folders.getByRole('button', { name: 'Finance 1' })).toBeVisible();

  // By mouse: a row is dragged into a folder.
  await row('Invoices').dragTo(folders.getByRole('button', { name: 'Finance 1' }));
  await expect(folders.getByRole('button', { name: 'Finance 2' })).toBeVisible();
  await expect(row('Invoices').getByRole('button', { name: 'Finance' })).toBeVisible();

  // By keyboard: a workflow is selected, moved and tagged.
  await member.getByRole('checkbox', { name: 'Select Orders' }).focus();
  await member.keyboard.press('Space');
  await member.getByRole('button', { name: 'Move or tag' }).press('Enter');
  const dialog = member.getByRole('dialog', { name: 'Move or tag Orders' });
  await dialog.getByRole('textbox', { name: 'Folder' }).fill('Finance/Sales');
  await dialog.getByRole('textbox', { name: 'Tags' }).fill('EU, monthly');
  await expectThemesAccessible(member);
  await member.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(row('Orders').getByRole('button', { name: 'eu' })).toBeVisible();
  await expectThemesAccessible(member);

  // A folder and tags filter the list, and both are in the URL.
  await folders.getByRole('button', { name: 'Finance 3' }).click();
  await expect(member).toHaveURL(/folder=Finance/);
  await member.getByRole('button', { name: 'Tags' }).click();
  await member.getByRole('menuitemcheckbox', { name: 'eu (1)' }).click();
  await expect(row('Orders')).toBeVisible();
  await expect(row('Invoices')).toHaveCount(0);
  await expect(member).toHaveURL(/tags=eu/);
  await folders.getByRole('button', { name: /without the tag eu/ }).click();
  await expect(row('Invoices')).toBeVisible();

  await folders.getByRole('button', { name: 'Rename folder' }).click();
  const rename = member.getByRole('dialog', { name: 'Rename Finance' });
  await rename.getByRole('textbox', { name: 'Folder' }).fill('Money');
  await rename.getByRole('button', { name: 'Rename' }).click();
  await expect(rename).toHaveCount(0);
  await expect(member).toHaveURL(/folder=Money/);
  await expect(folders.getByRole('button', { name: 'Sales 1' })).toBeVisible();
  await folders.getByRole('button', { name: 'All workflows' }).click();
  await expect(folders.getByRole('button', { name: 'Money 3' })).toBeVisible();
});

test('a view of runs is saved, opened, made the default and deleted', async ({ member, api }) => {
  const workflow = await publishApproval(api, 'Viewed');
  await startApproval(api, workflow, 'one');
  await member.goto('/runs?status=paused');
  await expect(member.getByText('No run matches')).toBeVisible();
  await member.getByRole('button', { name: 'Views' }).click();
  await member.getByRole('menuitem', { name: 'Save as a view' }).click();
  const dialog = member.getByRole('dialog', { name: 'Save as a view' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('On hold');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await member.getByRole('button', { name: 'On hold' }).click();
  await member.getByRole('menuitem', { name: 'Open Runs with it' }).click();
  await expect(member.getByText('The view On hold is saved').last()).toBeVisible();

  await member.goto('/runs');
  await expect(member).toHaveURL(/status=paused/);
  await expect(member.getByText('No run matches')).toBeVisible();
  await member.getByRole('button', { name: 'On hold' }).click();
  await member.getByRole('menuitem', { name: 'Delete view' }).click();
  await expect(member.getByRole('button', { name: 'Views' })).toBeVisible();

  // The list of runs of one workflow has the same filters.
  await member.goto(`/workflows/${workflow}?tab=runs`);
  await expect(member.getByRole('row').filter({ hasText: 'Viewed' })).toBeVisible();
  await member.getByRole('searchbox', { name: 'Search runs' }).fill('nothing like it');
  await expect(member.getByText('No run matches')).toBeVisible();
});
