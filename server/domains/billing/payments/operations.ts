import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import * as schema from '../schemas.ts';
import { paymentConfig, topUp } from '../top-ups/top-up.ts';
import { exportPayments, paymentHistory } from './history.ts';

const billing = { tag: 'Billing', feature: 'billing', access: 'project_contributor' } as const;

/** Top-ups and payments. */
export const paymentOperations = [
  operation({
    ...billing,
    name: 'billing_payment_history',
    method: 'GET',
    path: '/v1/billing/payment-history',
    status: 200,
    scope: 'billing:read',
    summary: 'List payments and top-ups, newest first',
    description: 'Amounts are in minor units. `from` is inclusive, `to` exclusive.',
    input: schema.ListPaymentsInput,
    output: schema.ListPaymentsOutput,
    run: paymentHistory,
  }),
  operation({
    ...billing,
    name: 'billing_payments_export',
    method: 'GET',
    path: '/v1/billing/payment-history/export',
    status: 200,
    scope: 'billing:read',
    summary: 'Download payments and top-ups as CSV',
    description: 'At most 100,000: beyond that 422, and a shorter period will do.',
    input: schema.ExportPaymentsInput,
    output: z.string(),
    produces: 'text/csv',
    run: exportPayments,
  }),
  operation({
    ...billing,
    name: 'billing_topup_intent',
    method: 'POST',
    path: '/v1/billing/topups/payg/intent',
    status: 201,
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
