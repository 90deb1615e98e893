import { userInfo } from 'node:os';
import type { Command } from '@commander-js/extra-typings';
import type pg from 'pg';
import { readCatalog } from '../../domains/billing/plans/catalog.ts';
import { seedPlans } from '../../domains/billing/plans/store.ts';
import { openProvider } from '../../domains/billing/provider/open.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { reachDatabase } from '../../platform/postgres/running.ts';
import { loadConfig } from '../../process/load-config.ts';
import { operatorCommand, type Run } from '../command-line.ts';
import { createCommandPool, requireSchema } from '../open-database.ts';
import { declareAudit } from './audit.ts';
import { declareCodes } from './codes.ts';
import { declareCredits } from './credits.ts';
import { declarePayments } from './payments.ts';
import { declarePlans } from './plans.ts';
import { declareReconcile } from './reconcile.ts';
import type { BillingServices } from './services.ts';
import { declareTenant } from './tenant.ts';

/**
 * Declares `billing`: the operator's commands for plans, payments, credits and codes, with or without a running server
 * (docs/billing.md). Exit code 0 on success, 1 if the command failed or the audit found differences.
 */
export function declareBilling(command: Command, run: Run<BillingServices>): void {
  declarePlans(command, run);
  declarePayments(command, run);
  declareCredits(command, run);
  declareTenant(command, run);
  declareCodes(command, run);
  declareAudit(command, run);
  declareReconcile(command, run);
}

export const billing = operatorCommand(declareBilling, async work => {
  const config = loadConfig();
  const database = await reachDatabase(config.database, createLogger('silent'));
  const pool = createCommandPool(database.url, { max: 4 });
  try {
    await requireSchema(pool, `to_regclass('credit_ledger') IS NOT NULL`);
    // A server may never have run since the upgrade.
    await seedPlans(pool, readCatalog(config.billing), systemClock.now());
    const services = await openServices(config, pool);
    const outcome = await work(services);
    await services.payments.close();
    return outcome;
  } finally {
    await pool.end();
    await database.close();
  }
});

async function openServices(config: BillingServices['config'], pool: pg.Pool): Promise<BillingServices> {
  const logger = createLogger('silent');
  const clock = systemClock;
  const absent = () => {
    throw new Error('The operator command has no engine.');
  };
  return {
    by: `operator:${userInfo().username}`,
    config,
    pool,
    clock,
    logger,
    topUp: readCatalog(config.billing).topUp,
    payments: await openProvider({ config, clock, logger, pool }),
    orchestrator: {
      start: absent,
      reject: absent,
      command: absent,
      completeTask: absent,
      subscribe: absent,
      status: () => 'stopped',
      leads: () => false,
      ownerOf: () => ({ kind: 'unknown' }),
      leadsJobs: () => false,
      shards: () => ({ count: 1, led: new Set() }),
      unavailableReason: () => null,
      // A running server checks every few seconds for credits that other processes changed.
      creditsChanged: () => undefined,
    },
  };
}
