import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';

/** A server with the demo MCP server in it. */
test.use({ serverEnv: { BATON_DEMO_MCP: 'true' } });

test('an instance and a tool are chosen from lists, and the arguments filled in by a form', async ({ member, api }) => {
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

  // Without a key there is nothing to choose from; a model can still be named.
  await member.goto(`/workflows/${String(id)}?step=ask`);
  await expect(form.getByText('The workspace has no model key yet.')).toBeVisible();
  await form.getByRole('combobox', { name: 'Model' }).click();
  await member.getByRole('option', { name: 'Another model' }).click();
  await form.getByLabel('Name of the model').fill('openai/gpt-5');
  await expect.poll(async () => JSON.stringify(await stored())).toContain('openai/gpt-5');
  await expectThemesAccessible(member);
});
