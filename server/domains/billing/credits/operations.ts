import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import * as schema from '../schemas.ts';
import { getBalances, listLedger } from './list.ts';

const tag = 'Billing';

/** The operations that read balances and ledger entries. */
export const ledgerOperations = [
  operation({
    name: 'billing_usage',
    method: 'GET',
    path: '/v1/billing/usage',
    status: 200,
    tag,
    feature: 'billing',
    summary: 'Get the remaining credits',
    description:
      'In microcredits: 1 credit is 1,000,000. They are spent in this order: trial, included, pay-as-you-go; within each, what expires first.',
    access: 'project_contributor',
    scope: 'billing:read',
    input: z.strictObject({}),
    output: schema.Balances,
    run: getBalances,
  }),
  operation({
    name: 'billing_ledger_list',
    method: 'GET',
    path: '/v1/billing/ledger',
    status: 200,
    tag,
    feature: 'billing',
    summary: 'List the ledger entries, newest first',
    description: `Double entry: what an entry adds to its six accounts is 0 together. \`granted\` is where credits come from, \`consumed\` and
\`expired\` where they go. A charge is what attempts have cost since the entry before it, at the latest of an hour; where credits did not suffice, the rest was granted.`,
    access: 'project_contributor',
    scope: 'billing:read',
    input: schema.ListLedgerInput,
    output: schema.ListLedgerOutput,
    run: listLedger,
  }),
] as const;
