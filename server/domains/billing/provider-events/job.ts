import { type LeaderJobContext, startLeaderJob } from '../../../operation/leader-job.ts';
import type { Services } from '../../../operation/services.ts';
import { DAY_MS, HOUR_MS } from '../../../platform/clock.ts';
import type { RepeatingJob } from '../../../platform/repeating-job.ts';
import { isStripe } from '../provider/stripe/kind.ts';

/** Some time after the start, so that recovery has the database to itself. */
const FIRST_MS = 120_000;
const DAILY_MS = DAY_MS;
/** A standby checks whether it leads by now, and what failed is tried again. */
const AGAIN_MS = HOUR_MS;

/**
 * Once a day, in the process that leads, if Stripe is the provider: applies what webhooks did
 * not deliver (reconcile.ts).
 */
export function startReconciliationJob({
  services,
  ...context
}: LeaderJobContext & { services: Services }): RepeatingJob {
  const { payments, logger } = services;
  if (!isStripe(payments)) return { close: async () => {} };
  const late = 'reconciliation with Stripe failed; trying again in an hour';
  const options = { ...context, logger, firstMs: FIRST_MS, everyMs: AGAIN_MS, retryMs: AGAIN_MS, late };
  return startLeaderJob(options, async closing => {
    const { reconcile } = await import('./reconcile.ts');
    const result = await reconcile(services, payments.account, { signal: closing });
    logger.info(result, 'reconciled with Stripe');
    return DAILY_MS;
  });
}
