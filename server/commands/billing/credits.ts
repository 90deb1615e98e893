import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { grantCredits, refundCredits } from '../../domains/billing/ledger/post.ts';
import { processDueBilling } from '../../domains/billing/subscriptions/process-due.ts';
import { hasTenant } from '../../domains/billing/subscriptions/store.ts';
import { CREDIT, MAX_MICROCREDITS } from '../../orchestrator/ports/microcredits.ts';
import { DAY_MS } from '../../platform/clock.ts';
import { notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { readDays } from '../arguments.ts';
import type { Run } from '../command-line.ts';
import type { BillingServices } from './services.ts';
import { credits } from './terminal-format.ts';

const accounts = ['payg', 'included', 'trial'] as const;

/** Declares `billing credits`: grants credits, and refunds charges. AppError 404 for an unknown workspace. */
export function declareCredits(command: Command, run: Run<BillingServices>): void {
  const group = command.command('credits').description('grant credits, or refund what was charged');
  group
    .command('grant')
    .description('grant credits that are not paid for')
    .argument('<tenant>', 'the slug of the workspace')
    .argument('<credits>', 'such as 250 or 0.5', readCredits)
    .addOption(new Option('--account <account>', 'where they go').choices(accounts).default('payg' as const))
    .option('--expires <days>', 'such as 30d; default: never', readDays)
    .option('--note <text>', 'shown in the ledger')
    .action((tenantId, amount, { account, expires, note }) =>
      run(async services => {
        const entry = await ledgerEntry(services, { tenantId, amount, note });
        const expiresAt = expires === undefined ? null : entry.at + expires * DAY_MS;
        await transact(services.pool, db => grantCredits(db, { ...entry, account, expiresAt, source: 'operator' }));
        return { text: `${tenantId} has ${credits(amount)} more credits (${account}).` };
      }),
    );
  group
    .command('refund')
    .description('refund credits that were charged, as pay-as-you-go credits')
    .argument('<tenant>', 'the slug of the workspace')
    .argument('<credits>', 'such as 250 or 0.5', readCredits)
    .option('--note <text>', 'shown in the ledger')
    .action((tenantId, amount, { note }) =>
      run(async services => {
        const entry = await ledgerEntry(services, { tenantId, amount, note });
        await transact(services.pool, db => refundCredits(db, entry));
        return { text: `${credits(amount)} credits that were charged to ${tenantId} are refunded.` };
      }),
    );
}

async function ledgerEntry(
  services: BillingServices,
  { tenantId, amount, note }: { tenantId: string; amount: number; note: string | undefined },
) {
  await requireTenant(services, tenantId);
  const reference = `operator:${newId()}`;
  return { tenantId, amount, reference, note: note || `By ${services.by}`, at: services.clock.now() };
}

/** Checks that the workspace exists, and processes its due billing. */
async function requireTenant(services: BillingServices, tenantId: string): Promise<void> {
  if (!(await hasTenant(services.pool, tenantId))) throw notFound(`Workspace ${tenantId}`);
  await processDueBilling(services, tenantId);
}

/** `12.5` credits as microcredits: at most six digits behind the point, so nothing is rounded. */
function readCredits(text: string): number {
  const parts = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text);
  const microcredits = parts === null ? 0 : Number(parts[1]) * CREDIT + Number((parts[2] ?? '').padEnd(6, '0'));
  if (microcredits < 1 || microcredits > MAX_MICROCREDITS)
    throw new InvalidArgumentError('It takes an amount of credits such as 250 or 0.5.');
  return microcredits;
}
