import fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { CREDIT } from '../../../orchestrator/ports/microcredits.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { AppError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestCode } from '../../../testing/billing/codes.ts';
import { createCall } from '../../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { codeNotValid } from '../codes/refusals.ts';
import { billingOperations } from '../operations.ts';

const DAY = 86_400_000;
let db: TestDatabase;
let services: Services;
let call: ReturnType<typeof createCall<typeof billingOperations>>;
let acme: TestTenant;
let rival: TestTenant;
const clock = new ManualClock();
const notifiedTenants: string[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  const plain = createTestServices(db, { clock });
  const orchestrator = {
    ...plain.orchestrator,
    creditsChanged: (tenantId: string) => void notifiedTenants.push(tenantId),
  };
  services = { ...plain, orchestrator };
  call = createCall(services, billingOperations);
});
afterAll(() => db.close());
beforeEach(async () => {
  acme = await createTestTenant(services, { slug: `acme-${newId().slice(-8)}` });
  rival = await createTestTenant(services, { slug: `rival-${newId().slice(-8)}` });
  notifiedTenants.length = 0;
});

type Applied = { kind: string; message: string; credits_granted: number; status: Record<string, unknown> };
const apply = (code: string, { owner } = acme) => call(owner, 'billing_code_apply', { code }) as Promise<Applied>;
const payg = async ({ owner } = acme) =>
  ((await call(owner, 'billing_usage')) as { payg_remaining: number }).payg_remaining;
const redemptionsOf = async (code: string) =>
  (await db.prisma.billingCode.findUniqueOrThrow({ where: { productCode_code: { productCode: 'baton', code } } }))
    .redeemed;
const newCode = () => `C${newId().slice(-12).toUpperCase()}`;

describe('credits', () => {
  test('are granted once, regardless of case and spaces, and expire as the code defines', async () => {
    const code = newCode();
    await createTestCode(db.pool, { code, kind: 'credits', value: 3 * CREDIT, creditsExpireDays: 10 });
    const applied = await apply(`  ${code.toLowerCase()} `);
    expect(applied).toMatchObject({ kind: 'credits', credits_granted: 3 * CREDIT });
    expect(applied.message).toBe('3 credits were added. They expire in 10 days.');
    expect(notifiedTenants).toContain(acme.tenantId);
    expect(await payg()).toBe(3 * CREDIT);
    await expect(apply(code)).rejects.toMatchObject({ status: 409, code: 'code_already_used' });
    expect([await payg(), await redemptionsOf(code)]).toEqual([3 * CREDIT, 1]);
    clock.advance(10 * DAY);
    expect(await payg()).toBe(0);
  });

  test('of a code for several uses are granted up to the workspace’s limit', async () => {
    const code = newCode();
    await createTestCode(db.pool, { code, kind: 'credits', value: CREDIT, maxPerTenant: 2 });
    await apply(code);
    await apply(code);
    await expect(apply(code)).rejects.toMatchObject({ code: 'code_already_used' });
    expect(await payg()).toBe(2 * CREDIT);
  });

  test('report a code that this workspace has used, even if it is used up, but not the use by others', async () => {
    const code = newCode();
    await createTestCode(db.pool, { code, kind: 'credits', value: CREDIT, maxRedemptions: 1 });
    await apply(code);
    await expect(apply(code)).rejects.toMatchObject({ code: 'code_already_used' });
    await expect(apply(code, rival)).rejects.toMatchObject({ code: 'code_not_valid' });
  });
});

