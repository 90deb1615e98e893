import { parseArgs } from 'node:util';
import { CREDIT } from '../../../contract/microcredits.ts';
import type { Services } from '../../../contract/services.ts';
import type { CommandOutcome } from '../ledger/audit-command.ts';
import { formatMoney } from '../payments/money.ts';
import { type BillingCode, normalizeCode } from './code.ts';
import { createCodes, NewCodes } from './create.ts';
import { disableCode, listCodes } from './store.ts';

export const codesUsage = `npm run billing -- codes create --kind credits|trial_days|percent|amount --value <n> [--currency usd]
                [--code <own> | --count <n>] [--max <n>] [--per-tenant <n>] [--plans <code,code>] [--starts <date>] [--ends <date>]
                [--credits-expire-days <n>] [--months <n>] [--promotion <the provider's id>]
npm run billing -- codes list [--json]
npm run billing -- codes disable <code>`;

type CommandServices = Pick<Services, 'pool' | 'clock' | 'config'>;

/** `npm run billing -- codes …`. Throws TypeError with what is wrong with the arguments, AppErrors of `createCodes`. */
export async function codesCommand(services: CommandServices, args: readonly string[]): Promise<CommandOutcome> {
  const [verb, ...rest] = args;
  switch (verb) {
    case 'create':
      return await create(services, rest);
    case 'list':
      return await list(services, rest);
    case 'disable':
      return await disable(services, rest);
    default:
      throw new TypeError(`codes: create, list or disable\n\n${codesUsage}`);
  }
}

const text = { type: 'string' } as const;
const createOptions = {
  kind: text,
  value: text,
  currency: text,
  code: text,
  count: text,
  max: text,
  'per-tenant': text,
  plans: text,
  starts: text,
  ends: text,
  'credits-expire-days': text,
  months: text,
  promotion: text,
} as const;

async function create(services: CommandServices, args: string[]): Promise<CommandOutcome> {
  const { values } = parseArgs({ args, options: createOptions, strict: true });
  const parsed = NewCodes.safeParse({
    kind: values.kind,
    value: numberOf(values.value),
    currency: values.currency?.toLowerCase(),
    code: values.code,
    count: numberOf(values.count),
    max: numberOf(values.max),
    perTenant: numberOf(values['per-tenant']),
    plans: values.plans?.split(',').map(plan => plan.trim()),
    starts: instantOf('starts', values.starts),
    ends: instantOf('ends', values.ends),
    creditsExpireDays: numberOf(values['credits-expire-days']),
    months: numberOf(values.months),
    promotionId: values.promotion,
  });
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${optionOf(String(path[0]))}: ${message}`);
    throw new TypeError(`${problems.join('\n')}\n\n${codesUsage}`);
  }
  const codes = await createCodes(services, parsed.data, 'operator');
  return { code: 0, text: codes.join('\n') };
}

const optionOf = (field: string) =>
  `--${field === 'promotionId' ? 'promotion' : field.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;

const numberOf = (given: string | undefined): number | undefined => (given === undefined ? undefined : Number(given));

/** A day (its beginning in UTC) or an instant of ISO 8601 with its zone. */
function instantOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const whole = /^\d{4}-\d{2}-\d{2}(T.+(Z|[+-]\d{2}:\d{2}))?$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(whole))
    throw new TypeError(`--${option}: must be a date such as 2027-01-01 or 2027-01-01T12:00:00Z`);
  return whole;
}

async function list({ pool, config }: CommandServices, args: string[]): Promise<CommandOutcome> {
  const { values } = parseArgs({ args, options: { json: { type: 'boolean', default: false } }, strict: true });
  const codes = await listCodes(pool, config.billing.productCode);
  if (values.json) return { code: 0, text: JSON.stringify(codes, null, 2) };
  return { code: 0, text: codes.length === 0 ? 'There is no code.' : codes.map(describeCode).join('\n') };
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

async function disable({ pool, config }: CommandServices, args: string[]): Promise<CommandOutcome> {
  const { positionals } = parseArgs({ args, options: {}, allowPositionals: true, strict: true });
  const [code, ...others] = positionals;
  if (code === undefined || others.length > 0) throw new TypeError(`codes disable: name one code\n\n${codesUsage}`);
  const found = await disableCode(pool, config.billing.productCode, normalizeCode(code));
  return found
    ? { code: 0, text: `${normalizeCode(code)} is disabled.` }
    : { code: 1, text: `There is no code ${normalizeCode(code)}.` };
}
