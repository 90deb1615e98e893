import type { PlanRow } from '../../../operation/plan.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { readCatalog } from './catalog.ts';
import { findOnboardingPlan, seedPlans } from './store.ts';

/** Returns the onboarding default. Seeds a database that no server has seeded yet. */
export async function onboardingPlan(
  db: Queryable,
  billing: { productCode: string; plansFile: string | null },
  at: number,
): Promise<PlanRow> {
  const found = await findOnboardingPlan(db, billing.productCode);
  if (found !== null) return found;
  const catalog = readCatalog(billing);
  await seedPlans(db, catalog, at);
  const seeded = await findOnboardingPlan(db, billing.productCode);
  if (seeded === null) throw new Error(`The product ${billing.productCode} has no onboarding default plan.`);
  return seeded;
}
