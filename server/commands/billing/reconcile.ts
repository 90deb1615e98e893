import type { Command } from '@commander-js/extra-typings';
import { isStripe } from '../../domains/billing/provider/stripe/kind.ts';
import { readDate } from '../arguments.ts';
import type { Outcome, Run } from '../command-line.ts';
import type { BillingServices } from './services.ts';

/** Declares `billing reconcile`: applies events that Stripe's webhooks did not deliver. */
export function declareReconcile(command: Command, run: Run<BillingServices>): void {
  command
    .command('reconcile')
    .description("apply events that Stripe's webhooks did not deliver")
    .option('--since <date>', 'such as 2026-11-01', readDate)
    .action(({ since }) => run(services => reconcileStripe(services, since)));
}

async function reconcileStripe(services: BillingServices, since: number | undefined): Promise<Outcome> {
  const { payments } = services;
  if (!isStripe(payments)) return { text: 'Payments are confirmed manually here: there is nothing to compare.' };
  const { reconcile } = await import('../../domains/billing/provider-events/reconcile.ts');
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const { events, subscriptions, payments: paid } = await reconcile(services, payments.account, { since, print });
  return {
    text: [
      ...lines,
      `Events: ${events.listed} listed, ${events.missed} missed, ${events.applied} applied.`,
      `Subscriptions: ${subscriptions.compared} compared, ${subscriptions.corrected} corrected.`,
      `Payments: ${paid.compared} compared, ${paid.corrected} corrected, ${paid.unknown} unknown to Stripe.`,
    ].join('\n'),
  };
}
