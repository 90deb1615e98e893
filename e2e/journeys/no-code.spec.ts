import type { Locator, Page } from '@playwright/test';
import { expect, expectThemesAccessible, open } from '../fixtures/console.ts';
import { requestedPaths, test } from '../fixtures/shop.ts';
import { canvasOf, formOf, outcomeOf } from '../fixtures/whole-job.ts';

const stepOf = (page: Page, name: string) => canvasOf(page).locator('[data-step]').filter({ hasText: name });

/** Chooses a step in the palette and names it. */
async function chooseStep(page: Page, kind: RegExp, name: string): Promise<void> {
  await page.getByRole('dialog', { name: 'Add a step' }).getByRole('option', { name: kind }).first().click();
  await formOf(page).getByRole('textbox', { name: /^Name/ }).fill(name);
  await expect(stepOf(page, name)).toBeVisible();
}

async function addAfter(page: Page, button: string, kind: RegExp, name: string): Promise<void> {
  await canvasOf(page).getByRole('button', { name: button }).click();
  await chooseStep(page, kind, name);
}

async function addField(page: Page, fields: Locator, kind: string, label: string): Promise<void> {
  await fields.getByRole('button', { name: 'Add field' }).click();
  await page.getByRole('menuitem', { name: kind, exact: true }).click();
  await fields.getByRole('textbox', { name: 'Label', exact: true }).fill(label);
}

/** Picks a value from the tree beside a field. */
async function insertValue(page: Page, field: string, search: string, value: RegExp): Promise<void> {
  await formOf(page)
    .getByRole('button', { name: `Insert a value into ${field}` })
    .click();
  const tree = page.getByRole('dialog', { name: 'Insert a value' });
  await tree.getByRole('combobox', { name: 'Search values' }).fill(search);
  await tree.getByRole('treeitem', { name: value }).first().click();
  await expect(tree).toHaveCount(0);
}

