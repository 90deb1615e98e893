import { expect, expectAccessible, expectPagesAccessibleOnAllScreens, open, test } from '../fixtures/console.ts';

test('the demo server is registered, its tools are discovered and published, and a workflow calls one', async ({
  member,
  api,
}) => {
  // Add the server from the catalog.
  await open(member, '/mcp-servers');
  await member.getByRole('button', { name: 'Browse the catalog' }).click();
  await member.getByRole('button', { name: 'Add Baton demo' }).click();
  await expect(member).toHaveURL(/\/mcp-servers\/[0-9a-f-]{36}/);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Baton demo');
  await expect(member.getByText('No tools discovered yet')).toBeVisible();

  // Discover the tools, and open one.
  await member.getByRole('button', { name: 'Discover tools' }).click();
  await member.getByRole('button', { name: 'Discover', exact: true }).click();
  const tools = member.getByRole('list', { name: 'Discovered tools' });
  await expect(tools.getByText('lookup_exchange_rate')).toBeVisible();
  await member.getByRole('searchbox', { name: 'Search tools' }).fill('invoice');
  await expect(tools.getByRole('listitem')).toHaveCount(1);
  await member.getByRole('searchbox', { name: 'Search tools' }).fill('exchange');
  await tools.getByText('lookup_exchange_rate').click();
  await expect(member.getByRole('region', { name: 'Arguments of lookup_exchange_rate' })).toContainText('amount');
  await expectAccessible(member);

  // Publish the tools, with a changelog.
  await member.getByRole('button', { name: 'Publish', exact: true }).click();
  const publishing = member.getByRole('dialog', { name: 'Publish version 1' });
  await expect(publishing.getByText('nothing published yet')).toBeVisible();
  await publishing.getByLabel('Changelog').fill('The demo as it came');
  await publishing.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Published');
  await member.getByRole('tab', { name: 'Versions' }).click();
  await expect(member.getByRole('list', { name: 'Versions' })).toContainText('The demo as it came');
  await member.getByRole('tab', { name: 'Validate' }).click();
  await member.getByRole('button', { name: 'Run checks' }).click();
  await expect(member.getByText('All checks passed.')).toBeVisible();
  await expectAccessible(member);

  // Create a connection, and an instance with the server and the connection.
  await member.goto('/connections?create=credentials');
  const connecting = member.getByRole('dialog', { name: 'Create connection' });
  await connecting.getByLabel('Name', { exact: true }).fill('Demo key');
  await connecting.getByLabel('Secret 1').fill('not-really-a-secret');
  await connecting.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member.getByText('Demo key is connected')).toBeVisible();
  await member.goto('/mcp-servers?view=instances&open=instance');
  const creating = member.getByRole('dialog', { name: 'Create instance' });
  await creating.getByLabel('Connection').click();
  await member.getByRole('option', { name: 'Demo key' }).click();
  await creating.getByLabel('Name').fill('Exchange desk');
  await expectAccessible(member);
  await creating.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Exchange desk');
  const instance = /instances\/([0-9a-f-]{36})/.exec(member.url())?.[1] ?? '';
  await member.getByRole('button', { name: 'Run checks' }).click();
  await expect(member.getByText('All checks passed.')).toBeVisible();

  // Switch between two profiles.
  await member.getByRole('tab', { name: 'Profiles' }).click();
  await member.getByRole('button', { name: 'Create profile' }).click();
  const profile = member.getByRole('dialog', { name: 'Create profile' });
  await profile.getByLabel('Name').fill('in euros');
  await profile.getByLabel(/Settings/).fill('{"default_args": {"to": "EUR"}}');
  await profile.getByRole('button', { name: 'Save' }).click();
  await member.getByRole('switch', { name: 'in euros is active' }).click();
  await expect(member.getByRole('switch', { name: 'in euros is active' })).toBeChecked();
  await expectAccessible(member);

  // Import a workflow of two steps; the first step calls the tool.
  const document = {
    baton: 1,
    kind: 'workflow',
    name: 'Convert',
    graph: {
      steps: [
        {
          id: 'rate',
          type: 'mcp_call',
          name: 'Look it up',
          instance_id: instance,
          tool_name: 'lookup_exchange_rate',
          tool_args: { from: 'USD', amount: '{{input.amount}}' },
        },
        {
          id: 'sum',
          type: 'lua_script',
          name: 'Say it',
          script: 'return { said = "converted", rate = steps.rate.result }',
          depends_on: ['rate'],
        },
      ],
    },
  };
  await member.goto('/workflows?import=1');
  await member.getByLabel('Document (JSON or YAML)').fill(JSON.stringify(document));
  await member.getByRole('button', { name: 'Import', exact: true }).last().click();
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Convert');
  await member.getByRole('button', { name: 'Publish', exact: true }).click();
  await member
    .getByRole('dialog')
    .getByRole('button', { name: /^Publish/ })
    .click();
  await expect(member.getByRole('main').getByText('Published', { exact: true })).toBeVisible();

  // Run it and see the result.
  const workflow = /workflows\/([0-9a-f-]{36})/.exec(member.url())?.[1] ?? '';
  const params = { trigger_payload: { amount: 100 } };
  const { run_id } = await api.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params });
  await member.goto(`/workflows/${workflow}/runs/${String(run_id)}`);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed');
  await member
    .getByRole('region', { name: 'Steps' })
    .getByRole('button', { name: /Look it up/ })
    .click();
  await expect(member.getByRole('region', { name: 'Result' })).toContainText('EUR');

  // The instance lists the workflows that use it, and cannot be deleted while it is used.
  await member.goto(`/mcp-servers/instances/${instance}`);
  await expect(member.getByRole('link', { name: 'Convert' })).toBeVisible();
  await member.getByRole('button', { name: 'Delete', exact: true }).click();
  await member.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(member.getByText('Workflows use this instance.')).toBeVisible();
});

