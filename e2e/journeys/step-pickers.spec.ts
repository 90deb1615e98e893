import type { Locator } from '@playwright/test';
import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';
import { openMore } from '../fixtures/whole-job.ts';

test('an instance and a tool are chosen from lists, and the arguments filled in with a form', async ({
  member,
  api,
}) => {
  const { adapters } = await api.call('GET', '/v1/mcp/platform-catalog');
  const [demo] = adapters as { canonical_url: string }[];
  const server = await api.call('POST', '/v1/mcp/servers', { name: 'Demo', canonical_url: demo?.canonical_url });
  await api.call('POST', `/v1/mcp/servers/${String(server.id)}/discover`, {});
  await api.call('POST', `/v1/mcp/servers/${String(server.id)}/versions`, {});
  const instance = await api.call('POST', '/v1/mcp/instances', { server_id: server.id, name: 'Exchange desk' });
  const steps = [
    { id: 'rate', type: 'mcp_call' },
    { id: 'ask', type: 'llm_call', prompt: 'Hello' },
  ];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Rates', graph: { steps } });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: unknown[] }).steps;
  };

  await open(member, `/workflows/${String(id)}?step=rate`);
  const form = member.getByRole('region', { name: 'Step and JSON' });
  await expect(form.getByText('Choose an instance first.')).toBeVisible();
  await form.getByRole('combobox', { name: 'MCP instance' }).click();
  await member.getByRole('option', { name: /Exchange desk/ }).click();
  await form.getByRole('combobox', { name: 'Tool' }).click();
  await member.getByRole('option', { name: /lookup_exchange_rate/ }).click();
  // The results of checking the draft move the form, and a click on a moving list selects nothing.
  await expect(form.getByRole('alert').first()).toContainText('The tool requires');
  for (const [name, currency] of [
    ['from', 'USD'],
    ['to', 'EUR'],
  ] as const) {
    await form.getByRole('combobox', { name, exact: true }).click();
    await member.getByRole('option', { name: currency, exact: true }).click();
  }
  await form.getByRole('textbox', { name: /^amount/ }).fill('{{input.amount}}');
  await expectThemesAccessible(member);
  await expect.poll(stored).toContainEqual({
    id: 'rate',
    type: 'mcp_call',
    instance_id: instance.id,
    tool_name: 'lookup_exchange_rate',
    tool_args: { from: 'USD', to: 'EUR', amount: '{{input.amount}}' },
  });
  await form.getByRole('textbox', { name: /^amount/ }).fill('100');
  await expect.poll(async () => JSON.stringify(await stored())).toContain('"amount":100');

  // Without a model key, there is no model to choose, but its name can be typed.
  await member.goto(`/workflows/${String(id)}?step=ask`);
  await expect(form.getByText('The workspace has no model key yet.')).toBeVisible();
  await form.getByRole('combobox', { name: 'Model' }).click();
  await member.getByRole('option', { name: 'Another model' }).click();
  await form.getByLabel('Model name').fill('openai/gpt-5');
  await expect.poll(async () => JSON.stringify(await stored())).toContain('openai/gpt-5');
  await expectThemesAccessible(member);
});

/** Finds a workflow in the open list by keyboard. */
async function pickByKeyboard(form: Locator, name: string): Promise<void> {
  const page = form.page();
  const search = page.getByPlaceholder('Search by name or ID…');
  await expect(search).toBeFocused();
  await page.keyboard.insertText(name);
  await expect(page.getByRole('option').first()).toHaveText(new RegExp(`^${name}`));
  await expect(page.getByRole('option').first()).toHaveAttribute('data-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(form.getByRole('combobox', { name: 'Workflow', exact: true })).toHaveText(name);
  await expect(form.getByRole('combobox', { name: 'Workflow', exact: true })).toBeFocused();
}

test('a workflow to call is found by name, with its version and a form for its input', async ({ member, api }) => {
  const publish = async (name: string, graph: object) => {
    const { id } = await api.call('POST', '/v1/workflows', { name, graph });
    await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
    return String(id);
  };
  const steps = [{ id: 'only', type: 'lua_script', script: 'return 1' }];
  const input_schema = {
    type: 'object',
    required: ['email'],
    properties: { email: { type: 'string', title: 'Email of the customer' }, urgent: { type: 'boolean' } },
  };
  const invoice = await publish('Send an invoice', { steps, input_schema });
  const retired = await publish('Retired', { steps });
  await api.call('DELETE', `/v1/workflows/${retired}`);
  const { id } = await api.call('POST', '/v1/workflows', {
    name: 'Caller',
    graph: { steps: [{ id: 'call', type: 'call_workflow', workflow_id: retired }] },
  });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: unknown[] }).steps[0];
  };

  await open(member, `/workflows/${String(id)}?step=call`);
  const form = member.getByRole('region', { name: 'Step and JSON' });
  const workflow = form.getByRole('combobox', { name: 'Workflow', exact: true });
  await expect(workflow).toHaveText('Retired');
  await expect(form.getByText('the workflow is archived')).toBeVisible();
  await workflow.focus();
  await expect(workflow).toBeFocused();
  await member.keyboard.press('Enter');
  await pickByKeyboard(form, 'Send an invoice');
  await expect(form.getByRole('link', { name: 'Open Send an invoice' })).toHaveAttribute(
    'href',
    `/workflows/${invoice}`,
  );
  await expect(member.locator('[data-id="call"]')).toContainText('Run Send an invoice and wait');
  await openMore(member);
  await form.getByRole('combobox', { name: 'Version' }).click();
  await member.getByRole('option', { name: 'v1', exact: true }).click();
  await form.getByRole('textbox', { name: 'Email of the customer' }).fill('{{input.email}}');
  await form.getByRole('combobox', { name: 'urgent' }).click();
  await member.getByRole('option', { name: 'true' }).click();
  await expectThemesAccessible(member);
  const called = { workflow_id: invoice, version: 1, input: { email: '{{input.email}}', urgent: true } };
  await expect.poll(stored).toEqual({ id: 'call', type: 'call_workflow', ...called });
  await expect(form.getByText('the workflow is archived')).toHaveCount(0);

  // A template can also determine the workflow.
  await workflow.click();
  await expectThemesAccessible(member);
  await member.getByRole('option', { name: 'Choose with a template' }).click();
  await form.getByRole('textbox', { name: 'Workflow as a template' }).fill('{{input.workflow_id}}');
  await expect.poll(stored).toMatchObject({ workflow_id: '{{input.workflow_id}}' });
  await expect(form.getByRole('textbox', { name: 'Version' })).toHaveValue('1');
});
