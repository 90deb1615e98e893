import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { conflict } from '../../../platform/errors.ts';
import type { CancelInput, SubscriptionOutput } from '../schemas.ts';
import { applyProviderState } from './apply-provider-state.ts';
import { changeSubscription, customerOf, type Held, keyOf, providerOf, referenceOf } from './change.ts';
import { presentPlan } from './choose.ts';
import { readStatus } from './status.ts';

/** POST /v1/billing/subscription/cancel: cancels a subscription, a trial, or an abandoned checkout. */
export async function cancel(
  ctx: Context,
  { at_period_end: atPeriodEnd }: z.output<typeof CancelInput>,
): Promise<z.input<typeof SubscriptionOutput>> {
  const { principal, services } = ctx;
  return await changeSubscription(services, principal.tenantId, async held => {
    if (held.row.subscriptionId === null)
      throw conflict('not_subscribed', 'This workspace has no subscription to cancel.');
    await cancelHeld(ctx, held, atPeriodEnd);
    return { status: await readStatus(services, held.db, held.row.tenantId), checkout: null };
  });
}

/** Cancels a locked subscription. Does nothing if it already ends at the period's end. */
export async function cancelHeld(ctx: Context, held: Held, atPeriodEnd: boolean): Promise<void> {
  const { db, row, at } = held;
  if (atPeriodEnd && row.cancelAtPeriodEnd) return;
  const provider = providerOf(ctx.services, row);
  const reference = await referenceOf(held, await customerOf(ctx, held), await presentPlan(db, row));
  const key = keyOf(held, `cancel:${atPeriodEnd ? 'period_end' : 'now'}`);
  const next = await provider.cancel(reference, { atPeriodEnd: atPeriodEnd && row.status !== 'incomplete', key });
  await applyProviderState({ db, billing: ctx.services.config.billing, provider: provider.kind, at }, row, next);
}
