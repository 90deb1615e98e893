import { transact } from '../../../platform/postgres/transaction.ts';
import { ensureOnboarded, type OnboardingServices } from '../subscriptions/onboard.ts';
import { expireDue } from './post.ts';

/** Does what is due for a workspace before it is read: its first plan, and what has expired by now. */
export async function settleLedger(services: OnboardingServices, tenantId: string): Promise<void> {
  await ensureOnboarded(services, tenantId);
  await transact(services.pool, db => expireDue(db, tenantId, services.clock.now()));
}
