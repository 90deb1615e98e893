import type { Context } from '../../../operation/context.ts';
import { DAY_MS } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import type { BillingCode } from '../codes/code.ts';
import { noRunningTrial } from '../codes/refusals.ts';
import { redeem } from '../codes/store.ts';
import { lockSubscription } from '../subscriptions/store.ts';
import type { Applied } from './apply.ts';
import { processOutbox } from './process-outbox.ts';
import { enqueueOutbox, type Pending } from './store.ts';

/**
 * Extends the running trial, and its credits, by a code's days. Returns null if the code is for another plan. Throws
 * AppError 409 `no_running_trial` without redeeming the code.
 */
export async function extendTrial(ctx: Context, code: BillingCode): Promise<Applied | null> {
  const { services, principal } = ctx;
  const { tenantId, userId } = principal;
  const { productCode, code: name, value: days } = code;
  const at = services.clock.now();
  const pending = await transact(services.pool, async db => {
    const row = await lockSubscription(db, tenantId);
    if (row.status !== 'trialing' || row.trialEndsAt === null || row.trialEndsAt <= at) throw noRunningTrial();
    if (code.planCodes.length > 0 && !code.planCodes.includes(row.planCode)) return null;
    const redemption = await redeem(db, { productCode, tenantId, userId, code: name, at });
    const trialEndsAt = row.trialEndsAt + days * DAY_MS;
    const pendingExtension: Pending = {
      redemptionId: redemption.id,
      code: name,
      kind: 'trial_days',
      days,
      trialEndsAt,
    };
    await enqueueOutbox(db, tenantId, pendingExtension, at);
    return pendingExtension;
  });
  return pending === null ? null : await processOutbox(ctx, pending);
}
