import { z } from 'zod';
import { Id, Instant, NameText, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { BILLABLE_ACTIONS } from '../../orchestrator/ports/billable-actions.ts';
import { MAX_MICROCREDITS } from '../../orchestrator/ports/microcredits.ts';
import { TimeZone } from '../analytics/schemas.ts';

/** An integer that JSON represents exactly; 1 credit = 1,000,000 (docs/specification/billing.md#credits). */
export const Microcredits = z.number().int().min(0).max(MAX_MICROCREDITS);
/** The smallest unit of a currency: cents. */
const MinorUnits = z.number().int().min(0);
export const Currency = z.string().regex(/^[a-z]{3}$/, 'must be a currency code in lower case');
const creditKinds = ['grant', 'charge', 'expiry', 'refund', 'reversal'] as const;

// --- Balances and the ledger -----------------------------------------------------------------------------------------

/** Exactly the fields of docs/specification/billing.md#credits. */
export const Balances = z.strictObject({
  trial_remaining: Microcredits,
  included_remaining: Microcredits,
  payg_remaining: Microcredits,
  total_remaining_microcredits: Microcredits,
});

export const LedgerEntry = z.strictObject({
  id: Id,
  kind: z.enum(creditKinds),
  /** The change of each account by the entry; their sum is 0. */
  trial: z.number().int(),
  included: z.number().int(),
  payg: z.number().int(),
  consumed: z.number().int(),
  expired: z.number().int(),
  granted: z.number().int(),
  note: z.string(),
  created_at: Timestamp,
});
const period = {
  from: Instant.optional().meta({ description: 'From this instant on' }),
  to: Instant.optional().meta({ description: 'Before this instant' }),
};
export const ListLedgerInput = z.strictObject({ ...page, ...period, kind: z.enum(creditKinds).optional() });
export const ListLedgerOutput = z.strictObject({ entries: z.array(LedgerEntry), ...nextCursor });

// --- Usage -----------------------------------------------------------------------------------------------------------

/** One line of the metered usage: the quantity of one action that one attempt used. */
export const UsageLine = z.strictObject({
  /** The time of the commit that charged it; several lines may share it. */
  id: Id,
  at: Timestamp,
  action: z.enum(BILLABLE_ACTIONS),
  project_id: Id,
  workflow_id: Id,
  workflow_name: z.string().nullable(),
  run_id: Id,
  step_id: z.string(),
  attempt: z.number().int(),
  step_type: z.string(),
  /** The tool or the model; empty for a step. */
  subject: z.string(),
  /** The person or trigger that started the run. */
  started_by: z.string(),
  quantity: z.number().int(),
  unit_microcredits: Microcredits,
  microcredits: Microcredits,
});
const usageFilters = {
  ...period,
  project_id: Id.optional(),
  workflow_id: Id.optional(),
  run_id: Id.optional(),
  action: z.enum(BILLABLE_ACTIONS).optional(),
  step_type: PlainText(100).optional(),
  subject: PlainText(300).optional(),
  started_by: PlainText(300).optional(),
};
export const ListUsageInput = z.strictObject({ ...page, ...usageFilters });
export const ListUsageOutput = z.strictObject({ usage: z.array(UsageLine), ...nextCursor });
export const ExportUsageInput = z.strictObject(usageFilters);

export const usageDimensions = ['workflow', 'action', 'step_type', 'tool', 'model', 'user', 'day'] as const;
export const UsageDimensionsInput = z.strictObject({
  ...usageFilters,
  by: z.enum(usageDimensions).optional().meta({ description: 'One dimension alone; default: all of them' }),
  time_zone: TimeZone.meta({ description: 'IANA name; determines where days start' }),
});
export const UsageDimensionsOutput = z.strictObject({
  from: Timestamp,
  to: Timestamp,
  time_zone: z.string(),
  total_microcredits: Microcredits,
  dimensions: z.array(
    z.strictObject({
      by: z.enum(usageDimensions),
      /** Most credits first; days in order. At most 100 items; further ones are combined as `other`. */
      items: z.array(
        z.strictObject({ key: z.string(), label: z.string(), quantity: z.number().int(), microcredits: Microcredits }),
      ),
    }),
  ),
});

// --- Plans -----------------------------------------------------------------------------------------------------------

/** A plan for sale (docs/specification/billing.md#plans). */
export const Plan = z.strictObject({
  plan_code: z.string(),
  /** Absent on a free plan. */
  payment_price_id: z.string().optional(),
  amount: MinorUnits,
  currency: Currency,
  interval: z.string(),
  interval_count: z.number().int(),
  product_name: z.string(),
  trial_enabled: z.boolean(),
  trial_requires_card: z.boolean(),
  trial_days: z.number().int(),
  trial_credits_granted: Microcredits,
  onboarding_default: z.boolean(),
  self_serve_onboarding: z.boolean(),
  included_credits_granted: Microcredits,
});
export const ListPlansOutput = z.strictObject({ plans: z.array(Plan) });

export const ActionPricing = z.strictObject({
  plan_code: z.string(),
  prices: z.array(
    z.strictObject({
      action: z.enum(BILLABLE_ACTIONS),
      /** The unit: `step attempt`, `tool call`, `token`. */
      unit: z.string(),
      microcredits: Microcredits,
    }),
  ),
});

// --- Subscription ----------------------------------------------------------------------------------------------------

const subscriptionStatuses = ['active', 'trialing', 'past_due', 'incomplete', 'cancelled'] as const;
const paymentProviders = ['manual', 'stripe'] as const;
export const whenExhausted = ['fail', 'pause'] as const;

/** The data that the browser needs to confirm with the provider's own form; card data never reaches Baton. */
export const Checkout = z.strictObject({
  provider: z.enum(paymentProviders),
  kind: z.enum(['payment', 'setup']),
  client_secret: z.string(),
});
const CreditWarning = z.strictObject({
  /** The percentage of the allowance that is used. */
  percent: z.union([z.literal(80), z.literal(100)]),
  at: Timestamp,
});
export const Discount = z.strictObject({
  code: z.string(),
  kind: z.enum(['percent', 'amount']),
  /** Percent, or an amount in minor units. */
  value: z.number().int(),
  currency: Currency.nullable(),
  /** Null: until the subscription ends. */
  months: z.number().int().nullable(),
});
export const BillingStatus = z.strictObject({
  provider: z.enum(paymentProviders),
  status: z.enum(subscriptionStatuses),
  plan_code: z.string(),
  product_name: z.string(),
  current_period_start: Timestamp,
  current_period_end: Timestamp,
  cancel_at_period_end: z.boolean(),
  pending_plan_code: z.string().nullable(),
  discount: Discount.nullable(),
  trial: z.strictObject({
    /** Whether a trial can still be started: each workspace has one. */
    available: z.boolean(),
    plan_code: z.string().nullable(),
    started_at: Timestamp.nullable(),
    ends_at: Timestamp.nullable(),
  }),
  when_exhausted: z.enum(whenExhausted),
  /** Whether anything is refused for lack of credits; false unless `BATON_BILLING` is `on`. */
  enforced: z.boolean(),
  /** The credits after the last grant, in microcredits, to which the warnings refer. */
  allowance: Microcredits,
  /** The warnings of the current allowance, oldest first. */
  warnings: z.array(CreditWarning),
});
export const BillingSummary = z.strictObject({
  tenant: z.strictObject({
    id: z.string(),
    name: z.string(),
    plan_code: z.string(),
    product_name: z.string(),
    status: z.enum(subscriptionStatuses),
    balances: Balances,
    /** The current period, and the consumption in it. */
    period_start: Timestamp,
    period_end: Timestamp,
    consumed_microcredits: Microcredits,
  }),
  project: z.strictObject({ id: Id, name: z.string(), consumed_microcredits: Microcredits }),
});

/** Exactly one of the two; `payment_price_id` as in `GET /v1/billing/plans`. */
const planChoice = { plan_code: PlainText(100).optional(), payment_price_id: PlainText(200).optional() };
const oneChoice = (input: { plan_code?: string | undefined; payment_price_id?: string | undefined }) =>
  (input.plan_code === undefined) !== (input.payment_price_id === undefined);
const choose = { path: ['plan_code'], message: 'give either plan_code or payment_price_id' };
/** The rule of `oneChoice` as JSON Schema, for the description of the API. */
const choices = (['plan_code', 'payment_price_id'] as const).map((chosen, at, both) => ({
  title: `By ${chosen}`,
  required: [chosen],
  not: { required: [both[1 - at]] },
}));
const BillingCodeText = NameText(64);

export const StartTrialInput = z.strictObject(planChoice).refine(oneChoice, choose).meta({ oneOf: choices });
export const SubscribeInput = z
  .strictObject({ ...planChoice, discount_code: BillingCodeText.optional() })
  .refine(oneChoice, choose)
  .meta({ oneOf: choices });
export const ChangePlanInput = z
  .strictObject({
    ...planChoice,
    /** Default: an upgrade now, a downgrade at the period's end. */
    when: z.enum(['now', 'period_end']).optional(),
    /** Returns only the cost, without changing anything. */
    preview: z.boolean().default(false),
    discount_code: BillingCodeText.optional(),
  })
  .refine(oneChoice, choose)
  .meta({ oneOf: choices });
export const CancelInput = z.strictObject({ at_period_end: z.boolean().default(true) });
export const SettingsInput = z.strictObject({ when_exhausted: z.enum(whenExhausted) });

export const SubscriptionOutput = z.strictObject({ status: BillingStatus, checkout: Checkout.nullable() });
export const ChangePreview = z.strictObject({
  effective_at: Timestamp,
  currency: Currency,
  /** The amount to pay now, in minor units; the rest of the current period is credited. */
  amount_due: MinorUnits,
  lines: z.array(z.strictObject({ description: z.string(), amount: z.number().int() })),
  included_credits_granted: Microcredits,
});
/** `preview` has the cost. If only a preview was requested, everything else is unchanged. */
export const ChangePlanOutput = z.strictObject({
  preview: ChangePreview,
  status: BillingStatus,
  checkout: Checkout.nullable(),
});

// --- Payments --------------------------------------------------------------------------------------------------------

export const Payment = z.strictObject({
  id: Id,
  kind: z.enum(['topup', 'subscription']),
  status: z.enum(['pending', 'succeeded', 'failed', 'cancelled', 'refunded']),
  amount: MinorUnits,
  currency: Currency,
  credits_microcredits: Microcredits,
  refunded_amount: MinorUnits,
  description: z.string(),
  provider: z.enum(paymentProviders),
  invoice_url: z.string().nullable(),
  created_at: Timestamp,
  settled_at: Timestamp.nullable(),
});
const paymentFilters = { ...period, kind: z.enum(['topup', 'subscription']).optional() };
export const ListPaymentsInput = z.strictObject({ ...page, ...paymentFilters });
export const ListPaymentsOutput = z.strictObject({ payments: z.array(Payment), ...nextCursor });
export const ExportPaymentsInput = z.strictObject(paymentFilters);

export const TopUpInput = z.strictObject({
  amount: MinorUnits.min(1).meta({ description: 'Minor units: 500 is 5.00' }),
});
export const TopUpOutput = z.strictObject({
  payment: Payment,
  checkout: Checkout.nullable(),
  /** The customer's next step, if the browser has nothing to confirm. */
  instructions: z.string().nullable(),
});

export const PaymentConfig = z.strictObject({
  provider: z.enum(paymentProviders),
  publishable_key: z.string().nullable(),
  currency: Currency,
  topup: z.strictObject({
    minimum_amount: MinorUnits,
    maximum_amount: MinorUnits,
    /** The microcredits that one minor unit buys. */
    microcredits_per_minor_unit: Microcredits,
  }),
});

// --- Codes -----------------------------------------------------------------------------------------------------------

export const ApplyCodeInput = z.strictObject({ code: BillingCodeText });
export const ApplyCodeOutput = z.strictObject({
  kind: z.enum(['credits', 'trial_days', 'percent', 'amount']),
  /** The effect of the code, as a sentence. */
  message: z.string(),
  credits_granted: Microcredits,
  status: BillingStatus,
});
export const ValidateDiscountInput = z
  .strictObject({ code: BillingCodeText, ...planChoice })
  .refine(oneChoice, choose)
  .meta({ oneOf: choices });
export const ValidateDiscountOutput = z.strictObject({
  valid: z.boolean(),
  discount: Discount.nullable(),
  /** The price of a period of that plan, in minor units. */
  amount: MinorUnits,
  amount_after: MinorUnits,
  currency: Currency,
});
