import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { formatMoney } from '../../domains/billing/payments/money.ts';
import { listPayments, type PaymentRow, type PaymentStatus } from '../../domains/billing/payments/store.ts';
import { cancelPayment, confirmPayment, refundPayment } from '../../domains/billing/settlement/operate.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import type { Outcome, Run } from '../command-line.ts';
import type { BillingServices } from './services.ts';
import { credits, table } from './terminal-format.ts';

const statuses = ['pending', 'succeeded', 'failed', 'cancelled', 'refunded'] as const satisfies PaymentStatus[];
/** The number of payments in one list: the newest. */
const SHOWN = 200;

/** Declares `billing payments`: lists manual payments, and confirms, cancels or refunds them. */
export function declarePayments(command: Command, run: Run<BillingServices>): void {
  const payments = command.command('payments').description('list, confirm, cancel and refund payments');
  payments
    .command('list', { isDefault: true })
    .description(`list the newest ${SHOWN} payments`)
    .option('--tenant <slug>', 'of one workspace')
    .addOption(new Option('--status <status>', 'of one status').choices(statuses))
    .action(({ tenant, status }) =>
      run(async ({ pool }) => {
        const found = await listPayments(pool, { tenantId: tenant ?? null, status, limit: SHOWN });
        return { text: found.length === 0 ? 'This payment does not exist.' : describePayments(found) };
      }),
    );
  declareDecisions(payments, run, { confirm: 'confirm', cancel: 'cancel', refund: 'refund' });
  // The same commands, one level up.
  declareDecisions(command, run, { confirm: 'confirm-payment', cancel: 'cancel-payment', refund: 'refund-payment' });
}

type Decision = 'confirm' | 'cancel' | 'refund';

function declareDecisions(command: Command, run: Run<BillingServices>, names: Record<Decision, string>): void {
  const shown = async (payment: Promise<PaymentRow>): Promise<Outcome> => ({ text: describePayments([await payment]) });
  command
    .command(names.confirm)
    .description('record that it was paid: grant its credits, once')
    .argument('<id>', 'the id of the payment')
    .action(id => run(services => shown(confirmPayment(services, id))));
  command
    .command(names.cancel)
    .description('record that it will not be paid')
    .argument('<id>', 'the id of the payment')
    .action(id => run(services => shown(cancelPayment(services, id))));
  command
    .command(names.refund)
    .description('record that it was refunded: reverse its credits that are left')
    .argument('<id>', 'the id of the payment')
    .option('--amount <minor units>', 'a part of it: 500 is 5.00', readAmount)
    .action((id, { amount }) => run(services => shown(refundPayment(services, id, amount ?? null))));
}

function readAmount(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new InvalidArgumentError('It takes a whole number of minor units: 500 is 5.00.');
  return Number(text);
}

export const describePayments = (payments: readonly PaymentRow[]): string =>
  table([
    ['id', 'workspace', 'asked for', 'for', 'amount', 'refunded', 'credits', 'status', 'by'],
    ...payments.map(payment => [
      payment.id,
      payment.tenantId,
      isoTimestamp(payment.createdAt),
      payment.description,
      formatMoney(payment.amount, payment.currency),
      payment.refundedAmount === 0 ? '-' : formatMoney(payment.refundedAmount, payment.currency),
      credits(payment.credits),
      payment.status,
      payment.provider,
    ]),
  ]);
