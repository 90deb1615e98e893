import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PaymentProvider } from '../../../operation/payment-provider.ts';
import { createRequestLimiter } from '../../../operation/rate-limits.ts';
import type { Services } from '../../../operation/services.ts';
import { CREDIT } from '../../../orchestrator/ports/microcredits.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { AppError, unavailable } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestCode } from '../../../testing/billing/codes.ts';
import { createCall } from '../../../testing/call.ts';
import { createTestMember, createTestServices, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { billingOperations } from '../operations.ts';
import { discountedAmount, readDiscount, storeDiscount } from './discount.ts';

const DAY = 86_400_000;
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
const clock = new ManualClock();

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
});
afterAll(() => db.close());
beforeEach(async () => {
  acme = await createTestTenant(services, { slug: `acme-${newId().slice(-8)}` });
});

type Status = Record<string, unknown> & {
  discount: { code: string } | null;
  trial: { ends_at: string | null };
};
type Applied = { kind: string; message: string; status: Status };
/** The operations with some of the provider's methods replaced. */
const callWith = (provider: Partial<PaymentProvider> = {}) =>
  createCall({ ...services, payments: { ...services.payments, ...provider } }, billingOperations);
const call: ReturnType<typeof callWith> = (...given) => callWith()(...given);
const apply = (code: string, tenant = acme) => call(tenant.owner, 'billing_code_apply', { code }) as Promise<Applied>;
const status = () => call(acme.owner, 'billing_status') as Promise<Status>;
const name = () => `C${newId().slice(-12).toUpperCase()}`;
const redeemed = async (code: string) =>
  (await db.prisma.billingCode.findUniqueOrThrow({ where: { productCode_code: { productCode: 'baton', code } } }))
    .redeemed;

async function make(given: Omit<Parameters<typeof createTestCode>[1], 'code'>): Promise<string> {
  const code = name();
  await createTestCode(db.pool, { code, ...given });
  return code;
}

describe('a code that prolongs a trial', () => {
  test('is refused, and not redeemed, while none runs', async () => {
    const code = await make({ kind: 'trial_days', value: 7 });
    await expect(apply(code)).rejects.toMatchObject({ status: 409, code: 'no_running_trial' });
    expect(await redeemed(code)).toBe(0);
    await call(acme.owner, 'billing_trial_start', { plan_code: 'pro' });
    expect(await apply(code)).toMatchObject({ kind: 'trial_days' });
  });

  test('moves the end of the trial and of its credits, once', async () => {
    const code = await make({ kind: 'trial_days', value: 7 });
    await call(acme.owner, 'billing_trial_start', { plan_code: 'pro' });
    const before = Date.parse((await status()).trial.ends_at ?? '');
    const trialCredits = async () =>
      ((await call(acme.owner, 'billing_usage')) as { trial_remaining: number }).trial_remaining;
    const granted = await trialCredits();
    expect(granted).toBeGreaterThan(0);
    const applied = await apply(code);
    expect(Date.parse(applied.status.trial.ends_at ?? '')).toBe(before + 7 * DAY);
    expect(applied.message).toContain('7 days longer');
    await expect(apply(code)).rejects.toMatchObject({ code: 'code_already_used' });
    clock.advance(before + 7 * DAY - 1 - clock.now());
    expect([(await status()).status, await trialCredits()]).toEqual(['trialing', granted]);
    clock.advance(1);
    expect([(await status()).status, await trialCredits()]).toEqual(['active', 0]);
  });

  test('is refused for another plan', async () => {
    const code = await make({ kind: 'trial_days', value: 7, planCodes: ['business'] });
    await call(acme.owner, 'billing_trial_start', { plan_code: 'pro' });
    await expect(apply(code)).rejects.toMatchObject({ code: 'code_not_valid' });
  });
});

