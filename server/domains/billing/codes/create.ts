import { z } from 'zod';
import type { Services } from '../../../operation/services.ts';
import { PlainText } from '../../../operation/wire.ts';
import { CREDIT, MAX_MICROCREDITS } from '../../../orchestrator/ports/microcredits.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { listPlans } from '../plans/store.ts';
import { Currency } from '../schemas.ts';
import { type BillingCode, codeKinds, generateCode, normalizeCode } from './code.ts';
import { insertCode } from './store.ts';

const count = z.number().int().min(1);

/**
 * An operator's input for new codes. `value`: credits (up to 6 decimals), days, percent, or minor
 * units, depending on the kind.
 */
export const NewCodes = z
  .strictObject({
    kind: z.enum(codeKinds),
    value: z.number().positive(),
    currency: Currency.optional(),
    /** The text of the code; absent: random codes are generated. */
    code: PlainText(64)
      .transform(normalizeCode)
      .pipe(z.string().regex(/^[A-Z0-9][A-Z0-9_-]{3,63}$/, 'must be 4 to 64 letters, digits, - and _'))
      .optional(),
    count: count.max(10_000).default(1),
    max: count.max(2_147_483_647).optional(),
    perTenant: count.max(2_147_483_647).default(1),
    plans: z.array(z.string()).default([]),
    creditsExpireDays: count.max(3650).optional(),
    months: count.max(120).optional(),
    starts: z.number().optional(),
    ends: z.number().optional(),
    promotionId: PlainText(200).optional(),
  })
  .superRefine((given, { addIssue }) => {
    const refuse = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    const { kind, value } = given;
    const microcredits = Math.round(value * CREDIT);
    if (kind === 'credits') {
      // Compared as decimals, because floating point represents 0.1 inexactly.
      if (Number((microcredits / CREDIT).toFixed(6)) !== value || microcredits > MAX_MICROCREDITS)
        refuse('value', 'must be an amount of credits with up to 6 decimals');
    } else if (!Number.isSafeInteger(value)) refuse('value', 'must be a whole number');
    if (kind === 'percent' && value > 100) refuse('value', 'must be at most 100');
    if (kind === 'trial_days' && value > 730) refuse('value', 'must be at most 730 days');
    if ((kind === 'amount') !== (given.currency !== undefined)) refuse('currency', 'belongs to an amount');
    if (kind !== 'credits' && given.creditsExpireDays !== undefined)
      refuse('creditsExpireDays', 'is for credits alone');
    const discount = kind === 'percent' || kind === 'amount';
    if (!discount && given.months !== undefined) refuse('months', 'is for discounts alone');
    if (!discount && given.promotionId !== undefined) refuse('promotionId', 'is for discounts alone');
    if (given.code !== undefined && given.count !== 1) refuse('count', 'must be 1 where the code is given');
    if (given.starts !== undefined && given.ends !== undefined && given.starts >= given.ends)
      refuse('ends', 'must be after the start');
  });

/** Creates all codes or none, and returns them. Throws AppError 409 `code_exists`, 422 `unknown_plan`. */
export async function createCodes(
  { pool, clock, config }: Pick<Services, 'pool' | 'clock' | 'config'>,
  given: z.output<typeof NewCodes>,
  createdBy: string,
): Promise<string[]> {
  const { productCode } = config.billing;
  const { kind, value } = given;
  const code: Omit<BillingCode, 'code'> = {
    productCode,
    kind,
    value: kind === 'credits' ? Math.round(value * CREDIT) : value,
    currency: given.currency ?? null,
    planCodes: given.plans,
    creditsExpireDays: given.creditsExpireDays ?? null,
    months: given.months ?? null,
    maxRedemptions: given.max ?? null,
    maxPerTenant: given.perTenant,
    redeemed: 0,
    startsAt: given.starts ?? null,
    endsAt: given.ends ?? null,
    providerPromotionId: given.promotionId ?? null,
    disabled: false,
    createdBy,
    createdAt: clock.now(),
  };
  return await transact(pool, async db => {
    await requirePlans(db, productCode, given.plans);
    const codes = given.code === undefined ? Array.from({ length: given.count }, generateCode) : [given.code];
    for (const each of codes)
      if (!(await insertCode(db, { ...code, code: each })))
        throw conflict('code_exists', `The code ${each} already exists.`);
    return codes;
  });
}

async function requirePlans(db: Queryable, productCode: string, plans: readonly string[]): Promise<void> {
  const known = new Set((await listPlans(db, productCode)).map(({ planCode }) => planCode));
  const unknown = plans.filter(plan => !known.has(plan));
  if (unknown.length > 0) throw invalid(`These plans do not exist: ${unknown.join(', ')}.`, undefined, 'unknown_plan');
}
