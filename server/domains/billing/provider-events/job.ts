import { type LeaderJobContext, startLeaderJob } from '../../../operation/leader-job.ts';
import type { Services } from '../../../operation/services.ts';
import { DAY_MS, HOUR_MS } from '../../../platform/clock.ts';
import type { RepeatingJob } from '../../../platform/repeating-job.ts';
import { isStripe } from '../provider/stripe/kind.ts';

/** The delay after the start, so that recovery has the database to itself. */
const FIRST_MS = 120_000;
const DAILY_MS = DAY_MS;
/** The pause of a standby before it checks again whether it leads, and of a leader before it retries what failed. */
const AGAIN_MS = HOUR_MS;

/** Applies once a day what webhooks did not deliver (reconcile.ts), in the process that leads, if Stripe is the provider. */
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