describe('a discount', () => {
  test('waits for the next subscription, which then has it', async () => {
    const code = await make({ kind: 'percent', value: 20, months: 3 });
    const applied = await apply(code);
    expect(applied).toMatchObject({ kind: 'percent', status: { discount: { code, value: 20, months: 3 } } });
    const other = await make({ kind: 'percent', value: 90 });
    await expect(apply(other)).rejects.toMatchObject({ status: 409, code: 'discount_present' });
    expect(await redeemed(other)).toBe(0);
    clock.advance(200 * DAY);
    await call(acme.owner, 'billing_subscribe', { plan_code: 'pro' });
    expect((await status()).discount).toMatchObject({ code });
    const { payments } = (await call(acme.owner, 'billing_payment_history')) as { payments: { amount: number }[] };
    const { plans } = (await call(acme.owner, 'billing_plans_list')) as {
      plans: { plan_code: string; amount: number }[];
    };
    const price = plans.find(({ plan_code }) => plan_code === 'pro')?.amount ?? 0;
    expect(payments[0]?.amount).toBe((price * 80) / 100);
  });

  test('for one plan does not apply to another', async () => {
    const code = await make({ kind: 'percent', value: 20, planCodes: ['business'] });
    await apply(code);
    await call(acme.owner, 'billing_subscribe', { plan_code: 'pro' });
    const { payments } = (await call(acme.owner, 'billing_payment_history')) as { payments: { amount: number }[] };
    const validated = await call(acme.owner, 'billing_discount_validate', { code: name(), plan_code: 'pro' });
    expect(payments[0]?.amount).toBe((validated as { amount: number }).amount);
  });

  test('is applied to an existing subscription', async () => {
    await call(acme.owner, 'billing_subscribe', { plan_code: 'pro' });
    const code = await make({ kind: 'amount', value: 300, currency: 'usd' });
    const applied = await apply(code);
    expect(applied.message).toContain('next invoice');
    expect(applied.status.discount).toMatchObject({ code, kind: 'amount', value: 300 });
  });

  test('can be validated before it is redeemed', async () => {
    const code = await make({ kind: 'percent', value: 25, planCodes: ['pro'] });
    const validate = (plan_code: string) => call(acme.owner, 'billing_discount_validate', { code, plan_code });
    const valid = (await validate('pro')) as { amount: number; amount_after: number };
    expect(valid).toMatchObject({ valid: true, discount: { code, kind: 'percent', value: 25 } });
    expect(valid.amount_after).toBe(Math.floor((valid.amount * 75) / 100));
    expect(await validate('business')).toMatchObject({ valid: false, discount: null });
    expect(await validate('free')).toMatchObject({ valid: false });
    expect(await redeemed(code)).toBe(0);
    const credits = await make({ kind: 'credits', value: CREDIT });
    const input = { code: credits, plan_code: 'pro' };
    expect(await call(acme.owner, 'billing_discount_validate', input)).toMatchObject({ valid: false });
    await expect(validate('none')).rejects.toMatchObject({ status: 422, code: 'unknown_plan' });
  });

  test('does not apply in another currency', async () => {
    const code = await make({ kind: 'amount', value: 300, currency: 'eur' });
    const input = { code, plan_code: 'pro' };
    expect(await call(acme.owner, 'billing_discount_validate', input)).toMatchObject({ valid: false });
  });

  test('is rounded in favor of the customer, is never negative, and ends with its months', () => {
    expect(discountedAmount(999, { kind: 'percent', value: 33 })).toBe(669);
    expect(discountedAmount(100, { kind: 'amount', value: 300 })).toBe(0);
    expect(discountedAmount(100, { kind: 'percent', value: 100 })).toBe(0);
    const from = Date.UTC(2026, 0, 31);
    const discount = { code: 'X', kind: 'percent', value: 5, currency: null, months: 1, promotionId: null } as const;
    const stored = storeDiscount(discount, from);
    expect(readDiscount(stored, Date.UTC(2026, 1, 28) - 1)).not.toBeNull();
    expect(readDiscount(stored, Date.UTC(2026, 1, 28))).toBeNull();
    expect(readDiscount({ ...stored, since: null }, Date.UTC(2030, 0, 1))).not.toBeNull();
  });
});

