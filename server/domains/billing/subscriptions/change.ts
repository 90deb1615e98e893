import type { Context } from '../../../operation/context.ts';
import type { BillingCustomer, PaymentProvider, SubscriptionRef } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import type { Services } from '../../../operation/services.ts';
import { unavailable } from '../../../platform/errors.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { createManualProvider } from '../provider/manual.ts';
import { lastPeriod } from './journal-store.ts';
import { processDueBilling } from './process-due.ts';
import { findTenantName, isDue, lockSubscription, type SubscriptionRow } from './store.ts';

/** A workspace's locked subscription: no other transaction can change it. */
export type Held = { db: Queryable; row: SubscriptionRow; at: number };

/**
 * Processes what is due, locks the workspace's subscription and runs `work`, in one transaction: of two concurrent
 * requests, the second waits and sees the changes of the first. `work` may call the provider. It must change credits
 * only at its end, after that call: charges wait for the account, but never for the subscription.
 */
export async function changeSubscription<T>(
  services: Pick<Services, 'pool' | 'clock' | 'config' | 'orchestrator'>,
  tenantId: string,
  work: (held: Held) => Promise<T>,
): Promise<T> {
  for (;;) {
    await processDueBilling(services, tenantId);
    const done = await transact(services.pool, async db => {
      const row = await lockSubscription(db, tenantId);
      const at = services.clock.now();
      // A period may have ended between the two transactions.
      return isDue(row, at) ? null : { result: await work({ db, row, at }) };
    });
    if (done === null) continue;
    services.orchestrator.creditsChanged(tenantId);
    return done.result;
  }
}

/**
 * Returns the provider of a subscription. A subscription that the manual provider started stays with it, even if the
 * deployment has another provider now.
 */
export function providerOf(services: Pick<Services, 'payments' | 'clock'>, row: SubscriptionRow): PaymentProvider {
  if (row.provider === 'manual') return createManualProvider(services);
  if (services.payments.kind === row.provider) return services.payments;
  throw unavailable('payment_provider_unavailable', 'The payment provider of this subscription is not configured.');
}

/** Returns the billing contact: the workspace, at the caller's address. */
export async function customerOf({ principal }: Context, { db, row }: Held): Promise<BillingCustomer> {
  const name = await findTenantName(db, row.tenantId);
  return {
    tenantId: row.tenantId,
    tenantName: name ?? row.tenantId,
    email: principal.email,
    customerId: row.customerId,
  };
}

/** Returns a subscription in the form of the provider's port; `plan` is its present plan. */
export async function referenceOf(held: Held, customer: BillingCustomer, plan: PlanRow): Promise<SubscriptionRef> {
  const { db, row } = held;
  const last = await lastPeriod(db, row.tenantId, row.subscriptionId);
  return {
    customer,
    plan,
    ...(last !== null && { paid: { from: last.from, amount: last.amount } }),
    customerId: row.customerId,
    subscriptionId: row.subscriptionId,
    planCode: row.planCode,
    status: row.status,
    period: row.period,
    trialEndsAt: row.trialEndsAt,
    cancelAtPeriodEnd: row.cancelAtPeriodEnd,
    pendingPlanCode: row.pendingPlanCode,
    version: row.version,
    checkout: null,
  };
}

/**
 * Returns an idempotency key for a provider's call: a repetition after a lost answer has the same key. The key contains
 * the time of the last change, so it differs once an answer was applied.
 */
export const keyOf = ({ row }: Held, action: string): string => `${row.tenantId}:${row.updatedAt}:${action}`;
