import type { BillingCode } from '../../domains/billing/codes/code.ts';
import { insertCode } from '../../domains/billing/codes/store.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';

/** Creates a code of the product `baton`, without limits except for the given fields. An existing code of that name is unchanged. */
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
