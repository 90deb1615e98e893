import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';

test('the form of a step has help with an example', async ({ member, api }) => {
  const steps = [{ id: 'sum', type: 'lua_script', script: 'return 1' }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'With help', graph: { steps } });
  await open(member, `/workflows/${String(id)}?step=sum`);
  const help = member.locator('details').filter({ has: member.getByText('Help', { exact: true }) });
  await expect(help.getByText('Help', { exact: true })).toBeVisible();
  await expect(help.getByText('What the script returns.')).toBeHidden();
  await help.getByText('Help', { exact: true }).click();
  await expect(help.getByText('What the script returns.')).toBeVisible();
  await expect(help.getByRole('region', { name: 'Example', exact: true })).toContainText('item.price');
  await expect(help.getByRole('region', { name: 'Its result' })).toContainText('"total": 10');
  await expectThemesAccessible(member);
});
