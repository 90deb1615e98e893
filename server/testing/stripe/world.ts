import type Stripe from 'stripe';
import type { Recurrence } from './objects.ts';

/** An error that Stripe answers instead of an object. */
export class StripeFault extends Error {
  readonly status: number;
  readonly error: Record<string, unknown>;
  constructor(status: number, error: Record<string, unknown> & { type: string; message: string }) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

export const invalidRequest = (message: string, more: { param?: string; code?: string } = {}, status = 400) =>
  new StripeFault(status, { type: 'invalid_request_error', message, ...more });

/** How a card behaves: paid at once, after the bank's own page (3DS), or never. */
export type CardBehaviour = 'ok' | 'requires_action' | 'declined';

export type StoredEvent = {
  id: string;
  object: 'event';
  api_version: string;
  created: number;
  data: { object: unknown };
  livemode: false;
  pending_webhooks: number;
  request: { id: string | null; idempotency_key: string | null };
  type: string;
};

const prefixes = {
  customers: 'cus',
  subscriptions: 'sub',
  invoices: 'in',
  invoicePayments: 'inpay',
  paymentIntents: 'pi',
  setupIntents: 'seti',
  charges: 'ch',
  refunds: 're',
  coupons: 'coupon',
  promotionCodes: 'promo',
  discounts: 'di',
  schedules: 'sub_sched',
  prices: 'price',
} as const;

/** All that a Stripe account holds, and its time. Objects are kept whole; what they refer to stands in them by its id. */
export class StripeWorld {
  readonly customers = new Map<string, Stripe.Customer>();
  readonly prices = new Map<string, Stripe.Price>();
  readonly subscriptions = new Map<string, Stripe.Subscription>();
  readonly invoices = new Map<string, Stripe.Invoice>();
  readonly invoicePayments = new Map<string, Stripe.InvoicePayment>();
  readonly paymentIntents = new Map<string, Stripe.PaymentIntent>();
  readonly setupIntents = new Map<string, Stripe.SetupIntent>();
  readonly charges = new Map<string, Stripe.Charge>();
  readonly refunds = new Map<string, Stripe.Refund>();
  readonly coupons = new Map<string, Stripe.Coupon>();
  readonly promotionCodes = new Map<string, Stripe.PromotionCode>();
  readonly discounts = new Map<string, Stripe.Discount>();
  readonly schedules = new Map<string, Stripe.SubscriptionSchedule>();
  /** Each stored card, by the id of its payment method. */
  readonly cards = new Map<string, CardBehaviour>();
  readonly events: StoredEvent[] = [];
  readonly #clock: () => number;
  #count = 0;

  /** `clock` in ms. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Seconds since the epoch, as Stripe counts. Where the account's time was moved on to. */
  now = (): number => this.moment ?? Math.floor(this.#clock() / 1000);
  /** Set while the past is caught up on (`advance`). */
  moment: number | null = null;

  id(kind: keyof typeof prefixes | 'items' | 'cards' | 'events'): string {
    this.#count += 1;
    const prefix = kind === 'items' ? 'si' : kind === 'cards' ? 'pm' : kind === 'events' ? 'evt' : prefixes[kind];
    return `${prefix}_${String(this.#count).padStart(14, '0')}`;
  }

  /** Writes down that something happened, with the object as it is now. */
  emit(type: string, object: { id: string }): void {
    this.events.push({
      id: this.id('events'),
      object: 'event',
      api_version: '2026-10-28.endive',
      created: this.now(),
      data: { object: structuredClone(object) },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    });
  }

  /** Finds the object of an id, of any kind. */
  find(id: string): object | undefined {
    const kinds = [
      this.subscriptions,
      this.customers,
      this.invoices,
      this.paymentIntents,
      this.setupIntents,
      this.charges,
      this.schedules,
      this.coupons,
      this.promotionCodes,
      this.discounts,
      this.prices,
      this.refunds,
      this.invoicePayments,
    ];
    for (const kind of kinds) {
      const found = kind.get(id);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The object of that id, or Stripe's answer that there is none. */
export function need<T>(kind: Map<string, T>, id: string | undefined, what: string, param = 'id'): T {
  const found = id === undefined ? undefined : kind.get(id);
  if (found !== undefined) return found;
  throw invalidRequest(
    `No such ${what}: '${id ?? ''}'`,
    { code: 'resource_missing', param },
    param === 'id' ? 404 : 400,
  );
}

export const reference = (value: string | { id: string } | null | undefined): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : value.id;

/** The end of a period that begins at `from` (s): months keep the day where they can. */
export function periodEnd(from: number, { interval, interval_count: count }: Recurrence): number {
  const date = new Date(from * 1000);
  const day = 86_400;
  if (interval === 'day') return from + count * day;
  if (interval === 'week') return from + count * 7 * day;
  const months = interval === 'year' ? count * 12 : count;
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(date.getUTCDate(), last));
  return Math.floor(first.getTime() / 1000) + (from % day);
}