test('a request, a condition, a form and a loop are built, published, run and approved without code, JSON or an ID', async ({
  member,
  api,
  shop,
}) => {
  await open(member, '/workflows');
  await expect(member.getByText('No workflows yet')).toBeVisible();
  await member.getByRole('button', { name: 'Create workflow' }).first().click();
  const creating = member.getByRole('dialog', { name: 'Create workflow' });
  await creating.getByLabel('Name').fill('Pack orders');
  await creating.getByRole('button', { name: 'Create' }).click();

  // The input of a run.
  const form = formOf(member);
  await form.getByText('Input, output and failure handling').click();
  const input = form.getByRole('region', { name: 'Input', exact: true });
  await addField(member, input, 'Text', 'Customer');
  await addField(member, input, 'Number', 'Budget');

  // A request is tested at once: the next steps chooseStep from its result.
  await canvasOf(member).getByRole('button', { name: 'Add the first step' }).click();
  await chooseStep(member, /HTTP request/, 'Find orders');
  const url = form.getByRole('textbox', { name: 'URL' });
  await url.fill(`${shop}/orders?of=`);
  await insertValue(member, 'URL', 'customer', /input\.customer/);
  await expect(url).toContainText('{{input.customer}}');
  await form.getByRole('tab', { name: 'Test' }).click();
  await form.getByRole('textbox', { name: 'Customer' }).fill('Ann');
  await form.getByRole('button', { name: 'Test step' }).click();
  await expect(outcomeOf(member).getByRole('status')).toHaveText('Success');
  await expect(outcomeOf(member).getByRole('region', { name: 'Result' })).toContainText('orders');
  await form.getByRole('tab', { name: 'Step' }).click();

  // A condition on the input.
  await addAfter(member, 'Add a step after Find orders', /^Condition/, 'Is it much?');
  await form.getByRole('combobox', { name: 'Rule 1: field' }).click();
  await member.getByRole('option', { name: /budget/i }).click();
  await form.getByRole('combobox', { name: 'Rule 1: operator' }).click();
  await member.getByRole('option', { name: 'is at least', exact: true }).click();
  await form.getByRole('textbox', { name: 'Rule 1: value' }).fill('100');

  // A form for a person to fill in.
  await addAfter(member, 'Add a step after Is it much?, then', /^Human task/, 'Approve the order');
  await form.getByRole('button', { name: 'Add person or role' }).click();
  await member.getByRole('option', { name: /Administrators/ }).click();
  const fields = form.getByRole('region', { name: 'Form', exact: true });
  await addField(member, fields, 'Choice', 'Carrier');
  await fields.getByRole('textbox', { name: 'Choice 1' }).fill('Post');
  await fields.getByRole('textbox', { name: 'Choice 1' }).press('Enter');
  await fields.getByRole('textbox', { name: 'Choice 2' }).fill('Bike');
  await fields.getByRole('checkbox', { name: 'Required' }).check();

  // A loop over the orders in the response. It sends a request for each order.
  await addAfter(member, 'Add a step after Approve the order', /^For each/, 'Each order');
  // The default list of a new loop is replaced.
  await form.getByRole('textbox', { name: 'Items' }).click({ clickCount: 3 });
  await insertValue(member, 'Items', 'body orders', /body\.orders(?!\[)/);
  await expect(form.getByRole('textbox', { name: 'Items' })).toHaveText('{{steps.http_request.result.body.orders}}');
  await expectThemesAccessible(member);
  await form.getByRole('button', { name: 'Add a step to the loop' }).click();
  await chooseStep(member, /HTTP request/, 'Pack it');
  await url.fill(`${shop}/pack/`);
  await insertValue(member, 'URL', 'sku', /item\.sku/);
  await expect(url).toContainText('{{item.sku}}');
  await member.getByRole('navigation', { name: 'Loops' }).getByRole('button', { name: 'Draft' }).click();
  await expect(form.getByRole('region', { name: 'Steps of the loop' })).toContainText('Pack it');
  await expectThemesAccessible(member);

  await member.getByRole('button', { name: 'Publish' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  const starting = member.getByRole('dialog');
  await starting.getByRole('textbox', { name: 'Customer' }).fill('Ann');
  await starting.getByRole('spinbutton', { name: 'Budget' }).fill('250');
  await starting.getByRole('button', { name: 'Start run' }).click();
  await expect(member).toHaveURL(/\/runs\/[0-9a-f-]{36}/);
  const [workflow = '', run = ''] = member.url().match(/[0-9a-f-]{36}/g) ?? [];
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Waiting for a person');
  await member
    .getByRole('region', { name: 'Steps' })
    .getByRole('button', { name: /^Approve the order/ })
    .click();
  await member.getByRole('link', { name: 'Answer in the inbox' }).click();
  await member.getByRole('combobox', { name: 'Carrier' }).click();
  await member.getByRole('option', { name: 'Bike' }).click();
  await member.getByRole('button', { name: 'Approve' }).click();
  const summary = async () => (await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/summary`)).status;
  await expect.poll(summary).toBe('completed');
  expect(requestedPaths).toEqual(expect.arrayContaining(['/orders?of=Ann', '/pack/tea', '/pack/cup']));

  // The next author sees the picked value in the tree and below the field.
  await open(member, `/workflows/${workflow}?step=http_request`);
  await expect(form.getByLabel('With the last values')).toContainText('/orders?of=Ann');
  await form.getByRole('button', { name: 'Insert a value into URL' }).click();
  const tree = member.getByRole('dialog', { name: 'Insert a value' });
  const budget = tree.getByRole('treeitem', { name: /budget/ });
  await expect(budget).toContainText('250');
  await expectThemesAccessible(member);
  await budget.dragTo(url, { targetPosition: { x: 4, y: 14 } });
  await expect(url).toContainText('{{input.budget}}');
});
