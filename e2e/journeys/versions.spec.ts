import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';

test('unpublished changes are shown before publishing, and can be compared and restored afterwards', async ({
  member,
  api,
}) => {
  const first = { id: 'a', type: 'lua_script', script: 'return 1' };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Versions', graph: { steps: [first] } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'The first one' });
  const steps = [
    { ...first, script: 'return 2' },
    { id: 'b', type: 'human_task', depends_on: ['a'] },
  ];
  await api.call('PATCH', `/v1/workflows/${String(id)}`, { graph: { steps } });

  await open(member, '/workflows');
  await expect(member.getByRole('row', { name: /Versions/ })).toContainText('Unpublished changes');
  await member.getByRole('link', { name: 'Versions' }).click();
  await expect(member.getByRole('main').getByText('Unpublished changes')).toBeVisible();

  await member.getByRole('button', { name: 'Publish' }).click();
  const dialog = member.getByRole('dialog', { name: 'Publish version 2' });
  const changes = dialog.getByRole('list', { name: 'Changes' });
  await expect(changes).toContainText('return 2');
  await expect(changes.getByRole('listitem')).toHaveCount(2);
  await expectThemesAccessible(member);
  await dialog.getByLabel('What has changed').fill('Asks a person');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await expect(member.getByText('Version 2 is published')).toBeVisible();
  await expect(member.getByRole('main').getByText('Unpublished changes')).toHaveCount(0);

  await member.getByRole('tab', { name: 'Versions' }).click();
  const newest = member.getByRole('listitem').filter({ hasText: 'Asks a person' });
  await expect(newest).toContainText('@');
  await newest.getByRole('button', { name: 'Changes' }).click();
  const comparison = member.getByRole('dialog', { name: 'Changes in version 2' });
  const graph = comparison.getByRole('region', { name: 'Changes in the graph' });
  await expect(graph.locator('[data-step="b"]')).toContainText('Added');
  await expect(graph.locator('[data-step="a"]')).toContainText('Changed');
  await expect(comparison.getByRole('list', { name: 'Changes' })).toContainText('return 1');
  await expectThemesAccessible(member);
  await member.keyboard.press('Escape');
  await expect(comparison).toHaveCount(0);

  const oldest = member.getByRole('listitem').filter({ hasText: 'The first one' });
  await oldest.getByRole('button', { name: 'Restore' }).click();
  await member.getByRole('alertdialog').getByRole('button', { name: 'Restore' }).click();
  await expect(member.getByRole('main').getByText('Unpublished changes')).toBeVisible();
  expect(await api.call('GET', `/v1/workflows/${String(id)}`)).toMatchObject({ graph: { steps: [first] } });
});

test('the changes of a version are marked on steps in nested loops @phone', async ({ member, api }) => {
  const lua = (id: string, script: string) => ({ id, type: 'lua_script', script });
  const loop = (id: string, name: string, steps: object[]) => ({ id, type: 'for_each', name, items: '[1, 2]', steps });
  const graphOf = (script: string, inner: object) => ({
    steps: [
      loop('each', 'Each order', [lua('pay', script), loop('lines', 'Each line', [lua('pack', 'return 1'), inner])]),
    ],
  });
  const graph = graphOf('return 1', lua('weigh', 'return 1'));
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Loops', graph });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, {});
  await api.call('PATCH', `/v1/workflows/${String(id)}`, { graph: graphOf('return 2', lua('label', 'return 1')) });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'Labels' });
  await open(member, `/workflows/${String(id)}?tab=versions`);
  const newest = member.getByRole('listitem').filter({ hasText: 'Labels' });
  await newest.getByRole('button', { name: 'Changes' }).click();
  const comparison = member.getByRole('dialog', { name: 'Changes in version 2' });
  const drawn = comparison.getByRole('region', { name: 'Changes in the graph' });
  const marks = {
    each: 'contains_changes',
    lines: 'contains_changes',
    pay: 'changed',
    label: 'added',
    weigh: 'removed',
  };
  for (const [step, mark] of Object.entries(marks))
    await expect(drawn.locator(`[data-step="${step}"]`)).toHaveAttribute('data-status', mark);
  await expect(drawn.locator('[data-step="pack"]')).not.toHaveAttribute('data-status');
  const list = comparison.getByRole('list', { name: 'Changes' });
  await expect(list.getByRole('listitem')).toHaveText([
    /Changed\s*Each order › pay/,
    /Added\s*Each order › Each line › label/,
    /Removed\s*Each order › Each line › weigh/,
  ]);
  await expect(list).toContainText('return 2');
  await expectThemesAccessible(member);
});
