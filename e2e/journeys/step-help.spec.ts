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

test('the form of a step has the reference of its languages, with the results of the examples', async ({
  member,
  api,
}) => {
  const steps = [{ id: 'check', type: 'condition', expression: 'true' }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'With a reference', graph: { steps } });
  await open(member, `/workflows/${String(id)}?step=check`);
  await member.getByText('CEL: reference').click();
  const examples = member.getByRole('list', { name: 'Examples of CEL' });
  await expect(examples.getByRole('listitem').filter({ hasText: 'One of several' })).toContainText('→ true');
  await member.getByText('Templates: reference').click();
  await expect(member.getByRole('list', { name: 'Examples of Templates' })).toContainText('Dear Ada');
  await expectThemesAccessible(member);
});
