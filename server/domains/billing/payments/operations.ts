import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import * as schema from '../schemas.ts';
import { exportPayments, paymentHistory } from './history.ts';

const billing = { tag: 'Billing', feature: 'billing', access: 'project_contributor' } as const;

/** The operations on the history of payments. */
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
] as const;
