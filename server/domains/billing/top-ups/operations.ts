import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import * as schema from '../schemas.ts';
import { paymentConfig, topUp } from './top-up.ts';

/** The operations on top-ups, and on the settings that the browser needs for them. */
export const topUpOperations = [
  operation({
    name: 'billing_topup_intent',
    method: 'POST',
    path: '/v1/billing/topups/payg/intent',
    status: 201,
    tag: 'Billing',
    feature: 'billing',
    access: 'project_contributor',
    scope: 'billing:manage',
    summary: 'Top up pay-as-you-go credits',
    description: `Answers with a payment that waits to be confirmed: in the browser with the provider's own form where \`checkout\` is given, else
as \`instructions\` say. The credits, which never expire, are there as soon as it is.`,
    input: schema.TopUpInput,
    output: schema.TopUpOutput,
    errors: [409, 503],
    run: topUp,
  }),
  operation({
    name: 'payment_config',
    method: 'GET',
    path: '/v1/config/payment',
    status: 200,
    tag: 'Billing',
    feature: 'billing',
    access: 'member',
    scope: 'billing:read',
    summary: 'Get the payment settings of this deployment',
    description:
      'The publishable key of the payment provider, for its own form in the browser; null where an operator confirms payments.',
    input: z.strictObject({}),
    output: schema.PaymentConfig,
    run: paymentConfig,
  }),
] as const;
