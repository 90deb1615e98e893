import type { Locator, Page } from '@playwright/test';
import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';
import { pressUntilFocused } from '../fixtures/keyboard.ts';

const sideOf = (page: Page) => page.getByRole('region', { name: 'Step and JSON' });
const outcomeOf = (page: Page) => sideOf(page).getByRole('region', { name: 'Last test' });

/** Returns the region with the results of the earlier steps, as trees or as JSON. */
const resultsOf = (page: Page) => sideOf(page).getByRole('region', { name: 'Results of earlier steps' });
const jsonOf = (page: Page) => resultsOf(page).getByRole('textbox', { name: 'Results of earlier steps' });

const steps = [
  { id: 'order', type: 'lua_script', script: 'return {amount = input.amount}' },
  {
    id: 'tax',
    type: 'lua_script',
    name: 'Compute the tax',
    script: 'log("asked") return {tax = steps.order.result.amount * 0.2}',
    depends_on: ['order'],
  },
];

test('a step is tested with the last results, typed results and those of a run, and its result is pinned', async ({
  member,
  api,
}) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Taxes', graph: { steps } });
  const workflow = `/v1/workflows/${String(id)}`;
  const past = await api.call('POST', `${workflow}/test-runs`, { params: { amount: 50 } });
  const summary = `${workflow}/runs/${String(past.run_id)}/summary`;
  await expect.poll(async () => (await api.call('GET', summary)).status).toBe('completed');

  // Input, settings and output of the step are side by side; the last result of the previous step is filled in.
  await open(member, `/workflows/${String(id)}?step=tax`);
  const side = sideOf(member);
  await side.getByRole('tab', { name: 'Test' }).click();
  for (const name of ['Input', 'Settings', 'Output'])
    await expect(side.getByRole('region', { name, exact: true })).toBeInViewport();
  await expect(side.getByRole('textbox', { name: 'Name' })).toHaveValue('Compute the tax');
  await expect(resultsOf(member).getByText('Last test')).toBeVisible();
  await expect(resultsOf(member).getByRole('region', { name: 'Result of order' })).toContainText('amount:50');
  await side.getByRole('button', { name: 'Test step' }).click();
  await expect(outcomeOf(member).getByRole('status')).toHaveText('Success');
  await expect(outcomeOf(member).getByRole('region', { name: 'Result' })).toContainText('tax:10');
  await expectThemesAccessible(member);

  await resultsOf(member).getByRole('checkbox', { name: 'Edit as JSON' }).check();
  await replaceText(jsonOf(member), '{"order": {"amount": 200}}');
  await side.getByRole('button', { name: 'Test step' }).click();
  await expect(outcomeOf(member).getByRole('region', { name: 'Result' })).toContainText('tax:40');
  await expect(outcomeOf(member).getByRole('region', { name: 'Log' })).toContainText('asked');

  await side.getByRole('combobox', { name: 'Data from' }).click();
  // The oldest run, which was the first one of this test.
  await member
    .getByRole('option', { name: /Completed/ })
    .last()
    .click();
  await expect(jsonOf(member)).toContainText('"amount": 50');
  await side.getByRole('button', { name: 'Test step' }).click();
  await expect(outcomeOf(member).getByRole('region', { name: 'Result' })).toContainText('tax:10');

  // A pinned result is stored in the draft, is shown on the step, and is used when the whole draft is tested.
  await outcomeOf(member).getByRole('button', { name: 'Pin result' }).click();
  await expect(side.getByRole('region', { name: 'Pinned result' })).toContainText('tax:10');
  await expect(member.getByRole('group', { name: /Compute the tax.*pinned result/ })).toBeVisible();
  await expect
    .poll(async () => (await api.call('GET', workflow)).run_setup)
    .toEqual({ pinned_results: { tax: { tax: 10 } } });
  await expectThemesAccessible(member);
  const again = await api.call('POST', `${workflow}/test-runs`, { params: { amount: 1_000 } });
  const results = async () => (await api.call('GET', `${workflow}/runs/${String(again.run_id)}/context`)).steps;
  await expect.poll(results).toEqual({ order: { result: { amount: 1_000 } }, tax: { result: { tax: 10 } } });
  await side.getByRole('button', { name: 'Unpin' }).click();
  await expect.poll(async () => (await api.call('GET', workflow)).run_setup).toEqual({});

  // The test is stored with its step, and is not listed as a run of the workflow.
  await member.reload();
  await expect(outcomeOf(member).getByRole('region', { name: 'Result' })).toContainText('tax:10');
  await member.goto(`/workflows/${String(id)}?tab=runs`);
  await expect(member.getByText('No run matches').or(member.getByText('No runs yet'))).toBeVisible();
  await member.getByRole('combobox', { name: 'Test runs' }).click();
  await member.getByRole('option', { name: 'Test runs only' }).click();
  await expect(member.getByRole('row')).toHaveCount(6);
  await expect(member.getByRole('table')).not.toContainText('v-');
});

