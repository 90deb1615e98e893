import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type BillingCode, normalizeCode } from '../../domains/billing/codes/code.ts';
import { createCodes, NewCodes } from '../../domains/billing/codes/create.ts';
import { disableCode, listCodes } from '../../domains/billing/codes/store.ts';
import { formatMoney } from '../../domains/billing/payments/money.ts';
import { CREDIT } from '../../orchestrator/ports/microcredits.ts';
import type { Run } from '../command-line.ts';
import type { BillingServices } from './services.ts';

type CodeServices = Pick<BillingServices, 'pool' | 'clock' | 'config'>;

/** Declares `billing codes`. The actions throw the AppErrors of `createCodes`. */
export function declareCodes(command: Command, run: Run<CodeServices>): void {
  const codes = command.command('codes').description('create, list and disable billing codes');
  declareCreate(codes, run);
  codes
    .command('list')
    .description('list the codes')
    .option('--json', 'print one JSON document')
    .action(options =>
      run(async ({ pool, config }) => {
        const found = await listCodes(pool, config.billing.productCode);
        return { value: found, text: found.length === 0 ? 'There is no code.' : found.map(describeCode).join('\n') };
      }, options),
    );
  codes
    .command('disable')
    .description('disable a code')
    .argument('<code>', 'the code', normalizeCode)
    .action(code =>
      run(async ({ pool, config }) => {
        const found = await disableCode(pool, config.billing.productCode, code);
        return found ? { text: `${code} is disabled.` } : { code: 1, text: `There is no code ${code}.` };
      }),
    );
}

function declareCreate(codes: Command, run: Run<CodeServices>): void {
  const create = codes
    .command('create')
    .description('create one code, or many random ones')
    .addOption(
      new Option('--kind <kind>', 'what it gives')
        .choices(['credits', 'trial_days', 'percent', 'amount'] as const)
        .makeOptionMandatory(),
    )
    .requiredOption('--value <n>', 'credits, days, percent, or minor units of the currency', Number)
    .option('--currency <code>', 'of an amount', text => text.toLowerCase())
    .option('--code <own>', 'the code itself; default: a random one')
    .option('--count <n>', 'how many random ones', Number)
    .option('--max <n>', 'how often each may be used', Number)
    .option('--per-tenant <n>', 'how often a workspace may use it; default: 1', Number)
    .option('--plans <codes>', 'the plans it is for, separated by commas', text =>
      text.split(',').map(plan => plan.trim()),
    )
    .option('--starts <date>', 'when it becomes valid', readInstant)
    .option('--ends <date>', 'when it ceases to be valid', readInstant)
    .option('--credits-expire-days <n>', 'when the granted credits expire; default: never', Number)
    .option('--months <n>', 'how long a discount lasts', Number)
    .option('--promotion <id>', "the payment provider's own id of the promotion");
  create.action(({ promotion, ...given }) => {
    const parsed = NewCodes.safeParse({ ...given, promotionId: promotion });
    if (!parsed.success) {
      const problems = parsed.error.issues.map(({ path, message }) => `${optionOf(String(path[0]))}: ${message}`);
      return create.error(problems.join('; '));
    }
    return run(async services => ({ text: (await createCodes(services, parsed.data, 'operator')).join('\n') }));
  });
}

const optionOf = (field: string) =>
  `--${field === 'promotionId' ? 'promotion' : field.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;

/** A day (its beginning in UTC) or an instant of ISO 8601 with its zone. */
function readInstant(text: string): number {
  const at = /^\d{4}-\d{2}-\d{2}(T.+(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('It takes a date such as 2027-01-01 or 2027-01-01T12:00:00Z.');
  return at;
}

/** A code on one line. */
function describeCode(code: BillingCode): string {
  const day = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  return [
    code.code,
    worth(code),
    `redeemed ${code.redeemed}${code.maxRedemptions === null ? '' : ` of ${code.maxRedemptions}`}`,
    ...(code.planCodes.length === 0 ? [] : [`plans ${code.planCodes.join(', ')}`]),
    ...(code.startsAt === null ? [] : [`from ${day(code.startsAt)}`]),
    ...(code.endsAt === null ? [] : [`until ${day(code.endsAt)}`]),
    ...(code.disabled ? ['disabled'] : []),
  ].join('  ');
}

function worth({ kind, value, currency, months }: BillingCode): string {
  const lasts = months === null ? '' : ` for ${months} ${months === 1 ? 'month' : 'months'}`;
  switch (kind) {
    case 'credits':
      return `${value / CREDIT} credits`;
    case 'trial_days':
      return `${value} days of trial`;
    case 'percent':
      return `${value} %${lasts}`;
    case 'amount':
      return `${formatMoney(value, currency ?? '')}${lasts}`;
  }
}
