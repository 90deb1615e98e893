import type { Locator, Page } from '@playwright/test';
import { expect, open, test } from '../fixtures/console.ts';

/** A server with the demo MCP server in it. */
test.use({ serverEnv: { BATON_DEMO_MCP: 'true' } });

/** Presses a key until the element, which is visible, has the focus. */
async function pressUntilFocused(page: Page, key: string, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 120; presses += 1) {
    if (await target.evaluate(element => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}.`);
}

/** Chooses from a list: Tab leads to it, the arrows to the option. */
async function choose(page: Page, list: Locator, option: RegExp): Promise<void> {
  await expect(list).toBeEnabled();
  await pressUntilFocused(page, 'Tab', list);
  await page.keyboard.press('Enter');
  const wanted = page.getByRole('option', { name: option });
  await expect(wanted).toBeVisible();
  // An arrow that is pressed before the list has the focus would be lost.
  await expect(page.locator('[role=option]:focus')).toHaveCount(1);
  await pressUntilFocused(page, 'ArrowDown', wanted);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('listbox')).toHaveCount(0);
  await expect(list).toHaveText(option);
  await expect(list).toBeFocused();
}

test('a tool is chosen, given its arguments, and the draft tested with the keyboard alone', async ({ member, api }) => {
  const { keyboard } = member;
  const { adapters } = await api.call('GET', '/v1/mcp/platform-catalog');
  const [demo] = adapters as { canonical_url: string }[];
  const server = await api.call('POST', '/v1/mcp/servers', { name: 'Demo', canonical_url: demo?.canonical_url });
  await api.call('POST', `/v1/mcp/servers/${String(server.id)}/discover`, {});
  await api.call('POST', `/v1/mcp/servers/${String(server.id)}/versions`, {});
  await api.call('POST', '/v1/mcp/instances', { server_id: server.id, name: 'Exchange desk' });
  const steps = [{ id: 'rate', type: 'mcp_call' }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Rates', graph: { steps } });

  await open(member, `/workflows/${String(id)}?step=rate`);
  const canvas = member.getByRole('region', { name: 'Graph of the draft' });
  const form = member.getByRole('region', { name: 'Step and JSON' });
  await expect(canvas.locator('[data-step="rate"]')).toBeVisible();
  await pressUntilFocused(member, 'Tab', canvas);
  await keyboard.press('Enter');
  await expect(form.getByLabel('Name')).toBeFocused();
  await choose(member, form.getByRole('combobox', { name: 'MCP instance' }), /Exchange desk/);
  await choose(member, form.getByRole('combobox', { name: 'Tool' }), /lookup_exchange_rate/);
  await choose(member, form.getByRole('combobox', { name: 'from', exact: true }), /^USD$/);
  await choose(member, form.getByRole('combobox', { name: 'to', exact: true }), /^EUR$/);
  await pressUntilFocused(member, 'Tab', form.getByRole('textbox', { name: /^amount/ }));
  await keyboard.insertText('100');
  await expect(member.getByRole('region', { name: 'Problems' })).toContainText('can be published');
  await keyboard.press('Escape');
  await expect(canvas.locator('.react-flow__node[data-id="rate"]')).toBeFocused();

  const testRun = member.getByRole('button', { name: 'Test run' });
  await expect(testRun).toBeEnabled();
  await pressUntilFocused(member, 'Shift+Tab', testRun);
  await keyboard.press('Enter');
  const start = member.getByRole('dialog', { name: 'Test “Rates”' }).getByRole('button', { name: 'Start test run' });
  await expect(start).toBeEnabled();
  await pressUntilFocused(member, 'Tab', start);
  await keyboard.press('Enter');
  await expect(member).toHaveURL(/\/runs\//);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed');
  await expect(member.getByText('Draft (test run)')).toBeVisible();
  const run = /runs\/([^/?]+)/.exec(member.url())?.[1];
  const { steps: results } = await api.call('GET', `/v1/workflows/${String(id)}/runs/${run}/context`);
  expect(JSON.stringify(results)).toContain('rate');
});
