import type { Services } from '../../../../operation/services.ts';
import { type Alarm, DAY_MS, HOUR_MS } from '../../../../platform/clock.ts';
import { type RepeatingJob, startRepeatingJob } from '../../../../platform/repeating-job.ts';
import { isStripe } from './kind.ts';

/** Some time after the start, so that recovery has the database to itself. */
const FIRST_MS = 120_000;
const DAILY_MS = DAY_MS;
/** A standby checks whether it leads by now, and what failed is tried again. */
const AGAIN_MS = HOUR_MS;

/**
 * Once a day, in the process that leads, if Stripe is the provider: applies what webhooks did
 * not deliver (reconcile.ts).
 */
export function startReconciliationJob(options: {
  services: Services;
  alarm: Alarm;
  leading: () => boolean;
}): RepeatingJob {
  const { services, alarm, leading } = options;
  const { payments, logger } = services;
  if (!isStripe(payments)) return { close: async () => {} };
  const pass = async (closing: AbortSignal): Promise<number> => {
    if (!leading()) return AGAIN_MS;
    try {
      const { reconcile } = await import('./reconcile.ts');
      const result = await reconcile(services, payments.account, { signal: closing });
      logger.info(result, 'reconciled with Stripe');
      return DAILY_MS;
    } catch (error) {
      if (!closing.aborted) logger.error({ err: error }, 'reconciliation with Stripe failed; trying again in an hour');
      return AGAIN_MS;
    }
  };
  return startRepeatingJob(alarm, FIRST_MS, pass);
}
