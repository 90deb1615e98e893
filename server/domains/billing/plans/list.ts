import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { ListPlansOutput } from '../schemas.ts';
import { onboardingPlan } from './onboarding.ts';
import { listPlans } from './store.ts';
import { toPlanView } from './view.ts';

/** Returns the plans of this deployment's product that are still sold, in the order of the catalog. */
export async function listPlansForSale({ services }: Context): Promise<z.input<typeof ListPlansOutput>> {
  const { pool, config, clock } = services;
  await onboardingPlan(pool, config.billing, clock.now());
  const plans = await listPlans(pool, config.billing.productCode);
  return { plans: plans.filter(plan => !plan.retired).map(toPlanView) };
}
