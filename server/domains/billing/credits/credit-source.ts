import type { Pool } from 'pg';
import type { Services } from '../../../operation/services.ts';
import type { CreditSource } from '../../../orchestrator/ports/credits.ts';
import { total } from '../ledger/books.ts';
import { insertWarning, readCredits } from '../ledger/credit-store.ts';
import { readBalances } from '../ledger/post.ts';
import { ensureOnboarded } from '../subscriptions/onboard.ts';

/** The credit source of a process. `settled` waits for the warnings that are being written; await it before closing the pool. */
export type LedgerCreditSource = CreditSource & { settled(): Promise<void> };

/** Returns prices and balances for the engine, from the ledger's accounts and the workspace's plan. */
export function createCreditSource(
  services: Pick<Services, 'pool' | 'clock' | 'config' | 'logger'>,
): LedgerCreditSource {
  const { pool, clock, logger, config } = services;
  const enforced = config.billing.mode === 'on';
  const writing = new Set<Promise<void>>();
  return {
    async load(tenantId) {
      await ensureOnboarded(services, tenantId);
      const credits = (await readCredits(pool, [tenantId], enforced)).get(tenantId);
      if (credits === undefined) throw new Error(`${tenantId} has no account or no plan`);
      return credits;
    },
    refresh: tenantIds => readCredits(pool, tenantIds, enforced),
    thresholdCrossed(tenantId, percent) {
      const write = recordCrossing(pool, tenantId, percent, clock.now())
        .then(recorded => {
          // Without enforcement, used-up credits stop no run, so there is nothing to warn of.
          if (recorded && enforced) logger.warn({ tenant_id: tenantId, percent }, 'credits are running out');
        })
        .catch(error => logger.warn({ err: error, tenant_id: tenantId, percent }, 'a credit warning was not stored'))
        .finally(() => writing.delete(write));
      writing.add(write);
    },
    async settled() {
      await Promise.all(writing);
    },
  };
}

/**
 * Records one warning for each allowance and percentage, if the usage has still reached the percentage: credits may
 * have been granted since the charge. Returns false if it was recorded before, or if the usage is below the percentage
 * now.
 */
async function recordCrossing(pool: Pool, tenantId: string, percent: 80 | 100, at: number): Promise<boolean> {
  const balances = await readBalances(pool, tenantId);
  const { allowance } = balances;
  if (allowance === 0 || (allowance - total(balances)) * 100 < allowance * percent) return false;
  return await insertWarning(pool, tenantId, { percent, allowance, at: new Date(at) });
}
