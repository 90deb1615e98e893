import { operation } from '../../../operation/operation.ts';
import { billingChange } from '../declarations.ts';
import * as schema from '../schemas.ts';
import { applyCode } from './apply.ts';
import { validateDiscount } from './validate.ts';

/** The operations on billing codes and discounts. */
export const codeOperations = [
  operation({
    ...billingChange,
    name: 'billing_code_apply',
    path: '/v1/billing/codes/apply',
    summary: 'Apply a billing code: credits, a longer trial, or a discount',
    description: `Case does not matter. 422 \`code_not_valid\` is the one answer to a code that is unknown, used up, over, not yet valid or disabled. A
discount applies to the current subscription, or waits for the next one. 409: \`code_already_used\` (by this workspace), \`no_running_trial\`,
\`discount_present\`. After too many wrong codes in an hour: 429. After 503 the same code again goes on where it ended.`,
    input: schema.ApplyCodeInput,
    output: schema.ApplyCodeOutput,
    run: applyCode,
  }),
  operation({
    ...billingChange,
    name: 'billing_discount_validate',
    path: '/v1/billing/discounts/validate',
    summary: 'See what a plan costs with a discount code',
    description: `Changes nothing. \`valid\` is false for every code that gives no discount on that plan, without a reason, and the attempt counts as a
wrong code: after too many in an hour the answer is 429. 409 \`code_already_used\` (by this workspace); 422 \`unknown_plan\`.`,
    input: schema.ValidateDiscountInput,
    output: schema.ValidateDiscountOutput,
    run: validateDiscount,
  }),
] as const;
