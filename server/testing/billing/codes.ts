import type { BillingCode } from '../../domains/billing/codes/code.ts';
import { insertCode } from '../../domains/billing/codes/store.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';

/** A code of the product `baton` without limits, with what is given instead; where there is one of that name, it stays as it is. */
export async function createTestCode(
  db: Queryable,
  given: Partial<BillingCode> & Pick<BillingCode, 'code' | 'kind' | 'value'>,
): Promise<void> {
  await insertCode(db, {
    productCode: 'baton',
    currency: null,
    planCodes: [],
    creditsExpireDays: null,
    months: null,
    maxRedemptions: null,
    maxPerTenant: 1,
    redeemed: 0,
    startsAt: null,
    endsAt: null,
    providerPromotionId: null,
    disabled: false,
    createdBy: 'test',
    createdAt: 0,
    ...given,
  });
}
