import type Stripe from 'stripe';

/** Returns a SetupIntent as Stripe's servers send it. The other functions return the other objects that move money. */
export function setupIntentObject(parts: { id: string; created: number; customer: string }): Stripe.SetupIntent {
  return {
    ...parts,
    object: 'setup_intent',
    allowed_payment_method_types: null,
    application: null,
    automatic_payment_methods: null,
    cancellation_reason: null,
    client_secret: `${parts.id}_secret_${parts.id.slice(5)}`,
    customer_account: null,
    description: null,
    excluded_payment_method_types: null,
    flow_directions: null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: false,
    managed_payments: null,
    mandate: null,
    metadata: {},
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ['card'],
    single_use_mandate: null,
    status: 'requires_payment_method',
    usage: 'off_session',
  };
}

export function chargeObject(intent: Stripe.PaymentIntent, parts: { id: string; created: number }): Stripe.Charge {
  const customer = typeof intent.customer === 'string' ? intent.customer : null;
  return {
    ...parts,
    object: 'charge',
    amount: intent.amount,
    amount_captured: intent.amount,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    calculated_statement_descriptor: 'TESTING',
    captured: true,
    currency: intent.currency,
    customer,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: {},
    livemode: false,
    metadata: { ...intent.metadata },
    on_behalf_of: null,
    outcome: null,
    paid: true,
    payment_intent: intent.id,
    payment_method: typeof intent.payment_method === 'string' ? intent.payment_method : null,
    payment_method_details: null,
    receipt_email: null,
    receipt_number: null,
    receipt_url: `https://pay.stripe.com/receipts/${parts.id}`,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'succeeded',
    transfer_data: null,
    transfer_group: null,
  };
}

export function refundObject(
  charge: Stripe.Charge,
  parts: { id: string; created: number; amount: number },
): Stripe.Refund {
  return {
    ...parts,
    object: 'refund',
    balance_transaction: null,
    charge: charge.id,
    currency: charge.currency,
    customer: typeof charge.customer === 'string' ? charge.customer : null,
    customer_account: null,
    metadata: {},
    payment_intent: typeof charge.payment_intent === 'string' ? charge.payment_intent : null,
    payment_method: charge.payment_method,
    reason: null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  };
}

export function invoicePaymentObject(
  invoice: Stripe.Invoice,
  intentId: string,
  parts: { id: string; created: number },
): Stripe.InvoicePayment {
  return {
    ...parts,
    object: 'invoice_payment',
    amount_paid: null,
    amount_requested: invoice.amount_due,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intentId, type: 'payment_intent' },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  };
}

export type CouponTerms = {
  percent_off: number | null;
  amount_off: number | null;
  currency: string | null;
  duration: Stripe.Coupon.Duration;
  duration_in_months: number | null;
  name: string | null;
};

export function couponObject(
  parts: CouponTerms & { id: string; created: number; metadata: Record<string, string> },
): Stripe.Coupon {
  return {
    ...parts,
    object: 'coupon',
    livemode: false,
    max_redemptions: null,
    redeem_by: null,
    times_redeemed: 0,
    valid: true,
  };
}

export function promotionCodeObject(parts: {
  id: string;
  created: number;
  code: string;
  coupon: string;
  expires_at: number | null;
}): Stripe.PromotionCode {
  const { coupon, ...rest } = parts;
  return {
    ...rest,
    object: 'promotion_code',
    active: true,
    customer: null,
    customer_account: null,
    livemode: false,
    max_redemptions: null,
    metadata: {},
    promotion: { coupon, type: 'coupon' },
    restrictions: { first_time_transaction: false, minimum_amount: null, minimum_amount_currency: null },
    times_redeemed: 0,
  };
}

export function discountObject(parts: {
  id: string;
  start: number;
  end: number | null;
  coupon: string;
  promotion_code: string | null;
  customer: string;
  subscription: string;
}): Stripe.Discount {
  const { coupon, ...rest } = parts;
  return {
    ...rest,
    object: 'discount',
    checkout_session: null,
    customer_account: null,
    invoice: null,
    invoice_item: null,
    source: { coupon, type: 'coupon' },
    subscription_item: null,
  };
}

export function schedulePhase(parts: {
  price: string;
  currency: string;
  start_date: number;
  end_date: number;
  trial_end: number | null;
  discounts: Stripe.SubscriptionSchedule.Phase.Discount[];
}): Stripe.SubscriptionSchedule.Phase {
  const { price, ...rest } = parts;
  return {
    ...rest,
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    invoice_settings: null,
    items: [{ billing_thresholds: null, discounts: [], metadata: {}, plan: price, price, quantity: 1, tax_rates: [] }],
    metadata: {},
    on_behalf_of: null,
    proration_behavior: 'none',
    transfer_data: null,
  };
}

export function scheduleObject(parts: {
  id: string;
  created: number;
  customer: string;
  subscription: string;
  phases: Stripe.SubscriptionSchedule.Phase[];
}): Stripe.SubscriptionSchedule {
  const [present] = parts.phases;
  return {
    ...parts,
    object: 'subscription_schedule',
    application: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    canceled_at: null,
    completed_at: null,
    current_phase: present ? { start_date: present.start_date, end_date: present.end_date } : null,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      },
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: 'release',
    livemode: false,
    metadata: {},
    pause_schedules: [],
    released_at: null,
    released_subscription: null,
    status: 'active',
    test_clock: null,
  };
}
