import type { Page } from '@playwright/test';
import { expect, open, test } from '../fixtures/console.ts';
import { chooseByKeyboard, press, pressUntilFocused, write } from '../fixtures/keyboard.ts';
import {
  canvasOf,
  connectDemoTools,
  expectBuilt,
  formOf,
  job,
  outcomeOf,
  stepIdOf,
  titleOf,
} from '../fixtures/whole-job.ts';

const nodeOf = (page: Page, id: string) => canvasOf(page).locator(`.react-flow__node[data-id="${id}"]`);
const field = (page: Page, name: string) => formOf(page).getByRole('textbox', { name, exact: true });

/** Adds a step after the focused one, sets its ID and moves the focus to its name field. */
async function addStep(page: Page, kind: string, given: string, id: string): Promise<void> {
  await page.keyboard.press('Tab');
  const palette = page.getByRole('dialog', { name: 'Add a step' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await page.keyboard.type(kind);
  await expect(palette.getByRole('option').first()).toHaveAccessibleName(new RegExp(`^${kind}`, 'i'));
  await expect(palette.getByRole('option').first()).toHaveAttribute('data-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(palette).toHaveCount(0);
  await expect(nodeOf(page, given)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(formOf(page).getByRole('textbox', { name: 'Name' })).toBeFocused();
  if (id === given) return;
  await press(page, formOf(page).locator('summary', { hasText: /^More/ }));
  await pressUntilFocused(page, 'Tab', stepIdOf(page));
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(id);
  await page.keyboard.press('Enter');
  await expect(nodeOf(page, id)).toBeVisible();
  // The form of the new step has opened, with the focus in its ID field.
  await expect(stepIdOf(page)).toBeFocused();
  await pressUntilFocused(page, 'Shift+Tab', formOf(page).getByRole('textbox', { name: 'Name' }));
}

/** Presses Escape, which returns the focus from the form to the step. */
async function leaveForm(page: Page, id: string): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(nodeOf(page, id)).toBeFocused();
}

/** The first steps of the job, which whole-job.spec.ts builds by keyboard. */
const firstSteps = {
  steps: [
    { id: 'order', type: 'lua_script', name: 'Read the order', script: job.order },
    { id: 'condition', type: 'condition', expression: job.expression, depends_on: ['order'], then: ['review'] },
    { id: 'review', type: 'human_task', name: 'Review the order', depends_on: ['condition'] },
  ],
};

/** Adds the remaining steps: after the other branch of the condition, and after the review. */
async function addRemainingSteps(page: Page): Promise<void> {
  const { keyboard } = page;
  await expect(nodeOf(page, 'review')).toBeVisible();
  await pressUntilFocused(page, 'Tab', canvasOf(page));
  await keyboard.press('Enter');
  await expect(formOf(page).getByRole('textbox', { name: 'Name' })).toBeFocused();
  await leaveForm(page, 'review');
  // The arrow keys follow the graph; the second step after a condition is its other branch.
  await keyboard.press('ArrowUp');
  await expect(nodeOf(page, 'condition')).toBeFocused();
  await addStep(page, 'lua', 'lua_script', 'accept');
  await write(page, field(page, 'Script'), job.accept);
  await leaveForm(page, 'accept');
  await keyboard.press('ArrowLeft');
  await expect(nodeOf(page, 'review')).toBeFocused();
  await addStep(page, 'mcp', 'mcp_call', 'rate');
  await chooseByKeyboard(page, formOf(page).getByRole('combobox', { name: 'MCP instance' }), /Exchange desk/);
  await chooseByKeyboard(page, formOf(page).getByRole('combobox', { name: 'Tool' }), /lookup_exchange_rate/);
  await chooseByKeyboard(page, formOf(page).getByRole('combobox', { name: 'from', exact: true }), /^USD$/);
  await chooseByKeyboard(page, formOf(page).getByRole('combobox', { name: 'to', exact: true }), /^EUR$/);
  await write(page, formOf(page).getByRole('textbox', { name: /^amount/ }), '100');
  await leaveForm(page, 'rate');
  await addStep(page, 'lua', 'lua_script', 'book');
  await write(page, field(page, 'Script'), job.book);
  await leaveForm(page, 'book');
  await expect(page.getByRole('region', { name: 'Problems' })).toContainText('can be published');
}

test('by keyboard: completes a draft, runs it, and repairs the failed run', async ({ member, api }) => {
  const { keyboard } = member;
  const instance = await connectDemoTools(api.call, 'Exchange desk');
  const { id } = await api.call('POST', '/v1/workflows', { name: 'By keyboard', graph: firstSteps });
  await open(member, `/workflows/${String(id)}?step=review`);
  await addRemainingSteps(member);

  // Tests the tool step, which needs no result of an earlier step.
  await keyboard.press('ArrowUp');
  await expect(nodeOf(member, 'rate')).toBeFocused();
  await keyboard.press('Enter');
  await expect(formOf(member).getByRole('textbox', { name: 'Name' })).toBeFocused();
  await pressUntilFocused(member, 'Shift+Tab', formOf(member).getByRole('tab', { name: 'Step' }));
  await keyboard.press('ArrowRight');
  await expect(formOf(member).getByRole('tab', { name: 'Test' })).toBeFocused();
  await press(member, formOf(member).getByRole('button', { name: 'Test step' }));
  await expect(outcomeOf(member).getByRole('status')).toHaveText('Success');

  await press(member, member.getByRole('button', { name: 'Test', exact: true }), 'Shift+Tab');
  await press(member, member.getByRole('button', { name: 'Start test run' }));
  const over = member.getByRole('region', { name: 'Run over the draft' });
  await expect(over).toContainText('Waiting for a person');
  await press(member, over.getByRole('button', { name: 'Stop showing the run' }), 'Shift+Tab');
  await expect(over).toHaveCount(0);

  await expect(canvasOf(member).locator('[data-step="book"]')).toBeVisible();
  await press(member, member.getByRole('button', { name: 'Publish' }));
  const publishing = member.getByRole('dialog', { name: 'Publish version 1' });
  await press(member, publishing.getByRole('button', { name: 'Publish' }));
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  await expect(publishing).toHaveCount(0);
  await expectBuilt(member, api.call, instance);
  await press(member, member.getByRole('button', { name: 'Run', exact: true }));
  await press(member, member.getByRole('button', { name: 'Start run' }));
  await expect(titleOf(member)).toContainText('Waiting for a person');
  const run = new URL(member.url()).pathname;

  const steps = member.getByRole('region', { name: 'Steps' });
  await press(member, steps.getByRole('button', { name: /^Review the order/ }));
  await press(member, member.getByRole('link', { name: 'Answer in the inbox' }));
  await press(member, member.getByRole('button', { name: 'Approve' }));
  await expect(member.getByText('Approved “Review the order”')).toBeVisible();
  await open(member, run);
  await expect(titleOf(member)).toContainText('Failed');

  await press(member, member.getByRole('link', { name: 'Edit and run again from here' }));
  const banner = member.getByRole('region', { name: 'Continue a run' });
  await expect(banner).toContainText('Edit book');
  await expect(canvasOf(member).locator('[data-step="book"]')).toBeVisible();
  await pressUntilFocused(member, 'Tab', canvasOf(member));
  await keyboard.press('Enter');
  await expect(formOf(member).getByRole('textbox', { name: 'Name' })).toBeFocused();
  await write(member, field(member, 'Script'), job.mended);
  await leaveForm(member, 'book');
  await press(member, banner.getByRole('button', { name: 'Run again from here' }), 'Shift+Tab');
  await expect(member).not.toHaveURL(/continue=/);
  await expect(titleOf(member)).toContainText('Completed');
  expect(new URL(member.url()).pathname).not.toBe(run);
  await pressUntilFocused(member, 'Tab', member.getByRole('tab', { selected: true }));
  await keyboard.press('End');
  await expect(member.getByRole('tab', { name: 'Compare' })).toBeFocused();
  await keyboard.press('ArrowLeft');
  await expect(member.getByRole('tab', { name: 'Output' })).toBeFocused();
  await expect(member.getByRole('region', { name: 'Output' })).toContainText('euros:225');
});
