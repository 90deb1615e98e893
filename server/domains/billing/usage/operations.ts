import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import * as schema from '../schemas.ts';
import { usageByDimension } from './dimensions.ts';
import { exportUsage, usageHistory } from './history.ts';

const tag = 'Billing';

/** The operations that read usage, line by line and in totals. */
export const usageOperations = [
  operation({
    name: 'billing_usage_history',
    method: 'GET',
    path: '/v1/billing/usage-history',
    status: 200,
    tag,
    feature: 'billing',
    summary: 'List the usage of every attempt, newest first',
    description: `A line for each attempt and action, of the whole workspace. \`from\` is inclusive, \`to\` exclusive. Attempts that were
committed together share \`id\` and \`at\`. \`microcredits\` is \`quantity\` × \`unit_microcredits\`, the price when the attempt ended.`,
    access: 'project_contributor',
    scope: 'billing:read',
    input: schema.ListUsageInput,
    output: schema.ListUsageOutput,
    run: usageHistory,
  }),
  operation({
    name: 'billing_usage_export',
    method: 'GET',
    path: '/v1/billing/usage-history/export',
    status: 200,
    tag,
    feature: 'billing',
    summary: 'Download the usage of every attempt as CSV',
    description:
      'The lines of the usage history, at most 100,000 of them: beyond that 422, and a shorter period will do.',
    access: 'project_contributor',
    scope: 'billing:read',
    input: schema.ExportUsageInput,
    output: z.string(),
    produces: 'text/csv',
    run: exportUsage,
  }),
  operation({
    name: 'billing_usage_dimensions',
    method: 'GET',
    path: '/v1/billing/usage-dimensions',
    status: 200,
    tag,
    feature: 'billing',
    summary: 'Get the usage of credits in a period, by dimension',
    description: `Sums by workflow, action, step type, tool, model, user and day. Without \`from\` and \`to\`: the current billing period.
\`quantity\` is attempts of steps; for actions their own unit, for tools calls, for models tokens. A viewer sees the projects of which they
are a member, others the whole workspace.`,
    access: 'project_viewer',
    scope: 'billing:read',
    input: schema.UsageDimensionsInput,
    output: schema.UsageDimensionsOutput,
    run: usageByDimension,
  }),
] as const;
