import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../../operation/config.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { createCall } from '../../../testing/call.ts';
import { createTestServices, createTestTenant } from '../../../testing/identity.ts';
import { createTestDatabase } from '../../../testing/postgres.ts';
import { readCatalog } from './catalog.ts';
import { changePlanFields, retirePlan } from './change.ts';
import { planOperations } from './operations.ts';
import { findPlan, listPlanChanges, listPlans, seedPlans } from './store.ts';

const builtIn = readCatalog({ plansFile: null, productCode: 'baton' });
const original = JSON.parse(await readFile(new URL('./catalog.json', import.meta.url), 'utf8'));
const by = { by: 'operator:ann', at: 2000 };
const pro = { productCode: 'baton', planCode: 'pro' };

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-plans-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns why that file is refused. */
async function problemsOf(content: unknown, productCode = 'baton'): Promise<string> {
  const plansFile = join(folder, 'plans.json');
  await writeFile(plansFile, typeof content === 'string' ? content : JSON.stringify(content));
  try {
    readCatalog({ plansFile, productCode });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error instanceof Error ? error.message : '';
  }
  return '';
}

const withPlan = (index: number, fields: object) => ({
  ...original,
  plans: original.plans.map((plan: object, at: number) => (at === index ? { ...plan, ...fields } : plan)),
});

describe('an invalid catalog is refused with the reasons', () => {
  test.each([
    ['no JSON', '{', /JSON/],
    ['no plans', { ...original, plans: [] }, /plans: /],
    ['a misspelt field', withPlan(1, { trial_day: 3 }), /plans\.1: .*trial_day/],
    ['a price that is no whole number', withPlan(1, { amount: 49.5 }), /plans\.1\.amount/],
    ['a price beyond the column', withPlan(1, { amount: 2 ** 31 }), /plans\.1\.amount/],
    ['credits beyond what JSON holds', withPlan(1, { included_credits: 2 ** 53 }), /plans\.1\.included_credits/],
    [
      'a negative price of an action',
      withPlan(1, { prices: { ...original.plans[1].prices, tool_call: -1 } }),
      /prices\.tool_call/,
    ],
    ['an interval nobody knows', withPlan(1, { interval: 'fortnight' }), /plans\.1\.interval/],
    ['a trial of no days', withPlan(1, { trial_days: 0 }), /plans\.1\.trial_days: must be at least 1/],
    ['an onboarding default that costs', withPlan(0, { amount: 100 }), /plans\.0\.amount: must be 0/],
    [
      'a trial of the onboarding default',
      withPlan(0, { trial_enabled: true, trial_days: 3 }),
      /plans\.0\.trial_enabled/,
    ],
    ['no onboarding default', withPlan(0, { onboarding_default: false }), /needs one onboarding_default, not 0/],
    ['a plan twice', withPlan(2, { plan_code: 'pro' }), /plan_code pro twice/],
    ['a price twice', withPlan(2, { payment_price_id: 'price_baton_pro_monthly' }), /price_baton_pro_monthly twice/],
    [
      'bounds the wrong way round',
      { ...original, topup: { ...original.topup, maximum_amount: 1 } },
      /topup\.maximum_amount/,
    ],
    [
      'a top-up beyond all credits',
      { ...original, topup: { ...original.topup, microcredits_per_minor_unit: 2 ** 52 } },
      /largest top-up/,
    ],
  ])('%s', async (_, content, expected) => {
    const message = await problemsOf(content);
    expect(message).toMatch(expected);
    expect(message).toMatch(/^BATON_PLANS_FILE: /);
  });

  test('a missing file and an unknown product are refused', async () => {
    expect(() => readCatalog({ plansFile: join(folder, 'none'), productCode: 'baton' })).toThrow(/ENOENT/);
    expect(await problemsOf(original, 'other')).toMatch(/none of the product other/);
    expect(await problemsOf(original)).toBe('');
  });
});

test('seeding inserts missing plans and never overwrites an operator’s changes', async () => {
  await using db = await createTestDatabase();
  await Promise.all([seedPlans(db.pool, builtIn, 1000), seedPlans(db.pool, builtIn, 1000)]);
  expect(await listPlans(db.pool, 'baton')).toEqual(builtIn.plans);
  await transact(db.pool, tx => changePlanFields(tx, pro, { amount: 5900, 'prices.tool_call': 9000 }, by));
  await seedPlans(db.pool, builtIn, 3000);
  const changed = await findPlan(db.pool, 'baton', { payment_price_id: 'price_baton_pro_monthly' });
  expect(changed).toMatchObject({ planCode: 'pro', amount: 5900, prices: { tool_call: 9000, workflow_step: 800 } });
  const history = await listPlanChanges(db.pool, 'baton', 'pro');
  expect(history.map(({ changed_by, before, after }) => [changed_by, before?.amount, after.amount])).toEqual([
    ['catalogue', undefined, 4900],
    ['operator:ann', 4900, 5900],
  ]);
});

test('any change leaves exactly one onboarding default', async () => {
  await using db = await createTestDatabase();
  await seedPlans(db.pool, builtIn, 1000);
  const change = (planCode: string, fields: Record<string, unknown>) =>
    transact(db.pool, tx => changePlanFields(tx, { productCode: 'baton', planCode }, fields, by));
  const free = { productCode: 'baton', planCode: 'free' };
  await expect(change('free', { onboarding_default: false })).rejects.toMatchObject({ status: 422 });
  await expect(change('pro', { onboarding_default: true })).rejects.toMatchObject({ status: 422 });
  await expect(transact(db.pool, tx => retirePlan(tx, free, true, by))).rejects.toMatchObject({ status: 422 });
  await expect(change('pro', { payment_price_id: 'price_baton_business_monthly' })).rejects.toMatchObject({
    status: 422,
  });
  await expect(change('team', { amount: 1 })).rejects.toMatchObject({
    details: expect.arrayContaining([expect.objectContaining({ path: 'currency' })]),
  });
  const { product_code: _, plan_code: __, ...fields } = original.plans[0];
  await change('starter', { ...fields, product_name: 'Starter' });
  const defaults = (await listPlans(db.pool, 'baton')).filter(plan => plan.onboardingDefault);
  expect(defaults.map(({ planCode }) => planCode)).toEqual(['starter']);
  await transact(db.pool, tx => retirePlan(tx, free, true, by));
});

test('the list has the plans for sale, in the form of the specification', async () => {
  await using db = await createTestDatabase();
  const services = createTestServices(db);
  const { contributor } = await createTestTenant(services, { slug: 'acme' });
  const call = createCall(services, planOperations);
  type Answer = { plans: Record<string, unknown>[] };
  const { plans } = (await call(contributor, 'billing_plans_list')) as Answer;
  expect(plans.map(plan => plan.plan_code)).toEqual(['free', 'pro', 'business']);
  expect(plans[0]).not.toHaveProperty('payment_price_id');
  expect(plans[1]).toMatchObject({ payment_price_id: 'price_baton_pro_monthly', trial_credits_granted: 5e9 });
  expect(plans[1]).not.toHaveProperty('product_code');
  await transact(db.pool, tx => retirePlan(tx, pro, true, by));
  const after = (await call(contributor, 'billing_plans_list')) as Answer;
  expect(after.plans.map(plan => plan.plan_code)).toEqual(['free', 'business']);
});
