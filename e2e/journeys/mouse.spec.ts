import type { Page } from '@playwright/test';
import { expect, expectAccessible, open, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';
import {
  canvasOf,
  connectDemoTools,
  expectBuilt,
  formOf,
  job,
  openMore,
  outcomeOf,
  stepIdOf,
  titleOf,
} from '../fixtures/whole-job.ts';

const stepOf = (page: Page, id: string) => canvasOf(page).locator(`[data-step="${id}"]`);

async function addStep(page: Page, after: string, kind: RegExp, id: string): Promise<void> {
  await canvasOf(page).getByRole('button', { name: after }).click();
  await page.getByRole('option', { name: kind }).click();
  await openMore(page);
  await stepIdOf(page).fill(id);
  await formOf(page).getByRole('textbox', { name: /^Name/ }).focus();
  await expect(stepOf(page, id)).toBeVisible();
}

const scriptOf = (page: Page) => formOf(page).getByRole('textbox', { name: 'Script', exact: true });

async function chooseOption(page: Page, list: string, option: RegExp): Promise<void> {
  await formOf(page).getByRole('combobox', { name: list, exact: true }).click();
  await page.getByRole('option', { name: option }).click();
}

async function chooseTool(page: Page): Promise<void> {
  await chooseOption(page, 'MCP instance', /Exchange desk/);
  await chooseOption(page, 'Tool', /lookup_exchange_rate/);
  // The results of checking the draft move the form, and a click on a moving list selects nothing.
  await expect(formOf(page).getByRole('alert').first()).toContainText('The tool requires');
  await chooseOption(page, 'from', /^USD$/);
  await chooseOption(page, 'to', /^EUR$/);
  await formOf(page)
    .getByRole('textbox', { name: /^amount/ })
    .fill('100');
}

async function buildWorkflow(page: Page): Promise<void> {
  await expect(page.getByText('No workflows yet')).toBeVisible();
  await page.getByRole('button', { name: 'Create workflow' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Create workflow' });
  await dialog.getByLabel('Name').fill('By mouse');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await canvasOf(page).getByRole('button', { name: 'Add the first step' }).click();
  await expectAccessible(page);
  await page.getByRole('option', { name: /Lua script/ }).click();
  await formOf(page).getByRole('textbox', { name: /^Name/ }).fill('Read the order');
  await openMore(page);
  await stepIdOf(page).fill('order');
  await replaceText(scriptOf(page), job.order);
  await expect(stepOf(page, 'order')).toContainText('Read the order');
  await addStep(page, 'Add a step after Read the order', /Condition/, 'condition');
  await formOf(page).getByRole('button', { name: 'Expression', exact: true }).click();
  await replaceText(formOf(page).getByRole('textbox', { name: 'Expression' }), job.expression);
  await addStep(page, 'Add a step after condition, then', /Human task/, 'review');
  await formOf(page).getByRole('textbox', { name: /^Name/ }).fill('Review the order');
  await stepOf(page, 'condition').click();
  await addStep(page, 'Add a step after condition, else', /Lua script/, 'accept');
  await replaceText(scriptOf(page), job.accept);
  await stepOf(page, 'review').click();
  await addStep(page, 'Add a step after Review the order', /MCP tool call/, 'rate');
  await chooseTool(page);
  await addStep(page, 'Add a step after rate', /Lua script/, 'book');
  await replaceText(scriptOf(page), job.book);
  await expectAccessible(page);
}

test('by mouse: from an empty workspace to a failed run that is repaired and completes', async ({ member, api }) => {
  const instance = await connectDemoTools(api.call, 'Exchange desk');
  await open(member, '/workflows');
  await buildWorkflow(member);
  const editor = member.url().split('?')[0] ?? '';

  await canvasOf(member).getByRole('button', { name: 'Fit View' }).click();
  await stepOf(member, 'order').click();
  await formOf(member).getByRole('tab', { name: 'Test' }).click();
  await formOf(member).getByRole('button', { name: 'Test step' }).click();
  await expect(outcomeOf(member).getByRole('status')).toHaveText('Success');
  await expect(outcomeOf(member).getByRole('region', { name: 'Result' })).toContainText('amount:250');

  await member.getByRole('button', { name: 'Test', exact: true }).click();
  await member.getByRole('button', { name: 'Start test run' }).click();
  // The canvas shows the run over the draft.
  const over = member.getByRole('region', { name: 'Run over the draft' });
  await expect(over).toContainText('Test run');
  await expect(over).toContainText('Waiting for a person');
  await expect(canvasOf(member).locator('[data-step="accept"]')).toHaveAttribute('data-status', 'skipped');
  await stepOf(member, 'order').click();
  await expect(formOf(member).getByRole('region', { name: 'Step order' })).toContainText('Success');
  await over.getByRole('button', { name: 'Stop showing the run' }).click();
  await expect(canvasOf(member).locator('[data-step="accept"]')).not.toHaveAttribute('data-status');
  await expect(member).toHaveURL(new RegExp(`^${editor}`));
  await member.getByRole('button', { name: 'Publish' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  await expectBuilt(member, api.call, instance);
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  await member.getByRole('button', { name: 'Start run' }).click();
  await expect(titleOf(member)).toContainText('Waiting for a person');
  const run = new URL(member.url()).pathname;

  const steps = member.getByRole('region', { name: 'Steps' });
  await steps.getByRole('button', { name: /^Review the order/ }).click();
  await member.getByRole('link', { name: 'Answer in the inbox' }).click();
  await member.getByRole('button', { name: 'Approve' }).click();
  await expect(member.getByText('Approved “Review the order”')).toBeVisible();
  await open(member, run);
  await expect(titleOf(member)).toContainText('Failed');

  await member.getByRole('link', { name: 'Edit and run again from here' }).click();
  const banner = member.getByRole('region', { name: 'Continue a run' });
  await expect(banner).toContainText('Edit book');
  await replaceText(scriptOf(member), job.mended);
  await banner.getByRole('button', { name: 'Run again from here' }).click();
  await expect(member).not.toHaveURL(/continue=/);
  await expect(titleOf(member)).toContainText('Completed');
  expect(new URL(member.url()).pathname).not.toBe(run);
  // The person is not asked again, and the tool is not called again.
  for (const id of ['review', 'rate']) {
    await expect(member.locator(`[data-step="${id}"]`)).toHaveAttribute('data-status', 'reused');
  }
  await member.getByRole('tab', { name: 'Output' }).click();
  await expect(member.getByRole('region', { name: 'Output' })).toContainText('euros:225');
});