test('errors are shown where they occurred', async ({ member }) => {
  await open(member, '/mcp-servers?open=register');
  const dialog = member.getByRole('dialog', { name: 'Register server' });
  await dialog.getByLabel('Name').fill('Metadata');
  await dialog.getByLabel('Address').fill('http://169.254.169.254/latest');
  await dialog.getByRole('button', { name: 'Register' }).click();
  await expect(dialog.getByRole('alert')).toContainText('canonical_url');
  await dialog.getByLabel('Name').fill('Nowhere');
  await dialog.getByLabel('Address').fill('https://not-there.invalid/mcp');
  await dialog.getByRole('button', { name: 'Register' }).click();
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Nowhere');
  await member.getByRole('button', { name: 'Discover tools' }).click();
  await member.getByRole('button', { name: 'Discover', exact: true }).click();
  await expect(member.getByRole('dialog').getByRole('alert')).toContainText('Discovery failed');
  await member.getByRole('button', { name: 'Cancel' }).click();
  await expect(member.getByText('The last discovery failed')).toBeVisible();
  await expectAccessible(member);
});

test('the pages are accessible in both themes and on a phone', async ({ member, api }) => {
  const { adapters } = await api.call('GET', '/v1/mcp/platform-catalog');
  const [demo] = adapters as { canonical_url: string }[];
  const server = await api.call('POST', '/v1/mcp/servers', { name: 'Phone demo', canonical_url: demo?.canonical_url });
  await api.call('POST', `/v1/mcp/servers/${String(server.id)}/discover`, {});
  await api.call('POST', `/v1/mcp/servers/${String(server.id)}/versions`, {});
  const instance = await api.call('POST', '/v1/mcp/instances', { server_id: server.id, name: 'Phone' });
  await expectPagesAccessibleOnAllScreens(member, [
    '/mcp-servers',
    '/mcp-servers?open=catalog',
    '/mcp-servers?view=instances',
    `/mcp-servers/${String(server.id)}`,
    `/mcp-servers/${String(server.id)}?tab=versions`,
    `/mcp-servers/${String(server.id)}?tab=validate`,
    `/mcp-servers/instances/${String(instance.id)}`,
    `/mcp-servers/instances/${String(instance.id)}?tab=profiles`,
  ]);
});
