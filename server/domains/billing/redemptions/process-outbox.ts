import type { Context } from '../../../operation/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { storeDiscount } from '../codes/discount.ts';
import { noRunningTrial } from '../codes/refusals.ts';
import { release } from '../codes/store.ts';
import { applyProviderState } from '../subscriptions/apply-provider-state.ts';
import { changeSubscription, customerOf, type Held, providerOf, referenceOf } from '../subscriptions/change.ts';
import { presentPlan } from '../subscriptions/choose.ts';
import type { Applied } from './apply.ts';
import { completeOutbox, type Pending } from './store.ts';

/**
 * Carries out a pending entry. If the provider refuses it, or the subscription that it would change has ended, the
 * redemption is reversed. If the provider is unavailable (503), the entry stays pending.
 */
export async function processOutbox(ctx: Context, pending: Pending): Promise<Applied> {
  const { services, principal } = ctx;
  const { tenantId } = principal;
  try {
    await changeSubscription(services, tenantId, async held => {
      const done = await completeOutbox(held.db, { tenantId, pending, outcome: 'code_applied' });
      if (done) await carryOut(ctx, held, pending);
    });
  } catch (error) {
    if (error instanceof AppError && error.status < 500) await giveUp(ctx, pending);
    throw error;
  }
  return summarize(pending);
}

async function carryOut(ctx: Context, held: Held, pending: Pending): Promise<void> {
  const { services } = ctx;
  const { db, row, at } = held;
  const provider = providerOf(services, row);
  const plan = await presentPlan(db, row);
  const reference = await referenceOf(held, await customerOf(ctx, held), plan);
  const key = `code:${pending.redemptionId}`;
  const context = { db, billing: services.config.billing, provider: provider.kind, at };
  switch (pending.kind) {
    case 'trial_days': {
      if (row.status !== 'trialing') throw noRunningTrial();
      const next = await provider.extendTrial(reference, { trialEndsAt: pending.trialEndsAt, key });
      await applyProviderState(context, row, next);
      return;
    }
    case 'discount': {
      const next = await provider.applyDiscount(reference, { discount: pending.discount, key });
      await applyProviderState(context, { ...row, discount: storeDiscount(pending.discount, at) }, next);
    }
  }
}

function giveUp({ services, principal }: Context, pending: Pending): Promise<void> {
  const { tenantId } = principal;
  return transact(services.pool, async db => {
    if (await completeOutbox(db, { tenantId, pending, outcome: 'code_refused' }))
      await release(db, tenantId, pending.redemptionId);
  });
}

function summarize(pending: Pending): Applied {
  switch (pending.kind) {
    case 'trial_days': {
      const days = `${pending.days} ${pending.days === 1 ? 'day' : 'days'}`;
      const until = new Date(pending.trialEndsAt).toISOString().slice(0, 10);
      return { kind: 'trial_days', message: `The trial is ${days} longer, until ${until}.`, credits_granted: 0 };
    }
    case 'discount':
      return {
        kind: pending.discount.kind,
        message: 'The discount is on your subscription, from its next invoice on.',
        credits_granted: 0,
      };
  }
}
