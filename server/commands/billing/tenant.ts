import type { Command } from '@commander-js/extra-typings';
import { readBalances } from '../../domains/billing/ledger/post.ts';
import { listPayments } from '../../domains/billing/payments/store.ts';
import { readLatestEvents } from '../../domains/billing/subscriptions/journal-store.ts';
import { processDueBilling } from '../../domains/billing/subscriptions/process-due.ts';
import { hasTenant, readSubscription } from '../../domains/billing/subscriptions/store.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { notFound } from '../../platform/errors.ts';
import type { Outcome, Run } from '../command-line.ts';
import { describePayments } from './payments.ts';
import type { BillingServices } from './services.ts';
import { credits, table } from './terminal-format.ts';

/** Declares `billing tenant`: shows the billing state of a workspace. AppError 404 for an unknown one. */
export function declareTenant(command: Command, run: Run<BillingServices>): void {
  command
    .command('tenant')
    .description('show plan, period, balances, open payments and the latest events of a workspace')
    .argument('<slug>', 'the workspace')
    .action(slug => run(services => describeTenant(services, slug)));
}

async function describeTenant(services: BillingServices, tenantId: string): Promise<Outcome> {
  const { pool } = services;
  if (!(await hasTenant(pool, tenantId))) throw notFound(`Workspace ${tenantId}`);
  await processDueBilling(services, tenantId);
  const row = await readSubscription(pool, tenantId);
  const balances = await readBalances(pool, tenantId);
  const payments = await listPayments(pool, { tenantId, status: 'pending', limit: 20 });
  const events = await readLatestEvents(pool, tenantId, 10);
  const ends = row.cancelAtPeriodEnd ? ', then it ends' : row.pendingPlanCode ? `, then ${row.pendingPlanCode}` : '';
  return {
    text: [
      `${tenantId}: ${row.planCode}, ${row.status}, by ${row.provider}${row.subscriptionId ? ` (${row.subscriptionId})` : ''}`,
      `Period: ${isoTimestamp(row.period.from)} to ${isoTimestamp(row.period.to)}${ends}`,
      ...(row.trialStartedAt === null
        ? []
        : [`Trial: ${row.trialPlanCode ?? ''}, started ${isoTimestamp(row.trialStartedAt)}`]),
      '',
      table([
        ['trial', 'included', 'pay as you go', 'used', 'expired'],
        (['trial', 'included', 'payg', 'consumed', 'expired'] as const).map(account => credits(balances[account])),
      ]),
      ...(payments.length === 0 ? [] : ['', describePayments(payments)]),
      '',
      ...events.map(
        ({ kind, data, created_at }) => `${isoTimestamp(created_at.getTime())}  ${kind}  ${JSON.stringify(data)}`,
      ),
    ].join('\n'),
  };
}
