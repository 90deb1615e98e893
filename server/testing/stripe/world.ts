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

/** The content of a Stripe account, and its time. Objects are stored whole, and refer to others by id. */
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

  /** Returns the time in seconds since the epoch, as Stripe does: the time to which the account was advanced, if it was. */
  now = (): number => this.moment ?? Math.floor(this.#clock() / 1000);
  /** Set while past events are processed (`advance`). */
  moment: number | null = null;

  id(kind: keyof typeof prefixes | 'items' | 'cards' | 'events'): string {
    this.#count += 1;
    const prefix = kind === 'items' ? 'si' : kind === 'cards' ? 'pm' : kind === 'events' ? 'evt' : prefixes[kind];
    return `${prefix}_${String(this.#count).padStart(14, '0')}`;
  }

  /** Records an event with the object as it is now. */
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

/** Returns the object with that id. Throws Stripe's answer if it does not exist. */
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

/** Returns the end of a period that starts at `from` (s): months keep the day if they have it. */
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
