import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

const noWork = [{ id: 'only', type: 'lua_script', script: 'return 1' }];
const schema = {
  type: 'object',
  required: ['email'],
  properties: {
    email: { type: 'string', format: 'email', title: 'Email of the customer' },
    amount: { type: 'number', default: 5 },
  },
};

test('an author gives a workflow an input, an output and a failure handler, and a run shows its input and output', async ({
  member,
  api,
}) => {
  const steps = [{ id: 'double', type: 'lua_script', script: 'return {sum = input.amount * 2}' }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Input and output', graph: { steps } });
  const workflow = `/v1/workflows/${String(id)}`;
  const handler = await api.call('POST', '/v1/workflows', { name: 'Handles failures', graph: { steps: noWork } });
  await api.call('POST', `/v1/workflows/${String(handler.id)}/versions`, {});
  await open(member, `/workflows/${String(id)}`);
  const side = member.getByRole('region', { name: 'Step and JSON' });
  await side.getByText('Input, output and failure handling').click();
  const asJson = (name: string) =>
    side.getByRole('region', { name, exact: true }).getByRole('checkbox', { name: 'Edit as JSON' });
  await asJson('Input').check();
  await replaceText(side.getByRole('textbox', { name: 'Input' }), JSON.stringify(schema));
  const output = '{"for": "{{input.email}}", "sum": "{{steps.doubled.result.sum}}"}';
  await asJson('Output').check();
  await replaceText(side.getByRole('textbox', { name: 'Output' }), output);
  await expect(side.getByText('there is no step "doubled"')).toBeVisible();
  await replaceText(side.getByRole('textbox', { name: 'Output' }), output.replace('doubled', 'double'));
  await expect(side.getByText('there is no step "doubled"')).toHaveCount(0);
  const searchable = { customer: '{{input.email}}', sum: '{{steps.double.result.sum}}' };
  await asJson('Searchable values').check();
  await replaceText(side.getByRole('textbox', { name: 'Searchable values' }), JSON.stringify(searchable));
  await side.getByRole('combobox', { name: 'When a run fails, start' }).click();
  await member.getByRole('option', { name: /^Handles failures/ }).click();
  await expect(side.getByRole('link', { name: 'Open Handles failures' })).toBeVisible();
  await side.getByRole('checkbox', { name: 'Offer as a tool' }).check();
  await side.getByRole('textbox', { name: 'Tool name' }).fill('double it');
  await expect(side.getByText('must be a letter or _, then letters, digits, _ and -, at most 64 in all')).toBeVisible();
  await side.getByRole('textbox', { name: 'Tool name' }).fill('double_it');
  await side.getByRole('checkbox', { name: 'Read-only' }).check();
  await expectThemesAccessible(member);
  const expected = {
    steps,
    input_schema: schema,
    output: JSON.parse(output.replace('doubled', 'double')),
    searchable,
    on_failure: { workflow_id: String(handler.id) },
    tool: { name: 'double_it', read_only: true },
  };
  await expect.poll(async () => (await api.call('GET', workflow)).graph).toEqual(expected);
  await api.call('POST', `${workflow}/versions`, {});

  await open(member, `/workflows/${String(id)}`);
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = member.getByRole('dialog');
  const email = dialog.getByRole('textbox', { name: 'Email of the customer' });
  await expect(dialog.getByRole('spinbutton', { name: 'Amount' })).toHaveValue('5');
  await expectThemesAccessible(member);
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await expect(dialog.getByText('This field is required.')).toBeVisible();
  await expect(email).toBeFocused();
  await email.fill('ann@example.com');
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await expect(member).toHaveURL(/\/runs\/[0-9a-f-]{36}/);
  await member.getByRole('tab', { name: 'Output' }).click();
  const shown = member.getByRole('region', { name: 'Output' });
  await expect(shown).toContainText('ann@example.com');
  await expect(shown).toContainText('10');

  await open(member, '/runs');
  const search = member.getByRole('searchbox', { name: 'Search runs' });
  await expect(search).toHaveAccessibleDescription(/order=4711 for an exact value/);
  await search.fill('sum=9');
  await expect(member.getByText('No run matches')).toBeVisible();
  await expect(member.getByText('order=4711 for an exact value')).toBeVisible();
  await expectThemesAccessible(member);
  for (const text of ['sum=10', 'customer=ann@example.com', 'ann@ex']) {
    await search.fill(text);
    await expect(member).toHaveURL(url => url.searchParams.get('q') === text);
    await expect(member.getByRole('link', { name: 'Input and output' })).toHaveCount(1);
  }
});
