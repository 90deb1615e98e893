import { isoTimestamp } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/errors.ts';
import { readBalances } from '../ledger/post.ts';
import { type Command, credits, done, required, table } from '../operator-command.ts';
import { describePayments } from '../payments/command.ts';
import { listPayments } from '../payments/store.ts';
import { settleTenant } from './settle.ts';
import { readSubscription } from './store.ts';

export const tenantUsage = 'npm run billing -- tenant <slug>';

/** `npm run billing -- tenant <slug>`: how a workspace stands. */
export const tenantCommand: Command = async (services, args) => {
  const { pool } = services;
  if (args.length > 1) throw new TypeError('Name one workspace.');
  const tenantId = required(args[0], 'The workspace');
  const { rowCount } = await pool.query('SELECT FROM tenants WHERE slug = $1', [tenantId]);
  if (rowCount === 0) throw notFound(`Workspace ${tenantId}`);
  await settleTenant(services, tenantId);
  const row = await readSubscription(pool, tenantId);
  const balances = await readBalances(pool, tenantId);
  const payments = await listPayments(pool, { tenantId, status: 'pending', limit: 20 });
  const { rows: events } = await pool.query<{ kind: string; data: object; created_at: Date }>(
    'SELECT kind, data, created_at FROM billing_events WHERE tenant_id = $1 ORDER BY id DESC LIMIT 10',
    [tenantId],
  );
  const ends = row.cancelAtPeriodEnd ? ', then it ends' : row.pendingPlanCode ? `, then ${row.pendingPlanCode}` : '';
  return done(
    [
      `${tenantId}: ${row.planCode}, ${row.status}, by ${row.provider}${row.subscriptionId ? ` (${row.subscriptionId})` : ''}`,
      `Period: ${isoTimestamp(row.period.from)} to ${isoTimestamp(row.period.to)}${ends}`,
      ...(row.trialStartedAt === null
        ? []
        : [`Trial: ${row.trialPlanCode ?? ''}, begun ${isoTimestamp(row.trialStartedAt)}`]),
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
  );
};
