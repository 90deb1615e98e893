import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { resolveDiscount } from '../codes/discount.ts';
import { priceOf } from '../payments/proration.ts';
import type { ValidateDiscountInput, ValidateDiscountOutput } from '../schemas.ts';
import { choosePlan } from '../subscriptions/choose.ts';
import { processDueBilling } from '../subscriptions/process-due.ts';

/**
 * POST /v1/billing/discounts/validate: the price of a period of a plan with a code. `valid: false` for every code
 * without a discount on the plan, which counts as a wrong code. Throws AppError 422 `unknown_plan`, 409 `code_already_used`,
 * 429.
 */
export async function validateDiscount(
  { principal, services }: Context,
  { code, ...choice }: z.output<typeof ValidateDiscountInput>,
): Promise<z.input<typeof ValidateDiscountOutput>> {
  const { tenantId, userId } = principal;
  await processDueBilling(services, tenantId);
  const plan = await choosePlan(services.pool, services.config.billing.productCode, choice);
  const discount = await resolveDiscount(services, { tenantId, userId, code, plan });
  const { amount, currency } = plan;
  if (discount === null) return { valid: false, discount: null, amount, amount_after: amount, currency };
  const { promotionId: _, ...shown } = discount;
  return { valid: true, discount: shown, amount, amount_after: priceOf(plan, discount), currency };
}