test('a step in a loop is tested with an item and results of earlier steps', async ({ member, api }) => {
  const inner = [
    { id: 'price', type: 'lua_script', script: 'return {net = item.net}' },
    {
      id: 'sum',
      type: 'lua_script',
      script: 'log("added") return {sum = steps.price.result.net * item.count}',
      depends_on: ['price'],
    },
  ];
  const loop = { id: 'each', type: 'for_each', items: '[1]', depends_on: ['order'], steps: inner };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Loop', graph: { steps: [...steps, loop] } });
  await open(member, `/workflows/${String(id)}?loop=each&step=sum&panel=test`);
  const side = sideOf(member);
  await expect(resultsOf(member).getByText('No result yet: read as null')).toHaveCount(2);
  await resultsOf(member).getByRole('checkbox', { name: 'Edit as JSON' }).check();
  await expect(jsonOf(member)).toContainText('"price": null');
  await expect(jsonOf(member)).toContainText('"order": null');
  await replaceText(jsonOf(member), '{"price": {"net": 5}}');
  await replaceText(side.getByRole('textbox', { name: 'Item' }), '{"count": 3}');
  await side.getByRole('button', { name: 'Test step' }).click();
  await expect(outcomeOf(member).getByRole('status')).toHaveText('Success');
  await expect(outcomeOf(member).getByRole('region', { name: 'Result' })).toContainText('sum:15');
  await expect(outcomeOf(member).getByRole('region', { name: 'Log' })).toContainText('added');
  await expectThemesAccessible(member);
});

test('by keyboard, a step is changed and tested, and shows its errors', async ({ member, api }) => {
  const { keyboard } = member;
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Keys', graph: { steps } });
  await open(member, `/workflows/${String(id)}?step=tax`);
  const side = sideOf(member);
  const type = async (field: Locator, text: string) => {
    await pressUntilFocused(member, 'Tab', field);
    await keyboard.press('ControlOrMeta+a');
    await keyboard.insertText(text);
  };
  const canvas = member.getByRole('region', { name: 'Graph of the draft' });
  await expect(canvas.locator('[data-step="tax"]')).toBeVisible();
  await pressUntilFocused(member, 'Tab', canvas);
  await keyboard.press('Enter');
  await expect(side.getByRole('textbox', { name: /^Name/ })).toBeFocused();
  await type(side.getByRole('textbox', { name: 'Script' }), 'return steps.order.result + nothing.at.all');
  await pressUntilFocused(member, 'Shift+Tab', side.getByRole('tab', { name: 'Step' }));
  await keyboard.press('ArrowRight');
  await expect(side.getByRole('tab', { name: 'Test' })).toBeFocused();
  await pressUntilFocused(member, 'Tab', resultsOf(member).getByRole('checkbox', { name: 'Edit as JSON' }));
  await keyboard.press('Space');
  await type(jsonOf(member), '{"order": 1');
  await expect(side.getByRole('button', { name: 'Test step' })).toBeDisabled();
  await type(jsonOf(member), '{"order": 1}');
  await pressUntilFocused(member, 'Tab', side.getByRole('button', { name: 'Test step' }));
  await keyboard.press('Enter');
  await expect(outcomeOf(member).getByRole('status')).toHaveText('Failed');
  await expect(outcomeOf(member).getByRole('alert')).toContainText('nil');
  await keyboard.press('Escape');
  await expect(canvas.locator('.react-flow__node:focus')).toHaveCount(1);
  await keyboard.press('Enter');
  await expect(side.getByRole('tab', { name: 'Step' })).toHaveAttribute('aria-selected', 'true');
  await expect(outcomeOf(member)).toHaveCount(0);
  await expect(side.getByRole('textbox', { name: /^Name/ })).toBeFocused();
});

test('the draft is tested with an input, which is saved for later', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', {
    name: 'Inputs',
    graph: { steps },
    run_setup: { trigger_payload: { amount: 10 } },
  });
  const page = `/workflows/${String(id)}`;
  await open(member, page);
  await member.getByRole('button', { name: 'Test', exact: true }).click();
  const dialog = member.getByRole('dialog', { name: 'Test “Inputs”' });
  await dialog.getByLabel('amount').fill('300');
  await dialog.getByRole('button', { name: 'Save this input' }).click();
  const name = dialog.getByLabel('Name of the input');
  await expect(name).toBeFocused();
  await name.fill('A large order');
  await name.press('Enter');
  await expect(dialog.getByRole('combobox', { name: 'Saved inputs' })).toHaveText('A large order');
  await expectThemesAccessible(member);
  await dialog.getByLabel('amount').fill('1');
  await dialog.getByRole('combobox', { name: 'Saved inputs' }).press('Enter');
  await member.getByRole('option', { name: 'A large order' }).press('Enter');
  await dialog.getByRole('button', { name: 'Start test run' }).click();
  const over = member.getByRole('region', { name: 'Run over the draft' });
  await expect(over).toContainText('Completed');
  await over.getByRole('link', { name: 'Open the run' }).click();
  await expect(member).toHaveURL(/\/runs\//);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed');
  await expect(member.getByText('Draft (test run)')).toBeVisible();
  const run = /runs\/([^/?]+)/.exec(member.url())?.[1];
  expect((await api.call('GET', `/v1${page}/runs/${run}/context`)).input).toEqual({ amount: 300 });
  const { run_setup } = await api.call('GET', `/v1${page}`);
  expect(run_setup).toEqual({
    trigger_payload: { amount: 10 },
    saved_inputs: [{ name: 'A large order', input: { amount: 300 } }],
  });
});