describe('limits', () => {
  test('of 100 concurrent redemptions, the remaining 3 succeed', async () => {
    const code = newCode();
    await createTestCode(db.pool, {
      code,
      kind: 'credits',
      value: CREDIT,
      maxRedemptions: 5,
      redeemed: 2,
      maxPerTenant: 100,
    });
    const tries = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => apply(code, index % 2 ? acme : rival)),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const each of tries)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ status: 422, code: 'code_not_valid' });
    expect([await redemptionsOf(code), (await payg(acme)) + (await payg(rival))]).toEqual([5, 3 * CREDIT]);
  });

  test('hold for any concurrent redemptions', async () => {
    const tenants = [acme, rival];
    await fc.assert(
      fc.asyncProperty(
        fc.record({ max: fc.integer({ min: 1, max: 6 }), each: fc.integer({ min: 1, max: 4 }) }),
        fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 12 }),
        async ({ max, each }, order) => {
          const code = newCode();
          await createTestCode(db.pool, {
            code,
            kind: 'credits',
            value: CREDIT,
            maxRedemptions: max,
            maxPerTenant: each,
          });
          const before = await Promise.all(tenants.map(tenant => payg(tenant)));
          const tries = await Promise.allSettled(order.map(index => apply(code, tenants[index])));
          const gained = await Promise.all(
            tenants.map(async (tenant, index) => (await payg(tenant)) - (before[index] ?? 0)),
          );
          const wanted = tenants.map((_, index) => Math.min(each, order.filter(one => one === index).length));
          const succeeded = tries.filter(({ status }) => status === 'fulfilled').length;
          expect(succeeded).toBe(
            Math.min(
              max,
              wanted.reduce((sum, one) => sum + one, 0),
            ),
          );
          expect(gained.reduce((sum, one) => sum + one, 0)).toBe(succeeded * CREDIT);
          for (const [index, one] of gained.entries()) expect(one).toBeLessThanOrEqual((wanted[index] ?? 0) * CREDIT);
          expect(await redemptionsOf(code)).toBe(succeeded);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('are enforced by the database too', async () => {
    const code = newCode();
    await createTestCode(db.pool, { code, kind: 'credits', value: 1, maxRedemptions: 1, redeemed: 1 });
    await expect(db.pool.query('UPDATE billing_codes SET redeemed = 2 WHERE code = $1', [code])).rejects.toThrow(
      'billing_codes_limit',
    );
  });
});

describe('one answer', () => {
  const createUnusableCodes = async (): Promise<Record<string, string>> => {
    const made = {
      'used up': { maxRedemptions: 1, redeemed: 1 },
      over: { endsAt: clock.now() },
      'not yet valid': { startsAt: clock.now() + 1 },
      disabled: { disabled: true },
      'of another product': { productCode: 'other' },
      'of another plan': { planCodes: ['business'] },
    };
    const codes: Record<string, string> = { unknown: newCode() };
    for (const [why, given] of Object.entries(made)) {
      const code = newCode();
      await createTestCode(db.pool, { code, kind: 'credits', value: CREDIT, ...given });
      codes[why] = code;
    }
    return codes;
  };

  test('for every unusable code, and nothing is redeemed', async () => {
    const codes = await createUnusableCodes();
    const { status, code, message, headers, details } = codeNotValid();
    expect([status, code]).toEqual([422, 'code_not_valid']);
    for (const [why, each] of Object.entries(codes)) {
      const error = await apply(each).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error, why).toBeInstanceOf(AppError);
      expect({ ...(error as AppError) }, why).toEqual({ ...codeNotValid() });
      expect((error as AppError).message).toBe(message);
      expect([headers, details]).toEqual([undefined, undefined]);
      const validated = await call(acme.owner, 'billing_discount_validate', { code: each, plan_code: 'pro' });
      expect(validated, why).toMatchObject({ valid: false, discount: null });
    }
    expect(await db.prisma.billingCodeRedemption.count({ where: { tenantId: acme.tenantId } })).toBe(0);
  });

  test('after the same work: the same queries, and as many calls of the provider', async () => {
    const codes = await createUnusableCodes();
    const work: string[] = [];
    const payments = Object.assign(Object.create(services.payments), {
      findPromotion: async () => {
        work.push('provider');
        return null;
      },
    });
    const counted = createCall({ ...services, pool: recordingPool(db.pool, work), payments }, billingOperations);
    // A paid plan, to which the provider's own codes could apply.
    await call(acme.owner, 'billing_subscribe', { plan_code: 'pro' });
    const done = new Map<string, string>();
    for (const [why, code] of Object.entries(codes)) {
      await counted(acme.owner, 'billing_status');
      work.length = 0;
      await expect(counted(acme.owner, 'billing_code_apply', { code })).rejects.toMatchObject({
        code: 'code_not_valid',
      });
      done.set(why, work.join('\n'));
    }
    expect(done.get('unknown')).toContain('provider');
    for (const why of ['used up', 'over', 'not yet valid', 'disabled', 'of another product'])
      expect(done.get(why), why).toBe(done.get('unknown'));
    expect(done.get('of another plan')).toContain('provider');
  });
});

/** Returns a pool that records every query. */
function recordingPool(real: Pool, work: string[]): Pool {
  return new Proxy(real, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property !== 'query') return value.bind(target);
      return (query: string, ...rest: unknown[]) => {
        work.push(query.replace(/\s+/g, ' '));
        return value.call(target, query, ...rest);
      };
    },
  });
}
