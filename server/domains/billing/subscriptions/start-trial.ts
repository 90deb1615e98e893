import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { PaymentProvider } from '../../../operation/payment-provider.ts';
import type { PlanRow } from '../../../operation/plan.ts';
import { DAY_MS } from '../../../platform/clock.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { createManualProvider } from '../provider/manual.ts';
import type { StartTrialInput, SubscriptionOutput } from '../schemas.ts';
import { applyProviderState } from './apply-provider-state.ts';
import { changeSubscription, customerOf, keyOf } from './change.ts';
import { toCheckout } from './checkout.ts';
import { choosePlan, isSubscribed, requireSelfServe } from './choose.ts';
import { readStatus } from './status.ts';
import type { SubscriptionRow } from './store.ts';

/** POST /v1/billing/trial: starts the only trial of a workspace. */
export async function startTrial(
  ctx: Context,
  choice: z.output<typeof StartTrialInput>,
): Promise<z.input<typeof SubscriptionOutput>> {
  const { principal, services } = ctx;
  const { billing } = services.config;
  return await changeSubscription(services, principal.tenantId, async held => {
    const { db, row, at } = held;
    const plan = await choosePlan(db, row.productCode, choice);
    requireSelfServe(plan);
    if (!plan.trialEnabled) throw invalid(`${plan.productName} has no trial.`, undefined, 'no_trial');
    requireTrialLeft(row);
    const provider = sellerOf(services, plan);
    const next = await provider.startTrial(await customerOf(ctx, held), plan, {
      trialEndsAt: at + plan.trialDays * DAY_MS,
      key: keyOf(held, `trial:${plan.planCode}`),
    });
    await applyProviderState({ db, billing, provider: provider.kind, at }, row, next);
    return { status: await readStatus(services, db, row.tenantId), checkout: toCheckout(provider, next) };
  });
}

function requireTrialLeft(row: SubscriptionRow): void {
  if (row.trialStartedAt !== null) throw conflict('trial_used', 'This workspace has already used its trial.');
  if (isSubscribed(row)) throw conflict('already_subscribed', 'This workspace already has a subscription.');
}

/** Returns the provider that sells a plan: the manual provider for a plan that is free or has no price at the provider. */
export function sellerOf(
  services: { payments: PaymentProvider } & Parameters<typeof createManualProvider>[0],
  plan: PlanRow,
): PaymentProvider {
  return plan.amount === 0 || plan.paymentPriceId === null ? createManualProvider(services) : services.payments;
}
