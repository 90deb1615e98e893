import type { Page } from '@playwright/test';
import { expect, expectThemesAccessible, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

import { formOf } from '../fixtures/whole-job.ts';

const completions = (page: Page) => page.getByRole('listbox', { name: 'Completions' });

test.describe('the code of a step', () => {
  const graph = {
    steps: [
      { id: 'order', type: 'lua_script', script: 'return {amount = input.amount, currency = "EUR"}' },
      { id: 'ask', type: 'human_task', depends_on: ['order'], instructions: '' },
      { id: 'check', type: 'condition', depends_on: ['ask'], expression: 'true' },
    ],
  };

  test('is completed from the last run and from the graph; Tab and Escape leave the field', async ({ member, api }) => {
    const { id } = await api.call('POST', '/v1/workflows', { name: 'Completion', graph });
    const path = `/v1/workflows/${String(id)}`;
    await api.call('POST', `${path}/versions`, { changelog: 'First' });
    const params = { trigger_payload: { amount: 3 } };
    const { run_id } = await api.call('POST', `${path}/command`, { command: 'start', params });
    const run = `${path}/runs/${String(run_id)}`;
    await expect.poll(async () => (await api.call('GET', `${run}/summary`)).orchestration_phase).toBe('blocked');

    await member.goto(`/workflows/${String(id)}?step=ask`);
    const text = formOf(member).getByRole('textbox', { name: 'Instructions' });
    await text.focus();
    await expect(text).toBeFocused();
    await member.keyboard.insertText('Accept {{steps.order.result.');
    await expect(completions(member).getByRole('option')).toHaveText([/^amount/, /^currency/]);
    // The list is not rendered again when the server reports the template as unfinished, so a click at that moment is
    // not lost.
    await completions(member).evaluate(list => list.setAttribute('data-first', ''));
    await expect(text).toHaveAttribute('aria-invalid', 'true');
    expect(await member.locator('.cm-tooltip-autocomplete:not([class*=disabled]) > [data-first]').count()).toBe(1);
    await expectThemesAccessible(member);
    await completions(member).getByRole('option', { name: 'amount' }).click();
    await expect(text).toBeFocused();
    await member.keyboard.insertText('}}?');
    await expect(text).toHaveText('Accept {{steps.order.result.amount}}?');
    await expect(text.locator('.cm-template')).toHaveText('{{steps.order.result.amount}}');

    // The first Escape closes the list, and the second one leaves the field.
    await member.keyboard.insertText(' {{input.');
    await expect(completions(member)).toBeVisible();
    await member.keyboard.press('Escape');
    await expect(completions(member)).toHaveCount(0);
    await expect(text).toBeFocused();
    await member.keyboard.press('Escape');
    await expect(member.locator('.react-flow__node[data-id="ask"]')).toBeFocused();

    await member.goto(`/workflows/${String(id)}?step=check`);
    await formOf(member).getByRole('button', { name: 'Expression', exact: true }).click();
    const expression = formOf(member).getByRole('textbox', { name: 'Expression' });
    await expression.focus();
    await expect(expression).toBeFocused();
    await member.keyboard.insertText('steps.ask.result.');
    await expect(completions(member)).toContainText('approved');
    await member.keyboard.press('Tab');
    await expect(expression).not.toBeFocused();
    await expect(completions(member)).toHaveCount(0);
  });

  test('is completed in the output of a workflow, with all steps', async ({ member, api }) => {
    const { id } = await api.call('POST', '/v1/workflows', { name: 'Output', graph });
    await member.goto(`/workflows/${String(id)}`);
    await formOf(member).getByText('Input, output and failure handling').click();
    const part = formOf(member).getByRole('region', { name: 'Output', exact: true });
    await part.getByRole('checkbox', { name: 'Edit as JSON' }).check();
    const output = part.getByRole('textbox', { name: 'Output' });
    await output.focus();
    await expect(output).toBeFocused();
    await member.keyboard.insertText('{"value": "{{steps.');
    await expect(completions(member).getByRole('option')).toHaveText([/^order/, /^ask/, /^check/]);
  });

  test('is completed in the steps of a loop, with the item', async ({ member, api }) => {
    const only = { id: 'only', type: 'lua_script' };
    const loop = { id: 'each', type: 'for_each', items: '{{input.orders}}', steps: [{ ...only, script: 'return 1' }] };
    const { id } = await api.call('POST', '/v1/workflows', {
      name: 'Items',
      graph: { steps: [loop] },
      run_setup: { trigger_payload: { orders: [{ sku: 'a', price: 2 }] } },
    });
    await member.goto(`/workflows/${String(id)}?step=each`);
    await formOf(member).getByRole('checkbox', { name: 'Edit as JSON' }).check();
    const steps = formOf(member).getByRole('textbox', { name: 'Steps' });
    await replaceText(steps, '[{"id": "only", "type": "lua_script", "script": "return item.');
    await expect(completions(member).getByRole('option')).toHaveText([/^sku/, /^price/]);
    await completions(member).getByRole('option', { name: 'price' }).click();
    await expect(steps).toBeFocused();
    await member.keyboard.insertText(' +"}]');
    const problems = formOf(member).getByRole('list', { name: 'Problems in the steps of the loop' });
    await expect(problems).toContainText('only › script');
    await expect(member.getByRole('region', { name: 'Problems' })).toContainText('each › only › script');
    await expect(member.locator('.react-flow__node[data-id="each"]')).toContainText('1 problem');
    await expectThemesAccessible(member);
    await replaceText(steps, '[{"id": "only", "type": "lua_script", "script": "return item.price"}]');
    await expect(problems).toHaveCount(0);
    const stored = async () => (await api.call('GET', `/v1/workflows/${String(id)}`)).graph;
    await expect.poll(stored).toEqual({ steps: [{ ...loop, steps: [{ ...only, script: 'return item.price' }] }] });
  });

  test('shows an error at its line', async ({ member, api }) => {
    const script = 'local a = 1\nlocal b = = 2 -- {{input.x}}\nreturn a';
    const { id } = await api.call('POST', '/v1/workflows', {
      name: 'Wrong line',
      graph: { steps: [{ id: 'wrong', type: 'lua_script', script }] },
    });
    await member.goto(`/workflows/${String(id)}?step=wrong`);
    await expect(formOf(member).getByRole('alert')).toContainText('Line 2: ');
    await expect(formOf(member).locator('.cm-lint-marker-error')).toHaveCount(1);
    await expect(formOf(member).locator('.cm-lintRange-error').first()).toContainText('local b = = 2');
    await expectThemesAccessible(member);
  });
});
