import type { PlanRow } from '../../../operation/plan.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { type PlanFields, PlanFields as PlanSchema, toPlanFields, toPlanRow } from './catalog.ts';
import { findPlan, listPlans, lockPlans, noteChange, savePlan } from './store.ts';

export type PlanChange = { by: string; at: number };

/**
 * Sets fields of a plan (named as in docs/specification/billing.md#plans; `prices.tool_call` for one price; null
 * removes an optional one), or creates the plan if all are given, and records the previous values. The onboarding
 * default moves with its flag, so there is always exactly one. Runs inside the caller's transaction. Throws AppError 422
 * listing every field that is wrong.
 */
export async function changePlanFields(
  db: Queryable,
  { productCode, planCode }: { productCode: string; planCode: string },
  fields: Readonly<Record<string, unknown>>,
  change: PlanChange,
): Promise<PlanRow> {
  await lockPlans(db);
  const before = await findPlan(db, productCode, { plan_code: planCode });
  const parsed = PlanSchema.safeParse(merge(before, { productCode, planCode }, fields));
  if (!parsed.success) {
    const details = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
    throw invalid(`The plan ${planCode} would not be valid.`, details);
  }
  const plans = await listPlans(db, productCode);
  const after: PlanRow = {
    ...toPlanRow(parsed.data),
    position: before?.position ?? plans.length,
    retired: before?.retired ?? false,
  };
  if (
    plans.some(
      plan =>
        plan.planCode !== planCode && plan.paymentPriceId !== null && plan.paymentPriceId === after.paymentPriceId,
    )
  )
    throw invalid('Another plan has this payment_price_id.', [{ path: 'payment_price_id', message: 'is taken' }]);
  const present = plans.find(plan => plan.onboardingDefault);
  if (present?.planCode === planCode && !after.onboardingDefault)
    throw invalid('One plan must be the onboarding default: make another plan the default instead.', [
      { path: 'onboarding_default', message: 'set it to true on another plan' },
    ]);
  if (after.onboardingDefault && after.retired)
    throw invalid('A retired plan cannot be the onboarding default.', [
      { path: 'onboarding_default', message: 'is retired' },
    ]);
  if (after.onboardingDefault && present !== undefined && present.planCode !== planCode)
    await write(db, present, { ...present, onboardingDefault: false }, change);
  await write(db, before, after, change);
  return after;
}

/** Removes a plan from sale, or restores it. Workspaces on the plan keep it. Throws AppError 422 for the onboarding default. */
export async function retirePlan(
  db: Queryable,
  { productCode, planCode }: { productCode: string; planCode: string },
  retired: boolean,
  change: PlanChange,
): Promise<PlanRow> {
  await lockPlans(db);
  const before = await findPlan(db, productCode, { plan_code: planCode });
  if (before === null) throw invalid(`${productCode} has no plan ${planCode}.`, undefined, 'unknown_plan');
  if (before.onboardingDefault)
    throw invalid('The onboarding default cannot be retired: make another plan the default first.');
  const after = { ...before, retired };
  await write(db, before, after, change);
  return after;
}

async function write(db: Queryable, before: PlanRow | null, after: PlanRow, { by, at }: PlanChange): Promise<void> {
  await savePlan(db, after, at);
  await noteChange(db, before, after, { by, at });
}

function merge(
  before: PlanRow | null,
  { productCode, planCode }: { productCode: string; planCode: string },
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const present: Partial<PlanFields> = before === null ? {} : toPlanFields(before);
  const plan: Record<string, unknown> = { ...present, product_code: productCode, plan_code: planCode };
  const prices: Record<string, unknown> = { ...present.prices };
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'prices') Object.assign(prices, value);
    else if (name.startsWith('prices.')) prices[name.slice('prices.'.length)] = value;
    else if (value === null) delete plan[name];
    else plan[name] = value;
  }
  return { ...plan, prices };
}