describe('at a provider', () => {
  /** A subscription at a provider other than the manual one. */
  async function atStripe(more: Partial<PaymentProvider>): Promise<ReturnType<typeof callWith>> {
    await call(acme.owner, 'billing_subscribe', { plan_code: 'pro' });
    const data = { provider: 'stripe', providerSubscriptionId: `sub_${newId()}` };
    await db.prisma.subscription.update({ where: { tenantId: acme.tenantId }, data });
    return callWith({ kind: 'stripe', ...more });
  }
  const failAsUnavailable = () =>
    Promise.reject(unavailable('payment_provider_unavailable', 'The payment provider is away.'));

  test('that is unavailable: the same code later continues with the same call, and counts once', async () => {
    const keys: string[] = [];
    const recordKey: PaymentProvider['applyDiscount'] = (...given) => {
      keys.push(given[1].key);
      return services.payments.applyDiscount(...given);
    };
    const code = await make({ kind: 'percent', value: 10, maxRedemptions: 1 });
    const failing = await atStripe({ applyDiscount: (...given) => recordKey(...given).then(failAsUnavailable) });
    const input = { code };
    await expect(failing(acme.owner, 'billing_code_apply', input)).rejects.toMatchObject({ status: 503 });
    expect((await status()).discount).toBeNull();
    const well = callWith({ kind: 'stripe', applyDiscount: recordKey });
    expect(await well(acme.owner, 'billing_code_apply', input)).toMatchObject({ status: { discount: { code } } });
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(await redeemed(code)).toBe(1);
    await expect(well(acme.owner, 'billing_code_apply', input)).rejects.toMatchObject({ code: 'code_already_used' });
    expect(keys).toHaveLength(2);
  });

  test('that refuses: the redemption is reversed', async () => {
    const refused = new AppError(422, 'payment_refused', 'The coupon does not apply.');
    const code = await make({ kind: 'percent', value: 10, maxRedemptions: 1 });
    const refusing = await atStripe({ applyDiscount: () => Promise.reject(refused) });
    await expect(refusing(acme.owner, 'billing_code_apply', { code })).rejects.toBe(refused);
    expect(await redeemed(code)).toBe(0);
    const well = callWith({ kind: 'stripe' });
    expect(await well(acme.owner, 'billing_code_apply', { code })).toMatchObject({ kind: 'percent' });
  });

  test('its own promotion code is used if no code of ours has that name', async () => {
    const promotion = {
      code: 'LAUNCH',
      kind: 'percent',
      value: 30,
      currency: null,
      months: null,
      promotionId: 'promo_1',
    } as const;
    const applied: unknown[] = [];
    const stripe = await atStripe({
      findPromotion: async code => (code === 'LAUNCH' ? promotion : null),
      applyDiscount: (...given) => {
        applied.push(given[1].discount);
        return services.payments.applyDiscount(...given);
      },
    });
    const input = { code: 'launch', plan_code: 'pro' };
    expect(await stripe(acme.owner, 'billing_discount_validate', input)).toMatchObject({ valid: true });
    expect(await stripe(acme.owner, 'billing_code_apply', { code: 'launch' })).toMatchObject({ kind: 'percent' });
    expect(applied).toEqual([promotion]);
    const known = await make({ kind: 'percent', value: 10, disabled: true });
    const believing = callWith({ kind: 'stripe', findPromotion: async () => promotion });
    const refused = believing(acme.owner, 'billing_code_apply', { code: known });
    await expect(refused).rejects.toMatchObject({ code: 'code_not_valid' });
  });
});

describe('guessing', () => {
  const limited = () =>
    createCall(
      { ...services, rateLimiter: createRequestLimiter({ principal: 0, address: 0, signIn: 0, wrongCodes: 3 }, clock) },
      billingOperations,
    );
  const wrong = { status: 422, code: 'code_not_valid' };

  test('is refused for an hour after too many wrong codes of a user or a workspace, even with a valid code', async () => {
    const ask = limited();
    const code = await make({ kind: 'credits', value: CREDIT, maxPerTenant: 10 });
    const colleague = await createTestMember(services, acme, 'tenant_admin', `second@${acme.tenantId}.example.com`);
    const rival = await createTestTenant(services, { slug: `rival-${newId().slice(-8)}` });
    clock.advance(Math.ceil(clock.now() / 3_600_000) * 3_600_000 - clock.now());
    await ask(acme.owner, 'billing_code_apply', { code });
    for (let tried = 0; tried < 2; tried++)
      await expect(ask(acme.owner, 'billing_code_apply', { code: name() })).rejects.toMatchObject(wrong);
    await ask(acme.owner, 'billing_code_apply', { code });
    const guess = { code: name(), plan_code: 'pro' };
    expect(await ask(acme.owner, 'billing_discount_validate', guess)).toMatchObject({ valid: false });
    const limit = { status: 429, code: 'too_many_wrong_codes', headers: { 'Retry-After': '3600' } };
    for (const who of [acme.owner, colleague])
      await expect(ask(who, 'billing_code_apply', { code })).rejects.toMatchObject(limit);
    const subscribe = { plan_code: 'pro', discount_code: name() };
    await expect(ask(acme.owner, 'billing_subscribe', subscribe)).rejects.toMatchObject(limit);
    await ask(rival.owner, 'billing_code_apply', { code });
    clock.advance(3_600_000);
    await ask(acme.owner, 'billing_code_apply', { code });
  });

  test('is also limited for concurrent requests', async () => {
    const ask = limited();
    const tries = await Promise.allSettled(
      Array.from({ length: 20 }, () => ask(acme.owner, 'billing_code_apply', { code: name() })),
    );
    const codes = tries.map(each => (each.status === 'rejected' ? each.reason.code : 'applied'));
    expect(codes.filter(code => code === 'code_not_valid')).toHaveLength(3);
    expect(codes.filter(code => code === 'too_many_wrong_codes')).toHaveLength(17);
  });
});
