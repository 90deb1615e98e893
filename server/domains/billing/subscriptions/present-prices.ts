import type { Services } from '../../../operation/services.ts';
import type { ActionPrices } from '../../../orchestrator/ports/billable-actions.ts';
import { presentPlan } from './choose.ts';
import { readSubscription } from './store.ts';

/** Returns the prices of a workspace's present plan; null if the deployment charges nothing. */
export async function presentPrices(
  { pool, config }: Pick<Services, 'pool' | 'config'>,
  tenantId: string,
): Promise<ActionPrices | null> {
  if (config.billing.mode === 'off') return null;
  return (await presentPlan(pool, await readSubscription(pool, tenantId))).prices;
}
