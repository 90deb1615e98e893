import { expect, open, publishApproval, startApproval, test } from '../fixtures/console.ts';

test('a menu opened by keyboard focuses its first entry, and gives the focus back', async ({ member, api }) => {
  await publishApproval(api, 'Menu by keyboard');
  await open(member, '/workflows');
  const trigger = member.getByRole('button', { name: 'Actions for Menu by keyboard' });
  await trigger.focus();
  await expect(trigger).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(member.getByRole('menuitem', { name: 'Open' })).toBeFocused();
  await expect(trigger).toHaveAttribute('aria-expanded', 'true');
  await member.keyboard.press('ArrowDown');
  await expect(member.getByRole('menuitem', { name: 'Run' })).toBeFocused();
  await member.keyboard.press('Escape');
  await expect(member.getByRole('menu')).toHaveCount(0);
  await expect(trigger).toBeFocused();
  await member.keyboard.press('ArrowDown');
  await expect(member.getByRole('menu', { name: 'Actions for Menu by keyboard' })).toBeVisible();
  await expect(member.getByRole('menuitem', { name: 'Open' })).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(member).toHaveURL(/\/workflows\/[0-9a-f-]{36}$/);
});

test('a list opened by keyboard focuses what is chosen, and gives the focus back', async ({ member }) => {
  await open(member, '/workflows?status=draft');
  const status = member.getByRole('combobox', { name: 'Status' });
  await expect(status).toHaveText('Draft');
  await status.focus();
  await expect(status).toBeFocused();
  await member.keyboard.press('ArrowDown');
  await expect(member.getByRole('option', { name: 'Draft' })).toBeFocused();
  await member.keyboard.press('ArrowDown');
  await expect(member.getByRole('option', { name: 'Published' })).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(member).toHaveURL(/status=published/);
  await expect(member.getByRole('listbox')).toHaveCount(0);
  await expect(status).toHaveText('Published');
  await expect(status).toBeFocused();
});

test('a tooltip opens on hover and on focus, describes its trigger, and closes with Escape', async ({
  member,
  api,
}) => {
  const workflow = await publishApproval(api, 'Tooltips');
  const run = await startApproval(api, workflow, 'this');
  await open(member, '/workflows');
  const updated = member
    .getByRole('row', { name: /Tooltips/ })
    .locator('time')
    .last();
  await updated.hover();
  const tooltip = member.getByRole('tooltip');
  await expect(tooltip).toContainText(/\d{4}, \d\d:\d\d:\d\d/);
  await expect(updated).toHaveAccessibleDescription(/\d{4}, \d\d:\d\d:\d\d/);
  await tooltip.hover();
  await expect(tooltip).toBeVisible();
  await member.getByRole('heading', { name: 'Workflows' }).hover();
  await expect(tooltip).toHaveCount(0);

  await open(member, `/workflows/${workflow}/runs/${run}`);
  const copy = member.getByRole('button', { name: `Copy ${run}` });
  await copy.focus();
  await expect(copy).toBeFocused();
  await expect(tooltip).toContainText(run);
  await member.keyboard.press('Escape');
  await expect(tooltip).toHaveCount(0);
  await expect(copy).toBeFocused();
});
