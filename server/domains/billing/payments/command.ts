import { parseArgs } from 'node:util';
import { isoTimestamp } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { grantCredits, refundCredits } from '../ledger/post.ts';
import {
  type Command,
  type CommandServices,
  credits,
  done,
  parseCredits,
  required,
  table,
} from '../operator-command.ts';
import { settleTenant } from '../subscriptions/settle.ts';
import { formatMoney } from './money.ts';
import { cancelPayment, confirmPayment, refundPayment } from './operate.ts';
import { listPayments, type PaymentRow, type PaymentStatus } from './store.ts';

export const paymentsUsage = `npm run billing -- payments [list] [--tenant <slug>] [--status pending|succeeded|failed|cancelled|refunded]
npm run billing -- payments confirm <id> | cancel <id> | refund <id> [--amount <minor units>]`;

export const creditsUsage = `npm run billing -- credits grant <tenant> <credits> [--account payg|included|trial] [--expires 30d] [--note <text>]
npm run billing -- credits refund <tenant> <credits> [--note <text>]`;

const statuses: readonly PaymentStatus[] = ['pending', 'succeeded', 'failed', 'cancelled', 'refunded'];
/** What one look shows: the newest. */
const SHOWN = 200;

/** `npm run billing -- payments …`: what was asked for by hand, and what became of it. */
export const paymentsCommand: Command = async (services, args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { tenant: { type: 'string' }, status: { type: 'string' }, amount: { type: 'string' } },
  });
  const [verb = 'list', id] = positionals;
  const named = () => required(id, 'The id of the payment');
  switch (verb) {
    case 'list': {
      const status = statuses.find(each => each === values.status);
      if (values.status !== undefined && status === undefined)
        throw new TypeError(`--status is one of ${statuses.join(', ')}.`);
      const found = await listPayments(services.pool, { tenantId: values.tenant ?? null, status, limit: SHOWN });
      return done(found.length === 0 ? 'There is no such payment.' : describePayments(found));
    }
    case 'confirm':
      return done(describePayments([await confirmPayment(services, named())]));
    case 'cancel':
      return done(describePayments([await cancelPayment(services, named())]));
    case 'refund':
      return done(describePayments([await refundPayment(services, named(), readAmount(values.amount))]));
    default:
      throw new TypeError(`There is no "payments ${verb}".`);
  }
};

function readAmount(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new TypeError('--amount is a whole number of minor units: 500 is 5.00.');
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

const accounts = ['payg', 'included', 'trial'] as const;
const DAY_MS = 86_400_000;

/** `npm run billing -- credits …`: credits that nobody pays for, and charges that are given back. */
export const creditsCommand: Command = async (services, args, by) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      account: { type: 'string', default: 'payg' },
      expires: { type: 'string' },
      note: { type: 'string', default: '' },
    },
  });
  const [verb, tenant, amountText] = positionals;
  const tenantId = required(tenant, 'The workspace');
  const amount = parseCredits(required(amountText, 'The amount of credits'));
  const account = accounts.find(each => each === values.account);
  if (account === undefined) throw new TypeError(`--account is one of ${accounts.join(', ')}.`);
  await requireTenant(services, tenantId);
  const at = services.clock.now();
  const said = { tenantId, amount, reference: `operator:${newId()}`, note: values.note || `By ${by}`, at };
  switch (verb) {
    case 'grant': {
      const expiresAt = values.expires === undefined ? null : at + readDays(values.expires) * DAY_MS;
      await transact(services.pool, db => grantCredits(db, { ...said, account, expiresAt, source: 'operator' }));
      return done(`${tenantId} has ${credits(amount)} more credits (${account}).`);
    }
    case 'refund':
      await transact(services.pool, db => refundCredits(db, said));
      return done(`${credits(amount)} credits that were charged to ${tenantId} are given back.`);
    default:
      throw new TypeError('Say "credits grant" or "credits refund".');
  }
};

/** The workspace exists, and what is due for it is done. */
async function requireTenant(services: CommandServices, tenantId: string): Promise<void> {
  const { rowCount } = await services.pool.query('SELECT FROM tenants WHERE slug = $1', [tenantId]);
  if (rowCount === 0) throw notFound(`Workspace ${tenantId}`);
  await settleTenant(services, tenantId);
}

function readDays(text: string): number {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days === undefined) throw new TypeError(`--expires is a number of days such as 30d, not "${text}".`);
  return Number(days);
}
