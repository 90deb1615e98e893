import { addModel, expect, makeInstance, test } from '../fixtures/agents.ts';
import { expectAccessible, expectThemesAccessible, open } from '../fixtures/console.ts';

test('an agent is created, given a tool and limits, tested, restored and archived @phone', async ({
  member,
  api,
  model,
}) => {
  // This test is long: it takes four minutes on a machine that is eight times slower.
  test.setTimeout(480_000);
  await makeInstance(api, 'Exchange desk');

  // Without a model key, the page says that the key is missing and where to add it.
  await open(member, '/agents');
  await expect(member.getByText('No agents yet')).toBeVisible();
  await expect(member.getByRole('status').getByRole('link', { name: 'Model keys' })).toBeVisible();
  await expectThemesAccessible(member);
  await addModel(api, model);

  await open(member, '/agents');
  await member.getByRole('button', { name: 'Create agent' }).first().click();
  const dialog = member.getByRole('dialog', { name: 'Create agent' });
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Exchange desk clerk');
  await dialog.getByRole('combobox', { name: 'Model' }).click();
  await member.getByRole('option', { name: /scripted/ }).click();
  await expectAccessible(member);
  await dialog.getByRole('button', { name: 'Create agent' }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'Exchange desk clerk' })).toBeVisible();
  await expect(member.getByText('v1', { exact: true })).toBeVisible();

  await member.getByRole('textbox', { name: 'Instructions' }).fill('Answer questions about exchange rates.');
  await member.getByRole('combobox', { name: 'Add the tools of an MCP instance' }).click();
  await member.getByRole('option', { name: /Exchange desk/ }).click();
  const rate = member.getByRole('combobox', { name: 'lookup_exchange_rate: what the agent does' });
  await expect(rate).toContainText('Never');
  await rate.click();
  await member.getByRole('option', { name: /Auto/ }).click();
  await member.getByRole('combobox', { name: 'If the outcome of a call is unknown: Exchange desk' }).click();
  await member.getByRole('option', { name: /^Ask/ }).click();
  await member.getByRole('textbox', { name: 'Model turns' }).fill('many');
  await member.getByRole('button', { name: 'Save agent' }).click();
  await expect(member.getByText('Enter a number.')).toBeVisible();
  await member.getByRole('textbox', { name: 'Model turns' }).fill('5');
  await member.getByRole('textbox', { name: /^Temperature/ }).fill('0.2');
  await member.getByRole('textbox', { name: /^Starters/ }).fill('What is lookup_exchange_rate for?');
  await member.getByRole('button', { name: 'Save agent' }).click();
  await expect(member.getByText('v2', { exact: true })).toBeVisible();
  await expectThemesAccessible(member);

  await member.getByRole('button', { name: 'What is lookup_exchange_rate for?' }).click();
  await expect(member.getByRole('textbox', { name: 'Message' })).toHaveValue('What is lookup_exchange_rate for?');
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  const run = member.getByRole('region', { name: 'Test run' });
  await expect(run.getByText('Completed')).toBeVisible();
  await expect(member.getByText(/^The last run took .* and .* credits?, including time spent waiting/)).toBeVisible();
  await expect(run.getByText('"answered"', { exact: true })).toBeVisible();
  const trace = run.getByRole('list', { name: 'Turns and calls' });
  await expect(trace.getByRole('button')).toHaveText([/^Turn 1/, /^lookup_exchange_rate/, /^Turn 2/]);
  await trace.getByRole('button', { name: 'lookup_exchange_rate' }).click();
  await expect(run.getByRole('region', { name: 'Step agent.1.1' })).toContainText('as_of');
  await expectAccessible(member);

  await member.getByRole('tab', { name: 'Versions' }).click();
  await member.getByText('Changes in version 2').click();
  await expect(member.getByText('+ Answer questions about exchange rates.')).toBeVisible();
  await expectThemesAccessible(member);
  await member.getByRole('button', { name: 'Restore' }).click();
  await expect(member.getByText('v3', { exact: true }).first()).toBeVisible();
  await member.getByRole('tab', { name: 'Settings' }).click();
  await expect(member.getByRole('textbox', { name: 'Instructions' })).toHaveValue('');
  await member.getByRole('tab', { name: 'Recent failures' }).click();
  await expect(member.getByText('No failed runs')).toBeVisible();
  await expectAccessible(member);

  await open(member, '/agents');
  const row = member.getByRole('row', { name: /Exchange desk clerk/ });
  await expect(row.getByText('100%')).toBeVisible();
  await expectThemesAccessible(member);
  await row.getByRole('link', { name: 'Exchange desk clerk' }).click();
  await member.getByRole('button', { name: 'Actions for Exchange desk clerk' }).click();
  await member.getByRole('menuitem', { name: 'Archive' }).click();
  await member.getByRole('alertdialog').getByRole('button', { name: 'Archive' }).click();
  await expect(member.getByText('No agents yet')).toBeVisible();
});

