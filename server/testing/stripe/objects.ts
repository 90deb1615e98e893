import type Stripe from 'stripe';

/**
 * Stripe's objects as its servers send them, with all fields of the pinned version: the compiler compares each with the
 * SDK's types. References are ids; requested expansions are inserted when an object is sent.
 */
const automaticTax = { disabled_reason: null, enabled: false, liability: null, provider: null, status: null } as const;
const billingMode = { flexible: { proration_discounts: 'included' }, type: 'flexible' } as const;

export function list<T>(data: T[], url: string, hasMore = false): Stripe.ApiList<T> {
  return { object: 'list', data, has_more: hasMore, url };
}

export function customerObject(parts: {
  id: string;
  created: number;
  email: string | null;
  name: string | null;
  metadata: Record<string, string>;
}): Stripe.Customer {
  return {
    ...parts,
    object: 'customer',
    balance: 0,
    currency: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    invoice_prefix: parts.id.slice(-8).toUpperCase(),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
}

/** day, week, month, year. */
export type Recurrence = { interval: string; interval_count: number };

export function priceObject(parts: {
  id: string;
  created: number;
  product: string;
  currency: string;
  unit_amount: number;
  recurring: Recurrence;
}): Stripe.Price {
  const { recurring, ...rest } = parts;
  return {
    ...rest,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: {},
    nickname: null,
    recurring: { ...recurring, meter: null, trial_period_days: null, usage_type: 'licensed' },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: 'recurring',
    unit_amount_decimal: null,
  };
}

/** Returns a price in its former form, which items still contain. */
function planObject(price: Stripe.Price): Stripe.Plan {
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: null,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: false,
    metadata: {},
    meter: null,
    nickname: null,
    product: typeof price.product === 'string' ? price.product : price.product.id,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  };
}

export function itemObject(parts: {
  id: string;
  created: number;
  subscription: string;
  price: Stripe.Price;
  from: number;
  to: number;
}): Stripe.SubscriptionItem {
  const { from, to, ...rest } = parts;
  return {
    ...rest,
    object: 'subscription_item',
    billing_thresholds: null,
    current_period_start: from,
    current_period_end: to,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planObject(parts.price),
    quantity: 1,
    tax_rates: [],
  };
}

export function subscriptionObject(parts: {
  id: string;
  created: number;
  customer: string;
  currency: string;
  status: Stripe.Subscription.Status;
  item: Stripe.SubscriptionItem;
  metadata: Record<string, string>;
  trialEnd: number | null;
  missingPaymentMethod: Stripe.Subscription.TrialSettings.EndBehavior.MissingPaymentMethod;
  saveDefault: Stripe.Subscription.PaymentSettings.SaveDefaultPaymentMethod;
}): Stripe.Subscription {
  const { item, trialEnd, missingPaymentMethod, saveDefault, ...rest } = parts;
  return {
    ...rest,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: item.current_period_end,
    billing_cycle_anchor_config: null,
    billing_mode: billingMode,
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: list([item], `/v1/subscription_items?subscription=${parts.id}`),
    latest_invoice: null,
    livemode: false,
    managed_payments: null,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: saveDefault,
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: parts.created,
    test_clock: null,
    transfer_data: null,
    trial_end: trialEnd,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: missingPaymentMethod } },
    trial_start: trialEnd === null ? null : parts.created,
  };
}

export type Line = {
  description: string;
  amount: number;
  price: Stripe.Price;
  from: number;
  to: number;
  proration: boolean;
};

/** Fields that our invoices never have. */
const unusedOfInvoice = {
  account_tax_ids: null,
  application: null,
  automatically_finalizes_at: null,
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_email: null,
  customer_name: null,
  customer_phone: null,
  customer_shipping: null,
  default_payment_method: null,
  default_source: null,
  description: null,
  due_date: null,
  footer: null,
  from_invoice: null,
  last_finalization_error: null,
  latest_revision: null,
  next_payment_attempt: null,
  on_behalf_of: null,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  statement_descriptor: null,
  test_clock: null,
} as const;

export function invoiceObject(parts: {
  id: string;
  created: number;
  customer: string;
  currency: string;
  subscription: Stripe.Subscription;
  reason: Stripe.Invoice.BillingReason;
  lines: Line[];
  discount: number;
  number: string;
}): Stripe.Invoice {
  const { id, created, customer, currency, subscription, reason, lines, discount, number } = parts;
  const subtotal = lines.reduce((sum, line) => sum + line.amount, 0);
  const total = subtotal - discount;
  return {
    ...unusedOfInvoice,
    id,
    object: 'invoice',
    account_country: 'US',
    account_name: 'Testing',
    amount_due: Math.max(0, total),
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: Math.max(0, total),
    amount_shipping: 0,
    attempt_count: 0,
    attempted: false,
    auto_advance: false,
    automatic_tax: automaticTax,
    billing_reason: reason,
    collection_method: 'charge_automatically',
    created,
    currency,
    customer,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_tax_rates: [],
    discounts: [],
    effective_at: created,
    ending_balance: 0,
    hosted_invoice_url: `https://invoice.stripe.com/i/${id}`,
    invoice_pdf: `https://pay.stripe.com/invoice/${id}/pdf`,
    issuer: { type: 'self' },
    lines: list(
      lines.map((line, at) => lineObject(`il_${id}_${at}`, id, subscription, line)),
      `/v1/invoices/${id}/lines`,
    ),
    livemode: false,
    metadata: {},
    number,
    parent: {
      quote_details: null,
      subscription_details: { metadata: { ...subscription.metadata }, subscription: subscription.id },
      type: 'subscription_details',
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: created,
    period_start: created,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    starting_balance: 0,
    status: 'open',
    status_transitions: { finalized_at: created, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    total,
    total_discount_amounts: [],
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: created,
  };
}

function lineObject(
  id: string,
  invoice: string,
  subscription: Stripe.Subscription,
  line: Line,
): Stripe.InvoiceLineItem {
  const { price } = line;
  return {
    id,
    object: 'line_item',
    amount: line.amount,
    currency: price.currency,
    description: line.description,
    discount_amounts: [],
    discountable: !line.proration,
    discounts: [],
    invoice,
    livemode: false,
    metadata: {},
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: line.proration,
        proration_details: { credited_items: null },
        subscription: subscription.id,
        subscription_item: subscription.items.data[0]?.id ?? '',
      },
      type: 'subscription_item_details',
    },
    period: { start: line.from, end: line.to },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: price.id, product: typeof price.product === 'string' ? price.product : price.product.id },
      type: 'price_details',
      unit_amount_decimal: null,
    },
    quantity: 1,
    quantity_decimal: null,
    subscription: subscription.id,
    subtotal: line.amount,
    taxes: [],
  };
}

export function paymentIntentObject(parts: {
  id: string;
  created: number;
  amount: number;
  currency: string;
  customer: string | null;
  description: string | null;
  metadata: Record<string, string>;
  automatic: boolean;
}): Stripe.PaymentIntent {
  const { automatic, ...rest } = parts;
  return {
    ...rest,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: automatic ? { allow_redirects: 'always', enabled: true } : null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${parts.id}_secret_${parts.id.slice(3)}`,
    confirmation_method: 'automatic',
    customer_account: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
  };
}
