import { expect, open, publishApproval, startApproval, test } from '../fixtures/console.ts';

test('a menu opened by keyboard focuses its first entry, and restores the focus when it closes', async ({
  member,
  api,
}) => {
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

test('a list opened by keyboard focuses the selected option, and restores the focus when it closes', async ({
  member,
}) => {
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

test('the focus returns when a dialog or palette closes, and stays on the canvas after Delete', async ({
  member,
  api,
}) => {
  const lua = (id: string) => ({ id, type: 'lua_script', script: 'return 1' });
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Focus', graph: { steps: [lua('a'), lua('b')] } });
  await open(member, `/workflows/${String(id)}`);
  const publish = member.getByRole('button', { name: 'Publish', exact: true });
  const dialog = member.getByRole('dialog');
  await publish.focus();
  await member.keyboard.press('ControlOrMeta+k');
  await expect(dialog).toBeVisible();
  await member.keyboard.press('Escape');
  await expect(publish).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(dialog).toBeVisible();
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(publish).toBeFocused();

  await member.locator('[data-step="b"]').click();
  await member.keyboard.press('Delete');
  await expect(member.locator('[data-step="b"]')).toHaveCount(0);
  await expect(member.getByRole('region', { name: 'Graph of the draft' })).toBeFocused();
});

test('a page that does not exist keeps the navigation of the console', async ({ member }) => {
  await member.goto('/no-such-page');
  await expect(member.getByRole('heading', { name: 'Page not found' })).toBeVisible();
  await member.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
  await expect(member.getByRole('heading', { name: 'Runs' })).toBeVisible();
});

test('a dialog opens with the focus in its first field, or else in its content, but not on its close button', async ({
  member,
}) => {
  const dialog = (name: string) => member.getByRole('dialog', { name });
  await open(member, '/workflows');
  await member.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(dialog('Import workflow').getByLabel('Choose a file')).toBeFocused();
  await open(member, '/connections?create=credentials');
  await expect(dialog('Create connection').getByRole('combobox', { name: 'Kind' })).toBeFocused();
  // The list of keys in the help is scrollable. A catalog has neither fields nor a main action.
  await open(member, '/workflows');
  await member.keyboard.press('?');
  await expect(dialog('Keyboard shortcuts').getByRole('region', { name: 'Keys' })).toBeFocused();
  await open(member, '/mcp-servers?open=catalog');
  const catalog = dialog('Catalog');
  await expect(catalog.getByRole('listitem').first()).toBeVisible();
  await expect(catalog.locator(':focus')).not.toHaveAccessibleName('Close');
  await member.keyboard.press('Tab');
  await expect(catalog.getByRole('list').locator(':focus')).toHaveCount(1);
});
