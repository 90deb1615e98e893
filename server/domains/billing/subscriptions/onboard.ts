import type { Services } from '../../../operation/services.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { openAccount } from '../ledger/store.ts';
import { onboardingPlan } from '../plans/onboarding.ts';
import { startOnboardingPeriod } from './periods.ts';
import { hasSubscription, insertSubscription, savePeriod } from './store.ts';

export type OnboardingServices = Pick<Services, 'pool' | 'clock' | 'config'>;

/**
 * Puts a workspace without a subscription on the onboarding plan of the deployment's product, with an account and the
 * first period's credits. Concurrent calls do this once. Throws if the database is unavailable.
 */
export async function ensureOnboarded(services: OnboardingServices, tenantId: string): Promise<void> {
  const { pool, clock } = services;
  if (await hasSubscription(pool, tenantId)) return;
  await transact(pool, async db => {
    const at = clock.now();
    const plan = await onboardingPlan(db, services.config.billing, at);
    await openAccount(db, tenantId, at);
    const inserted = await insertSubscription(db, tenantId, plan, at);
    // A concurrent caller inserted it; this insert waited for that commit.
    if (!inserted) return;
    await savePeriod(db, tenantId, await startOnboardingPeriod(db, tenantId, plan, at));
  });
}
