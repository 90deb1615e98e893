import { expect, expectAccessible, expectThemesAccessible, open, test } from '../fixtures/console.ts';

const graph = {
  steps: [
    { id: 'closed', type: 'condition', expression: 'true' },
    {
      id: 'ask',
      type: 'human_task',
      name: 'Ask the buyer',
      instructions: 'Well?',
      overridable: ['name', 'instructions'],
    },
    { id: 'check', type: 'lua_script', script: 'return 1', timeout_s: 30, overridable: ['timeout_s'] },
    { id: 'audit', type: 'lua_script', name: 'Audit', script: 'return "audited"', gated: true },
  ],
};

async function publish(
  api: { call: (...request: [string, string, unknown]) => Promise<Record<string, unknown>> },
  name = `Opened ${Date.now()}`,
) {
  const { id } = await api.call('POST', '/v1/workflows', { name, graph });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  return String(id);
}

test('a run is started by keyboard, with the settings that the author opened and a gated step enabled @phone', async ({
  member,
  api,
}) => {
  const workflow = await publish(api);
  await open(member, `/workflows/${workflow}`);
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = member.getByRole('dialog');
  await expect(dialog.getByRole('group', { name: 'Ask the buyer' })).toBeVisible();
  await expect(dialog.getByRole('group', { name: 'closed' })).toHaveCount(0);
  await expect(dialog.getByRole('group', { name: 'Ask the buyer' }).getByLabel('instructions')).toHaveValue('Well?');
  await expectThemesAccessible(member);

  const limit = dialog.getByRole('group', { name: 'check' }).getByLabel('timeout_s');
  await limit.fill('soon');
  await expect(dialog.getByText('Enter a number.')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Start run' })).toBeDisabled();
  await limit.fill('5');
  const instructions = dialog.getByRole('group', { name: 'Ask the buyer' }).getByLabel('instructions');
  await instructions.fill('Is the offer still good?');
  await limit.focus();
  await member.keyboard.press('Tab');
  await expect(dialog.getByRole('checkbox', { name: 'Run “Audit”' })).toBeFocused();
  await member.keyboard.press('Space');
  await member.keyboard.press('Tab');
  await member.keyboard.press('Tab');
  await expect(dialog.getByRole('button', { name: 'Start run' })).toBeFocused();
  await member.keyboard.press('Enter');

  await expect(member).toHaveURL(/\/runs\/[0-9a-f-]{36}/);
  const run = /\/runs\/([0-9a-f-]{36})/.exec(member.url())?.[1] ?? '';
  const path = `/v1/workflows/${workflow}/runs/${run}`;
  await expect.poll(async () => (await api.call('GET', `${path}/summary`)).orchestration_phase).toBe('blocked');
  const { tasks } = await api.call('GET', `${path}/tasks/pending`);
  expect(tasks).toMatchObject([{ task_id: 'ask', name: 'Ask the buyer', instructions: 'Is the offer still good?' }]);
  const { steps } = await api.call('GET', `${path}/context`);
  expect(steps).toMatchObject({ audit: { result: 'audited' }, check: { result: 1 } });
});

test('the dialog while the settings load, when they fail to load, and without any settings', async ({
  member,
  api,
}) => {
  await publish(api, 'Slow settings');
  // The page of a workflow loads its version; on this page, no version has been loaded yet.
  await open(member, '/workflows');
  let answer = (_: 'fails' | 'answers') => undefined as unknown;
  await member.route(/workflows_get_version/, async route => {
    const outcome = await new Promise<'fails' | 'answers'>(settle => {
      answer = settle;
    });
    await (outcome === 'fails' ? route.abort() : route.continue());
  });
  await member.keyboard.press('ControlOrMeta+k');
  await member.getByPlaceholder('Search workflows, runs, pages…').fill('slow settings');
  await member.getByRole('option', { name: 'Run Slow settings' }).click();
  const dialog = member.getByRole('dialog', { name: /^Run “/ });
  await expect(dialog.locator('[data-skeleton]')).toBeVisible();
  // The client retries a few times before it shows an error.
  const failing = setInterval(() => answer('fails'), 50);
  await expect(dialog.getByText(/Could not load the settings of the steps/)).toBeVisible({ timeout: 30_000 });
  clearInterval(failing);
  await expectAccessible(member);
  await member.unroute(/workflows_get_version/);
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await expect(dialog.getByRole('group', { name: 'Ask the buyer' })).toBeVisible();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  const { id } = await api.call('POST', '/v1/workflows', { name: 'Closed', graph: { steps: graph.steps.slice(0, 1) } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  await open(member, `/workflows/${String(id)}`);
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(dialog.getByRole('button', { name: 'Start run' })).toBeEnabled();
  await expect(dialog.locator('[data-skeleton]')).toHaveCount(0);
  await expect(dialog.getByRole('heading', { name: 'Steps' })).toHaveCount(0);
});
