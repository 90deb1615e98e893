import type { Locator } from '@playwright/test';
import { expect, expectAccessible, open, settled, test } from '../fixtures/console.ts';

/** The dialog with its templates, which are loaded apart from the page. */
async function loaded(dialog: Locator): Promise<Locator> {
  await expect(dialog.getByRole('radio', { name: 'Purchase approval' })).toBeVisible();
  return dialog;
}

test('a template is found, created, published and run with the mouse', async ({ member }) => {
  await open(member, '/workflows?create=1');
  const dialog = await loaded(member.getByRole('dialog', { name: 'Create workflow' }));
  await expectAccessible(member);
  const search = dialog.getByRole('searchbox', { name: 'Search templates' });
  await search.fill('no such job');
  await expect(dialog.getByText('No template matches.')).toBeVisible();
  await search.fill('approve');
  await expect(dialog.getByRole('radio', { name: 'Contact cleanup' })).toHaveCount(0);
  await dialog.getByRole('radio', { name: 'Purchase approval' }).click();
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('Purchase approval');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();

  await expect(member).toHaveURL(/\/workflows\/[0-9a-f-]{36}/);
  await expect(member.locator('.react-flow__node[data-id="approve"]')).toBeVisible();
  await expect(member.getByRole('region', { name: 'Problems' })).toContainText('can be published');
  await member.getByRole('button', { name: 'Publish', exact: true }).click();
  const publishing = member.getByRole('dialog');
  await publishing.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(member.getByText('Version 1 is published')).toBeVisible();

  await member.getByRole('button', { name: 'Run', exact: true }).click();
  const running = member.getByRole('dialog');
  await expect(running.getByRole('textbox', { name: 'Item' })).toHaveValue('Standing desk');
  await running.getByRole('button', { name: 'Start run' }).click();
  await expect(member).toHaveURL(/\/runs\//);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Waiting for a person');
  await settled(member);
});

test('a template is chosen with the keyboard, and keeps the name that was typed', async ({ member, api }) => {
  const { keyboard } = member;
  await open(member, '/workflows?create=1');
  const dialog = await loaded(member.getByRole('dialog', { name: 'Create workflow' }));
  const name = dialog.getByRole('textbox', { name: 'Name' });
  await expect(name).toBeFocused();
  await keyboard.type('Our contacts');
  await expect(name).toHaveValue('Our contacts');
  await keyboard.press('Tab');
  await expect(dialog.getByRole('textbox', { name: 'Description' })).toBeFocused();
  await keyboard.press('Tab');
  const search = dialog.getByRole('searchbox', { name: 'Search templates' });
  await expect(search).toBeFocused();
  await keyboard.type('contact');
  const card = dialog.getByRole('radio', { name: 'Contact cleanup' });
  await expect(dialog.getByRole('radio')).toHaveCount(1);
  await keyboard.press('Enter');
  await expect(card).toBeChecked();
  await keyboard.press('Tab');
  await expect(card).toBeFocused();
  await keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Create', exact: true })).toBeFocused();
  await keyboard.press('Enter');
  await expect(member).toHaveURL(/\/workflows\/[0-9a-f-]{36}/);
  const { workflows } = (await api.call('GET', '/v1/workflows?q=Our%20contacts')) as { workflows: { name: string }[] };
  expect(workflows.map(workflow => workflow.name)).toEqual(['Our contacts']);
});

test('a template that needs an MCP instance says so where there is none', async ({ member }) => {
  await open(member, '/workflows?create=1');
  const dialog = await loaded(member.getByRole('dialog', { name: 'Create workflow' }));
  await dialog.getByRole('radio', { name: 'Feed digest' }).click();
  await expect(dialog.getByText('No MCP instance of this project offers the tool read_feed.')).toBeVisible();
  await dialog.getByRole('radio', { name: 'Message triage' }).click();
  await expect(dialog.getByText('The workspace has no model key yet.')).toBeVisible();
  await expectAccessible(member);
});
