import type { Page } from '@playwright/test';
import { expect, open } from '../fixtures/console.ts';
import {
  addField,
  chooseByKeyboard,
  find,
  insertValue,
  press,
  pressUntilFocused,
  write,
} from '../fixtures/keyboard.ts';
import { requestedPaths, test } from '../fixtures/shop.ts';
import { canvasOf, formOf, outcomeOf, titleOf } from '../fixtures/whole-job.ts';

const stepOf = (page: Page, name: string) =>
  canvasOf(page)
    .locator('.react-flow__node')
    .filter({ has: page.locator('[data-step]', { hasText: name }) });
const nameOf = (page: Page) => formOf(page).getByRole('textbox', { name: 'Name', exact: true });

/** Chooses a step in the open palette and names it; leaves the focus in the name field. */
async function addStep(page: Page, kind: string, name: string): Promise<void> {
  const { keyboard } = page;
  const palette = page.getByRole('dialog', { name: 'Add a step' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await keyboard.insertText(kind);
  const first = palette.getByRole('option').first();
  await expect(first).toHaveAccessibleName(new RegExp(`^${kind}`));
  await expect(first).toHaveAttribute('data-selected', 'true');
  await keyboard.press('Enter');
  await expect(palette).toHaveCount(0);
  await expect(canvasOf(page).locator('.react-flow__node:focus')).toHaveCount(1);
  await keyboard.press('Enter');
  await expect(nameOf(page)).toBeFocused();
  await keyboard.press('ControlOrMeta+a');
  await keyboard.insertText(name);
  await expect(stepOf(page, name)).toBeVisible();
}

/** Presses Escape, which moves the focus from the form to the step, and Tab, which opens the palette. */
async function addStepAfter(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(stepOf(page, name)).toBeFocused();
  await page.keyboard.press('Tab');
}

/** Creates the workflow, and declares the input of its runs. */
async function createWorkflow(page: Page): Promise<void> {
  const { keyboard } = page;
  await expect(page.getByText('No workflows yet')).toBeVisible();
  await press(page, page.getByRole('button', { name: 'Create workflow' }).last());
  await expect(page.getByRole('dialog', { name: 'Create workflow' }).getByLabel('Name')).toBeFocused();
  await keyboard.insertText('Pack orders');
  await keyboard.press('Enter');
  await expect(canvasOf(page)).toBeFocused();
  // Tab on the canvas adds a step; Escape and then Tab leaves the canvas.
  await keyboard.press('Escape');
  await press(page, formOf(page).getByText('Input, output and failure handling'));
  const input = formOf(page).getByRole('region', { name: 'Input', exact: true });
  await addField(page, input, 'Text', 'Customer');
  await addField(page, input, 'Number', 'Budget');
  await press(page, canvasOf(page).getByRole('button', { name: 'Add the first step' }), 'Shift+Tab');
}

/** Builds a request and tests it, because the next steps choose from its result. */
async function buildRequest(page: Page, shop: string): Promise<void> {
  const form = formOf(page);
  await addStep(page, 'HTTP request', 'Find orders');
  const url = form.getByRole('textbox', { name: 'URL' });
  await write(page, url, `${shop}/orders?of=`);
  await insertValue(page, 'customer', /input\.customer/);
  await expect(url).toContainText('{{input.customer}}');
  await pressUntilFocused(page, 'Shift+Tab', form.getByRole('tab', { name: 'Step' }));
  await page.keyboard.press('ArrowRight');
  await expect(form.getByRole('tab', { name: 'Test' })).toBeFocused();
  await write(page, form.getByRole('textbox', { name: 'Customer' }), 'Ann');
  await press(page, form.getByRole('button', { name: 'Test step' }));
  await expect(outcomeOf(page).getByRole('status')).toHaveText('Success');
  await pressUntilFocused(page, 'Shift+Tab', form.getByRole('tab', { name: 'Test' }));
  await page.keyboard.press('ArrowLeft');
  await expect(form.getByRole('tab', { name: 'Step' })).toBeFocused();
}

async function buildCondition(page: Page): Promise<void> {
  const rule = (part: string) => formOf(page).getByRole('combobox', { name: `Rule 1: ${part}`, exact: true });
  await addStep(page, 'Condition', 'Is it much?');
  await find(page, rule('field'), page.getByRole('dialog', { name: 'Fields' }).getByRole('combobox'), 'budget');
  await expect(rule('field')).toHaveText('Input › budget');
  await chooseByKeyboard(page, rule('operator'), /^is at least$/);
  await write(page, formOf(page).getByRole('textbox', { name: 'Rule 1: value' }), '100');
}

/** Adds an approval by administrators, with a form that requires one of two choices. */
async function buildApproval(page: Page): Promise<void> {
  const { keyboard } = page;
  const form = formOf(page);
  await addStep(page, 'Human task', 'Approve the order');
  const people = page.getByPlaceholder('Name, email or role…');
  await find(page, form.getByRole('button', { name: 'Add person or role' }), people, 'administrators');
  await expect(form.getByRole('listitem').filter({ hasText: 'Administrators' })).toBeVisible();
  const fields = form.getByRole('region', { name: 'Form', exact: true });
  await addField(page, fields, 'Choice', 'Carrier');
  const choice = (number: number) => fields.getByRole('textbox', { name: `Choice ${number}` });
  await write(page, choice(1), 'Post');
  await keyboard.press('Enter');
  await expect(choice(2)).toBeFocused();
  await keyboard.insertText('Bike');
  await pressUntilFocused(page, 'Shift+Tab', fields.getByRole('checkbox', { name: 'Required' }));
  await keyboard.press('Space');
  await expect(fields.getByRole('checkbox', { name: 'Required' })).toBeChecked();
}

/** Builds a loop over the result of the request, with a separate request for each item. */
async function buildLoop(page: Page, shop: string): Promise<void> {
  const { keyboard } = page;
  const form = formOf(page);
  await addStep(page, 'For each', 'Each order');
  const items = form.getByRole('textbox', { name: 'Items' });
  await pressUntilFocused(page, 'Tab', items);
  // The default list of a new loop is replaced.
  await keyboard.press('ControlOrMeta+a');
  await insertValue(page, 'body orders', /body\.orders(?!\[)/);
  await expect(items).toHaveText('{{steps.http_request.result.body.orders}}');
  await press(page, form.getByRole('button', { name: 'Add a step to the loop' }));
  await addStep(page, 'HTTP request', 'Pack it');
  const url = form.getByRole('textbox', { name: 'URL' });
  await write(page, url, `${shop}/pack/`);
  await insertValue(page, 'sku', /item\.sku/);
  await expect(url).toContainText('{{item.sku}}');
}

async function publishAndRun(page: Page): Promise<void> {
  await press(page, page.getByRole('button', { name: 'Publish' }), 'Shift+Tab');
  const publishing = page.getByRole('dialog', { name: 'Publish version 1' });
  await press(page, publishing.getByRole('button', { name: 'Publish' }));
  await expect(page.getByText('Version 1 is published')).toBeVisible();
  await expect(publishing).toHaveCount(0);
  await press(page, page.getByRole('button', { name: 'Run', exact: true }));
  const starting = page.getByRole('dialog');
  await write(page, starting.getByRole('textbox', { name: 'Customer' }), 'Ann');
  await write(page, starting.getByRole('spinbutton', { name: 'Budget' }), '250');
  await press(page, starting.getByRole('button', { name: 'Start run' }));
  await expect(titleOf(page)).toContainText('Waiting for a person');
}

test('by keyboard: from an empty workspace to a run that a person approved, without code, JSON or an ID', async ({
  member,
  api,
  shop,
}) => {
  await open(member, '/workflows');
  await createWorkflow(member);
  await buildRequest(member, shop);
  await addStepAfter(member, 'Find orders');
  await buildCondition(member);
  await addStepAfter(member, 'Is it much?');
  await buildApproval(member);
  await addStepAfter(member, 'Approve the order');
  await buildLoop(member, shop);
  await publishAndRun(member);

  const [workflow = '', run = ''] = member.url().match(/[0-9a-f-]{36}/g) ?? [];
  const steps = member.getByRole('region', { name: 'Steps' });
  await press(member, steps.getByRole('button', { name: /^Approve the order/ }));
  await press(member, member.getByRole('link', { name: 'Answer in the inbox' }));
  await chooseByKeyboard(member, member.getByRole('combobox', { name: 'Carrier' }), /^Bike$/);
  await press(member, member.getByRole('button', { name: 'Approve' }));
  await expect(member.getByText('Approved “Approve the order”')).toBeVisible();
  const summary = async () => (await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/summary`)).status;
  await expect.poll(summary).toBe('completed');
  expect(requestedPaths).toEqual(expect.arrayContaining(['/orders?of=Ann', '/pack/tea', '/pack/cup']));
});
