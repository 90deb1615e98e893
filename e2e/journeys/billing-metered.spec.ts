import { publishSteps, runOnce, tinyPlans } from '../fixtures/billing.ts';
import { expect, expectAccessible, open, settled, test } from '../fixtures/console.ts';

test.use({ serverEnv: { ...tinyPlans, BATON_BILLING: 'metered' } });

test('with metering only, the console shows usage and costs, and refuses no run', async ({ member, api }) => {
  const workflow = await publishSteps(api.call, 'Ship orders', 4);
  // The plan has no credits.
  expect(await runOnce(api.call, workflow)).toBe('completed');

  await open(member, '/workflows');
  const navigation = member.getByRole('navigation', { name: 'Main' });
  await expect(navigation.getByRole('link', { name: 'Billing' })).toHaveCount(0);
  await navigation.getByRole('link', { name: 'Usage' }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'Usage' })).toBeVisible();
  await settled(member);
  await expect(member.getByRole('region', { name: 'Prices of actions' })).toContainText('Workflow steps');
  await expect(member.getByRole('main').getByRole('link', { name: 'Ship orders' }).first()).toBeVisible();
  for (const name of [/plan/i, /trial/i, /top up/i, /subscribe/i])
    await expect(member.getByRole('main').getByRole('button', { name })).toHaveCount(0);
  await expect(member.getByRole('tab')).toHaveCount(0);
  // All credits of the plan are used; the console does not mention it, because this deployment sells no credits.
  await expect(member.getByRole('region', { name: 'Credits', exact: true })).toHaveCount(0);
  await expectAccessible(member);

  // The API still lists plans, so that a client works on every deployment.
  expect((await api.call('GET', '/v1/billing/plans')).plans).not.toEqual([]);
  expect(await api.call('POST', '/v1/billing/trial', { plan_code: 'pro' })).toMatchObject({
    status: { status: 'trialing', enforced: false },
  });
});
