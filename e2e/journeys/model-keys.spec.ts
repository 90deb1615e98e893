import { type ModelServer, startModelServer } from '../../server/testing/model-server.ts';
import { test as console, expect, expectAccessible, settled } from '../fixtures/console.ts';

const KEY = 'sk-journey-0123456789';

/** The tests use a model server on this machine. */
const test = console.extend<{ models: ModelServer }>({
  models: async ({ perFile }, use) => {
    await use(await perFile('models', startModelServer, models => models.close()));
  },
});

test('a custom model server is added, tested, called by a run, and deleted @phone', async ({ member, api, models }) => {
  models.expectKey(KEY);
  models.reply({ text: ['It is ', 'all right.'] });
  await member.goto('/settings/model-keys');
  await settled(member);
  await member.getByRole('button', { name: 'Add key' }).first().click();
  await member.getByRole('combobox', { name: 'Provider' }).click();
  await member.getByRole('option', { name: 'OpenAI-compatible server' }).click();
  await member.getByLabel('API key').fill('wrong');
  await member.getByRole('textbox', { name: 'Name' }).fill('Local models');
  await member.getByRole('textbox', { name: 'Base URL' }).fill('http://169.254.169.254/v1');
  await member.getByRole('textbox', { name: 'Models' }).fill('tiny\nlarge');
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Add', exact: true }).click();
  // The field shows the egress guard's refusal.
  await expect(member.getByRole('textbox', { name: 'Base URL' })).toHaveAttribute('aria-invalid', 'true');
  await member.getByRole('textbox', { name: 'Base URL' }).fill(`${models.url}/v1`);
  await member.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(member.getByText('Local models is added')).toBeVisible();
  await expect(member.getByRole('cell', { name: 'openai_compatible/tiny' })).toBeVisible();

  await member.getByRole('button', { name: 'Test Local models' }).click();
  await expect(member.getByText('It does not work.')).toBeVisible();
  await member.getByRole('button', { name: 'Done' }).click();
  await member.getByRole('button', { name: 'Replace Local models' }).click();
  await member.getByLabel('API key').fill(KEY);
  await member.getByRole('button', { name: 'Save' }).click();
  await expect(member.getByText('Local models is replaced')).toBeVisible();
  await member.getByRole('button', { name: 'Test Local models' }).click();
  await expect(member.getByText('It works.')).toBeVisible();
  await expect(member.getByRole('region', { name: 'Models of the key' })).toContainText('openai_compatible/tiny');
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Done' }).click();

  const step = { id: 'ask', type: 'llm_call', model: 'openai_compatible/tiny', prompt: 'How is {{input.who}}?' };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Asks a model', graph: { steps: [step] } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  const params = { trigger_payload: { who: 'Ada' } };
  const { run_id } = await api.call('POST', `/v1/workflows/${String(id)}/command`, { command: 'start', params });
  await member.goto(`/workflows/${String(id)}/runs/${String(run_id)}?step=ask`);
  await expect(member.getByText('It is all right.').first()).toBeVisible();

  await member.goto('/settings/model-keys');
  await member.getByRole('button', { name: 'Delete Local models' }).click();
  await expect(member.getByText('Asks a model')).toBeVisible();
  await member.getByRole('checkbox', { name: 'Delete it anyway' }).click();
  await member.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(member.getByText('Local models is deleted')).toBeVisible();
  await expect(member.getByRole('cell', { name: 'openai_compatible/tiny' })).toHaveCount(0);
});

test('the models can be searched, and the search is in the URL', async ({ member }) => {
  await member.goto('/settings/model-keys');
  await settled(member);
  await expectAccessible(member);
  await member.getByRole('searchbox', { name: 'Search models' }).fill('anthropic');
  await expect(member).toHaveURL(/q=anthropic/);
  await expect(member.getByRole('button', { name: /^Copy openai\// })).toHaveCount(0);
  await expect(member.getByRole('button', { name: /^Copy anthropic\// }).first()).toBeVisible();
});
