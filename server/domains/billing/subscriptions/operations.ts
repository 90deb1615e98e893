import { z } from 'zod';
import { operation } from '../../../operation/operation.ts';
import { billingChange } from '../declarations.ts';
import * as schema from '../schemas.ts';
import { cancel } from './cancel.ts';
import { changePlan } from './change-plan.ts';
import { startTrial } from './start-trial.ts';
import { actionPricing, billingStatus, billingSummary, patchSettings } from './status.ts';
import { convertTrial, subscribe } from './subscribe.ts';

const read = {
  tag: 'Billing',
  feature: 'billing',
  method: 'GET',
  status: 200,
  access: 'project_contributor',
  scope: 'billing:read',
} as const;

/** The operations on trials and subscriptions. */
export const subscriptionOperations = [
  operation({
    ...read,
    name: 'billing_status',
    path: '/v1/billing/status',
    summary: 'Get the state of the subscription and the trial',
    description: 'With the warnings of the current allowance: at 80 % and 100 % of the credits after the last grant.',
    input: z.strictObject({}),
    output: schema.BillingStatus,
    run: billingStatus,
  }),
  operation({
    ...read,
    name: 'billing_summary',
    path: '/v1/billing/summary',
    summary: 'Get plan, balances and usage of the current period, for the workspace and the project',
    input: z.strictObject({}),
    output: schema.BillingSummary,
    run: billingSummary,
  }),
  operation({
    ...read,
    name: 'billing_action_pricing',
    path: '/v1/billing/action-pricing',
    summary: 'Get the price of each billable action on the current plan, in microcredits',
    input: z.strictObject({}),
    output: schema.ActionPricing,
    run: actionPricing,
  }),
  operation({
    ...billingChange,
    name: 'billing_settings_patch',
    method: 'PATCH',
    path: '/v1/billing/settings',
    summary: 'Set what happens to a run whose next step cannot be paid: it fails, or pauses until there are credits',
    input: schema.SettingsInput,
    output: schema.BillingStatus,
    run: patchSettings,
  }),
  operation({
    ...billingChange,
    name: 'billing_subscribe',
    path: '/v1/billing/subscription',
    summary: 'Subscribe to a plan',
    description: `If the answer has a \`checkout\`, the plan starts when the browser has confirmed the payment; otherwise at once. During a trial it ends
the trial. 409: \`already_subscribed\`, \`onboarding_plan\`, \`payment_due\` (an earlier subscription's invoice is open).`,
    input: schema.SubscribeInput,
    output: schema.SubscriptionOutput,
    run: subscribe,
  }),
  operation({
    ...billingChange,
    name: 'billing_change_plan',
    path: '/v1/billing/subscription/change-plan',
    summary: 'Change the plan, or see what that would cost',
    description: `By default an upgrade takes effect now and a downgrade at the period's end. For a change
now, the remaining time is credited at the present plan's price and charged at the new one's, rounded down to the minor unit, and the credits follow
in the same proportion. Changing to the present plan cancels a scheduled change or cancellation. \`preview\` changes nothing. 409: \`not_subscribed\`, \`trialing\`, \`same_plan\`.`,
    input: schema.ChangePlanInput,
    output: schema.ChangePlanOutput,
    run: changePlan,
  }),
  operation({
    ...billingChange,
    name: 'billing_cancel',
    path: '/v1/billing/subscription/cancel',
    summary: "Cancel the subscription or the trial: at the period's end, or now",
    description: `Afterwards the workspace is on the onboarding plan. Nothing is refunded, and the remaining credits of a paid period stay until
its end; a trial's credits end with it. 409 \`not_subscribed\`.`,
    input: schema.CancelInput,
    output: schema.SubscriptionOutput,
    run: cancel,
  }),
  operation({
    ...billingChange,
    name: 'billing_trial_start',
    path: '/v1/billing/trial',
    summary: 'Start the trial of a plan',
    description: `Each workspace has one trial, ever (409 \`trial_used\`). Its credits expire with it; it then ends in the onboarding plan, or, where
the payment provider has a card, in the plan itself. A plan without a trial is 422 \`no_trial\`.`,
    input: schema.StartTrialInput,
    output: schema.SubscriptionOutput,
    run: startTrial,
  }),
  operation({
    ...billingChange,
    name: 'billing_convert_trial',
    path: '/v1/billing/subscription/convert-trial-now',
    summary: 'End the trial now and start paying',
    description:
      'The first period starts with its included credits; the remaining credits of the trial expire. 409 `not_trialing`.',
    input: z.strictObject({}),
    output: schema.SubscriptionOutput,
    run: convertTrial,
  }),
] as const;
