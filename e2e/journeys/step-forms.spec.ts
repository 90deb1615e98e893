import type { Locator, Page } from '@playwright/test';
import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';
import { chooseByKeyboard, pressUntilFocused } from '../fixtures/keyboard.ts';
import { formOf, openMore, stepIdOf } from '../fixtures/whole-job.ts';

const COMMAND = String.raw`curl -X POST 'https://api.example.com/orders?page=1' \
  -H 'Accept: application/json' -H 'Authorization: Bearer s3cret-token' -H 'content-type: application/json' \
  --data-raw '{"id": "{{input.id}}", "note": "it'\''s"}' --compressed -k`;

/** Chooses an option of an open list by keyboard. */
async function choose(page: Page, list: Locator, search: string, option: RegExp): Promise<void> {
  await pressUntilFocused(page, 'Tab', list);
  await page.keyboard.press('Enter');
  await expect(page.getByPlaceholder('Search, or type input.…')).toBeFocused();
  await page.keyboard.insertText(search);
  await expect(page.getByRole('option', { name: option })).toHaveAttribute('data-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page.getByPlaceholder('Search, or type input.…')).toHaveCount(0);
}

test('a curl command becomes a request, its secret is stored in a connection, and the request is copied as a command', async ({
  member,
  api,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const input_schema = { type: 'object', properties: { trace: { type: 'string' } } };
  const steps = [{ id: 'order', type: 'http_request', url: '' }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Requests', graph: { steps, input_schema } });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: Record<string, unknown>[] }).steps[0];
  };
  await open(member, `/workflows/${String(id)}?step=order`);
  const form = formOf(member);
  const url = form.getByRole('textbox', { name: 'URL' });
  await url.focus();
  await expect(url).toBeFocused();
  await url.evaluate((element, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, COMMAND);
  const request = {
    id: 'order',
    type: 'http_request',
    method: 'POST',
    url: 'https://api.example.com/orders',
    query: { page: '1' },
    headers: { Accept: 'application/json' },
    body: { id: '{{input.id}}', note: "it's" },
  };
  await expect.poll(stored).toEqual(request);
  await expect(form.getByRole('textbox', { name: 'Parameter 1: name' })).toHaveValue('page');
  const notice = form.getByRole('status', { name: 'Pasted command' });
  await expect(notice).toContainText('Not pasted: the header Authorization');
  await expect(notice).toContainText('Certificates are always checked');
  await expectThemesAccessible(member);

  await notice.getByRole('button', { name: 'Create a connection' }).click();
  const dialog = member.getByRole('dialog', { name: 'Create connection' });
  await expect(dialog.getByRole('textbox', { name: 'Secret 1' })).toHaveValue('s3cret-token');
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Orders');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog).toHaveCount(0);
  await expect.poll(stored).toMatchObject({ auth: { type: 'bearer' }, connection_id: expect.any(String) });
  await form.getByRole('tab', { name: /^Auth/ }).click();
  await expect(form.getByRole('combobox', { name: 'Connection' })).toHaveText('Orders');

  await form.getByRole('tab', { name: 'Options' }).click();
  await expect(form.getByRole('checkbox', { name: 'Follow redirects' })).toBeChecked();
  await form.getByRole('tab', { name: /^Headers/ }).click();
  await form.getByRole('textbox', { name: 'Header 2: name' }).fill('X-Trace');
  const trace = form.getByRole('textbox', { name: 'Header 2: value' });
  await form.getByRole('button', { name: 'Insert a value into Header 2: value' }).click();
  await member.getByRole('treeitem', { name: /trace/ }).click();
  await expect(trace).toBeFocused();
  await expect.poll(stored).toMatchObject({ headers: { 'X-Trace': '{{input.trace}}' } });
  await form.getByRole('button', { name: 'Copy as cURL' }).click();
  await expect(member.getByText('without the credentials of the connection')).toBeVisible();
  const copied = await member.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("'X-Trace: {{input.trace}}'");
  expect(copied).not.toContain('s3cret');
});

test('a condition is built by keyboard, and its expression is equivalent', async ({ member, api }) => {
  const input_schema = {
    type: 'object',
    properties: { total: { type: 'number' }, region: { type: 'string' }, urgent: { type: 'boolean' } },
  };
  const steps = [{ id: 'check', type: 'condition', expression: '' }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Rules', graph: { input_schema, steps } });
  const expression = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: Record<string, unknown>[] }).steps[0]?.expression;
  };
  await open(member, `/workflows/${String(id)}?step=check`);
  const form = formOf(member);
  const { keyboard } = member;
  await form.getByRole('textbox', { name: 'Name' }).focus();
  await choose(member, form.getByRole('combobox', { name: 'Rule 1: field' }), 'tot', /^total/);
  await chooseByKeyboard(member, form.getByRole('combobox', { name: 'Rule 1: operator' }), 'is at least');
  await pressUntilFocused(member, 'Tab', form.getByRole('textbox', { name: 'Rule 1: value' }));
  await keyboard.insertText('500');
  await expect.poll(expression).toBe('input.total >= 500');
  await pressUntilFocused(member, 'Tab', form.getByRole('button', { name: 'Add a group' }));
  await keyboard.press('Enter');
  await choose(member, form.getByRole('combobox', { name: 'Rule 2.1: field' }), 'region', /^region/);
  await chooseByKeyboard(member, form.getByRole('combobox', { name: 'Rule 2.1: operator' }), 'is one of');
  await pressUntilFocused(member, 'Tab', form.getByRole('textbox', { name: 'Rule 2.1: values' }));
  await keyboard.press('ControlOrMeta+a');
  await keyboard.insertText('EU,UK');
  await choose(member, form.getByRole('combobox', { name: 'Rule 2.2: field' }), 'urg', /^urgent/);
  await expect(form.getByRole('combobox', { name: 'Rule 2.2: operator' })).toHaveText('is true');
  await expect.poll(expression).toBe('input.total >= 500 && (input.region in ["EU", "UK"] || input.urgent)');
  await expectThemesAccessible(member);

  // The builder and the expression agree, and an unfinished rule is kept meanwhile.
  await pressUntilFocused(member, 'Tab', form.getByRole('button', { name: 'Add a rule' }).last());
  await keyboard.press('Enter');
  await expect(form.getByRole('combobox', { name: 'Rule 3: field' })).toBeVisible();
  await pressUntilFocused(member, 'Shift+Tab', form.getByRole('button', { name: 'Expression', exact: true }));
  await keyboard.press('Enter');
  const text = form.getByRole('textbox', { name: 'Expression' });
  await expect(text).toContainText('input.total >= 500 && (');
  await pressUntilFocused(member, 'Shift+Tab', form.getByRole('button', { name: 'Builder' }));
  await keyboard.press('Enter');
  await expect(form.getByRole('combobox', { name: 'Rule 3: field' })).toBeVisible();
  await pressUntilFocused(member, 'Tab', form.getByRole('button', { name: 'Expression', exact: true }));
  await keyboard.press('Enter');
  await pressUntilFocused(member, 'Tab', text);
  await keyboard.press('ControlOrMeta+a');
  await keyboard.insertText('input.total + 1 > 500');
  await pressUntilFocused(member, 'Shift+Tab', form.getByRole('button', { name: 'Builder' }));
  await keyboard.press('Enter');
  await expect(form.getByText('This expression is richer than the builder.')).toBeVisible();
  await expect.poll(expression).toBe('input.total + 1 > 500');

  // The folded part of the form contains the ID, which can be renamed.
  await openMore(member);
  await expect(stepIdOf(member)).toHaveValue('check');
  await expect(form.getByRole('combobox', { name: 'If the step fails' })).toHaveText('Default: The run fails');
  await expectThemesAccessible(member);
});
