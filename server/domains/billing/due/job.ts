import type { Services } from '../../../operation/services.ts';
import { type Alarm, HOUR_MS } from '../../../platform/clock.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { countCharges } from '../ledger/count-store.ts';
import { postCharges } from '../ledger/post.ts';
import { type DueBillingServices, processDueBilling } from '../subscriptions/process-due.ts';
import { BATCH, chargedTenants, dueTenants, nextDue } from './store.ts';

export type BillingJob = {
  /** Ends the job once the workspace that is being processed is finished. */
  close(): Promise<void>;
};

export type BillingJobOptions = {
  services: DueBillingServices & Pick<Services, 'logger'>;
  alarm: Alarm;
  /** Settles when it is known whether this process leads. */
  ready: Promise<unknown>;
  /** Returns whether this process leads; only the leader does the work. Two processes at once do no harm: each step happens once. */
  leading: () => boolean;
};

/**
 * The maximum pause. Limits the delay of changes that this process does not notice: an operator's command, another
 * process, a clock that was set.
 */
const MAX_INTERVAL_MS = 60_000;
/** The pause of a standby before it checks again whether it leads, and of a leader before it retries what failed. */
const AGAIN_MS = 5_000;
/** Charges are posted to the ledger hourly, in the first pass of each hour. */
const POSTING_MS = HOUR_MS;

/**
 * Processes what is due for every workspace, in the process that leads: at the start what is overdue, then each period
 * at its own time. Posts charges to the ledger once an hour.
 */
export function startBillingJob({ services, alarm, ready, leading }: BillingJobOptions): BillingJob {
  const { pool, clock, logger } = services;
  const closing = Promise.withResolvers<void>();
  let closed = false;
  let cancel = () => undefined as unknown;
  const longest = Math.min(MAX_INTERVAL_MS, alarm.longestMs ?? MAX_INTERVAL_MS);

  const processDue = async (tenantId: string): Promise<boolean> => {
    try {
      await processDueBilling(services, tenantId);
      return true;
    } catch (error) {
      logger.error({ err: error, tenant_id: tenantId }, 'a workspace could not be billed; it is tried again');
      return false;
    }
  };
  /** Returns the workspaces that could not be processed; null if the job was closed meanwhile. */
  const processAllDue = async (): Promise<string[] | null> => {
    const failed: string[] = [];
    for (;;) {
      const due = await dueTenants(pool, clock.now(), failed);
      for (const tenantId of due) {
        if (closed) return null;
        if (!(await processDue(tenantId))) failed.push(tenantId);
      }
      if (due.length < BATCH) return failed;
    }
  };
  let posted = Number.NEGATIVE_INFINITY;
  /** Posts the charges of the past hour for all tenants once, ignoring charges made meanwhile. */
  const post = async (hour: number): Promise<void> => {
    while (!closed && (await countCharges(pool, clock.now(), undefined, { logger })) === 'counted');
    for (let last = ''; ; ) {
      const tenants = await chargedTenants(pool, last);
      for (const tenantId of tenants) {
        if (closed) return;
        await transact(pool, db => postCharges(db, tenantId, clock.now()));
      }
      last = tenants.at(-1) ?? last;
      if (tenants.length < BATCH) break;
    }
    posted = hour;
  };
  /** Runs a pass; returns the ms until the next one is due. */
  const run = async (): Promise<number> => {
    if (!leading()) return AGAIN_MS;
    try {
      const failed = await processAllDue();
      if (failed === null) return AGAIN_MS;
      const hour = Math.floor(clock.now() / POSTING_MS);
      if (hour !== posted) await post(hour);
      if (failed.length > 0) return AGAIN_MS;
      const next = Math.min((await nextDue(pool)) ?? Number.POSITIVE_INFINITY, (hour + 1) * POSTING_MS);
      return Math.min(longest, Math.max(0, next - clock.now()));
    } catch (error) {
      logger.error({ err: error }, 'billing cannot see what is due; it looks again');
      return AGAIN_MS;
    }
  };
  const arm = (delayMs: number) => {
    if (closed) return;
    cancel = alarm(delayMs, () => {
      pass = run().then(arm);
    });
  };
  const begin = async () => {
    await Promise.race([ready.catch(() => undefined), closing.promise]);
    if (!closed) arm(await run());
  };
  let pass = begin();
  return {
    async close() {
      closed = true;
      closing.resolve();
      cancel();
      await pass;
    },
  };
}
