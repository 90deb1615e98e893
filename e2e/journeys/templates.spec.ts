import type { Locator } from '@playwright/test';
import { type Api, expect, expectAccessible, open, settled, test } from '../fixtures/console.ts';

/** Returns the dialog once its templates, which are loaded separately from the page, are there. */
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

test('a template is chosen by keyboard, and keeps the typed name', async ({ member, api }) => {
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

test('a template that needs an MCP instance says so if there is none', async ({ member }) => {
  await open(member, '/workflows?create=1');
  const dialog = await loaded(member.getByRole('dialog', { name: 'Create workflow' }));
  await dialog.getByRole('radio', { name: 'Feed digest' }).click();
  await expect(dialog.getByText('No MCP instance of this project offers the tool read_feed.')).toBeVisible();
  await dialog.getByRole('radio', { name: 'Message triage' }).click();
  await expect(dialog.getByText('The workspace has no model key yet.')).toBeVisible();
  await expectAccessible(member);
});

test('orders of the demo API are shipped in separate runs, a large one after approval by a person', async ({
  member,
  server,
  api,
}) => {
  await open(member, '/workflows?create=1');
  const dialog = await loaded(member.getByRole('dialog', { name: 'Create workflow' }));
  await dialog.getByRole('radio', { name: 'Ship orders' }).click();
  await expect(dialog.getByText('Creates 3 workflows: this one, Ship one order')).toBeVisible();
  await expect(dialog.getByText(`${server.url}/demo/api`)).toBeVisible();
  await expectAccessible(member);
  // The second call fails: the next attempt continues with the first one's result.
  let isLost = false;
  await member.route(/workflows_create/, route => {
    if (isLost || !route.request().postData()?.includes('"Ship orders"')) return route.continue();
    isLost = true;
    return route.abort();
  });
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member).toHaveURL(/\/workflows\/[0-9a-f-]{36}/);
  const created = (await api.call('GET', '/v1/workflows?q=Ship')) as { workflows: { name: string }[] };
  const names = created.workflows.map(({ name }) => name).sort();
  expect(names).toEqual(['Ship one order', 'Ship orders', 'Shipping failed']);
  await expect(member.getByRole('region', { name: 'Problems' })).toContainText('can be published');
  await member.getByRole('button', { name: 'Publish', exact: true }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  const running = member.getByRole('dialog');
  await expect(running.getByRole('textbox', { name: 'Api url' })).toHaveValue(`${server.url}/demo/api`);
  await running.getByRole('button', { name: 'Start run' }).click();
  await expect(member).toHaveURL(/\/runs\//);
  const { pathname } = new URL(member.url());

  // All other orders are shipped while the large one waits.
  await expect.poll(() => countCompletedCalls(api, pathname)).toBe(5);
  await member.getByRole('region', { name: 'Steps' }).getByRole('button', { name: 'For each order' }).click();
  const called = member.getByRole('region', { name: 'Step each' }).getByRole('link', { name: /Run called by/ });
  await expect(called).toHaveText(['Run called by Ship one order, item 3']);
  await expectAccessible(member);
  // The page may lag behind the server and show another call for a moment.
  const large = called.filter({ hasText: 'item 3' });
  await large.click();
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Ship one order');
  await member.getByRole('link', { name: /^Ship orders: Run, / }).click();
  await expect(member).toHaveURL(url => url.pathname === pathname);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Ship orders');
  await member.getByRole('region', { name: 'Steps' }).getByRole('button', { name: 'For each order' }).click();
  await large.click();

  await expect(member.getByRole('heading', { level: 1 })).toContainText('Waiting for a person');
  await member.getByRole('region', { name: 'Steps' }).getByRole('button', { name: 'Approve a large order' }).click();
  await member.getByRole('link', { name: 'Answer in the inbox' }).click();
  await expect(member.getByText('Ship order 1003 of Northwind Books for 1840?')).toBeVisible();
  await member.getByRole('button', { name: 'Approve' }).click();
  await expect(member.getByText('Approved “Approve a large order”')).toBeVisible();

  await open(member, `${pathname}?tab=output`);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed');
  const output = member.getByRole('region', { name: 'Output' });
  await expect(output).toContainText('5 shipped (2534.40), 0 held back, 1 failed');
  await expectAccessible(member);

  // The loop has ended, and its steps are no longer in the state of the run.
  await member.goto(`${pathname}?step=each`);
  const runs = member.getByRole('region', { name: 'Step each' }).getByRole('list', { name: 'Called runs' });
  await expect(runs.getByRole('listitem')).toHaveCount(6);
  await expect(runs.getByText('Completed')).toHaveCount(6);
  await expectAccessible(member);
  await runs.getByRole('listitem').filter({ hasText: 'Ship one order, item 6' }).getByRole('link').click();
  await expect(member.getByRole('link', { name: /^Ship orders: Run, / })).toBeVisible();
});

/** Returns how many of the runs called by the run at this path are completed. */
async function countCompletedCalls(api: Api, path: string): Promise<number> {
  const { called_runs } = await api.call('GET', `/v1${path}/called-runs`);
  return (called_runs as { run: { status: string } | null }[]).filter(({ run }) => run?.status === 'completed').length;
}
