import { publishSteps, runOnce, tinyPlans } from '../fixtures/billing.ts';
import { expect, expectAccessible, open, settled, test } from '../fixtures/console.ts';

test.use({ serverEnv: { ...tinyPlans, BATON_BILLING: 'off' } });

test('with billing off, no page shows credits', async ({ member, api }) => {
  const workflow = await publishSteps(api.call, 'Ship orders', 4);
  expect(await runOnce(api.call, workflow)).toBe('completed');
  await expect(api.call('GET', '/v1/billing/usage')).rejects.toThrow(/404.*not_found/);

  await open(member, '/runs');
  await settled(member);
  const runs = member.getByRole('region', { name: 'Runs' });
  await expect(runs.getByRole('columnheader', { name: 'Duration' })).toBeVisible();
  await expect(runs.getByRole('columnheader', { name: 'Credits' })).toHaveCount(0);
  await expect(
    member.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: /Billing|Usage/ }),
  ).toHaveCount(0);
  await runs.getByRole('link', { name: 'Ship orders' }).click();
  await expect(member.getByText('Duration', { exact: true })).toBeVisible();
  await expect(member.getByText('Credits', { exact: true })).toHaveCount(0);

  await open(member, '/analytics');
  await expect(member.getByText('Steps executed', { exact: true })).toBeVisible();
  await expect(member.getByText(/credits/i)).toHaveCount(0);
  await expectAccessible(member);

  await open(member, '/billing');
  await expect(member.getByText('Billing is off')).toBeVisible();
  await expectAccessible(member);
});