test('the run of an agent opens into its turns, calls and approvals @phone', async ({ member, api, model, server }) => {
  const instance_id = await makeInstance(api, 'Billing');
  await addModel(api, model);
  const { id } = await api.call('POST', '/v1/agents', {
    name: 'Billing clerk',
    model: 'openai_compatible/scripted',
    instructions: 'You write invoices.',
    tools: [{ type: 'mcp', instance_id, tools: ['lookup_exchange_rate', 'create_invoice'] }],
  });
  const invoice = { customer: 'Ann', lines: [{ description: 'Work', quantity: 2, unit_price: 50 }] };
  model.script({
    answers: [
      {
        content: [
          { reasoning: 'First the rate.' },
          { text: 'I look up the rate and write the **invoice**.' },
          {
            calls: [
              { name: 'lookup_exchange_rate', arguments: { from: 'EUR', to: 'USD' } },
              { name: 'create_invoice', arguments: invoice },
            ],
          },
        ],
      },
      { content: [{ text: 'The invoice is written.' }] },
      { content: [{ text: 'It was written before.' }] },
    ],
  });
  const input = { message: 'Write an invoice for Ann.' };
  const { run_id } = await api.call('POST', `/v1/agents/${String(id)}/runs`, { input });
  const path = `/workflows/${String(id)}/runs/${String(run_id)}`;
  await open(member, path);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Waiting for a person');

  // The graph shows the agent's own run; the list beside it has the same steps.
  await expect(member.getByRole('checkbox', { name: 'Show turns and calls' })).toBeChecked();
  const graph = member.getByRole('region', { name: 'Graph of the run' });
  // On a phone the graph is too small to show step names.
  await expect(graph.locator('[data-step="agent.1.2.ok"]')).toBeVisible();
  await expectThemesAccessible(member);
  const steps = member.getByRole('region', { name: 'Steps' });
  await steps.getByRole('button', { name: 'Turn 1' }).click();
  const step = (name: string) => member.getByRole('region', { name: `Step ${name}`, exact: true });
  await expect(step('agent.1')).toContainText('I look up the rate and write the invoice.');
  await step('agent.1').getByText('What the model was sent').click();
  await expect(step('agent.1')).toContainText('You write invoices.');
  await expect(step('agent.1')).toContainText('Write an invoice for Ann.');
  await expectThemesAccessible(member);
  await step('agent.1').getByRole('button', { name: 'create_invoice' }).click();
  await expect(step('agent.1.2')).toContainText('Not started');
  await member.getByRole('button', { name: 'Close the step' }).click();
  await steps.getByRole('button', { name: 'Approval of create_invoice' }).click();
  await expect(step('agent.1.2.ok').getByRole('link', { name: 'Answer in the inbox' })).toBeVisible();
  await expect(step('agent.1.2.ok')).toContainText('wants to call the tool');

  // The inbox grants a permanent approval, which the page of the agent lists.
  await step('agent.1.2.ok').getByRole('link', { name: 'Answer in the inbox' }).click();
  await member.getByRole('button', { name: 'Always for this agent', exact: true }).click();
  await expect(member.getByText(/^Approved “/)).toBeVisible();
  await open(member, `/inbox/${String(run_id)}/agent.1.2.ok`);
  await expect(member.getByRole('main')).toContainText(`Approved by ${server.email}`);
  await open(member, `/agents/${String(id)}?tab=grants`);
  await expect(member.getByRole('tabpanel').getByText('create_invoice', { exact: true })).toBeVisible();
  await open(member, path);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed');
  await steps.getByRole('button', { name: 'Approval of create_invoice' }).click();
  await expect(step('agent.1.2.ok')).toContainText('Approved by');
  await member.getByRole('button', { name: 'Close the step' }).click();
  await steps.getByRole('button', { name: 'Turn 2' }).click();
  await step('agent.2').getByText('What the model was sent').click();
  await expect(step('agent.2')).toContainText('create_invoice returned');
  await member.getByRole('button', { name: 'Close the step' }).click();
  await steps.getByRole('button', { name: 'Approval of create_invoice' }).click();

  await member.getByRole('tab', { name: 'Timeline' }).click();
  const rows = member.getByRole('region', { name: 'Timeline' }).getByRole('button');
  await expect(rows).toHaveText([
    /^agent/,
    /^Turn 1/,
    /^lookup_exchange_rate/,
    /^Approval of create_invoice/,
    /^create_invoice/,
    /^Turn 2/,
  ]);
  await expect(rows.nth(3)).toHaveAttribute('aria-pressed', 'true');
  await rows.nth(4).click();
  await expect(step('agent.1.2')).toContainText('invoice_number');
  await expectThemesAccessible(member);
  await member.getByRole('tab', { name: 'Events' }).click();
  await expect(
    member.getByRole('region', { name: 'Events' }).getByRole('button', { name: 'agent.2', exact: true }).first(),
  ).toBeVisible();

  // A rerun from the second turn keeps the messages and calls of the first turn.
  const sent = model.requests.length;
  await open(member, `${path}?step=agent.2`);
  await member.getByRole('button', { name: 'Run again', exact: true }).click();
  await member.getByRole('menuitem', { name: /^From turn 2 of “agent”, with this run’s/ }).click();
  await expect(member.getByText('A new run has started.')).toBeVisible();
  await expect(member).not.toHaveURL(new RegExp(String(run_id)));
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed');
  await steps.getByRole('button', { name: 'Turn 2' }).click();
  await expect(step('agent.2')).toContainText('It was written before.');
  expect(model.requests).toHaveLength(sent + 1);
  await member.getByRole('button', { name: 'Close the step' }).click();
});
