import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import { ListPlansOutput } from '../schemas.ts';
import { listPlansForSale } from './list.ts';

/** The operations that list the plans for sale. */
export const planOperations = [
  operation({
    name: 'billing_plans_list',
    method: 'GET',
    path: '/v1/billing/plans',
    status: 200,
    tag: 'Billing',
    feature: 'billing',
    access: 'project_contributor',
    scope: 'billing:read',
    summary: 'List the plans that can be subscribed to',
    description: `Those of the deployment's product, in the order of its catalog. Amounts are in minor units of the currency, credits in
microcredits (1 credit = 1,000,000). \`payment_price_id\` is absent on a free plan.`,
    input: z.strictObject({}),
    output: ListPlansOutput,
    run: listPlansForSale,
  }),
] as const;
