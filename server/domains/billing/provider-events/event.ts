import type Stripe from 'stripe';
import { z } from 'zod';

const Named = z.looseObject({ id: z.string() });
/** An id, or the object itself if the endpoint's API version includes it. */
const Reference = z.union([z.string(), Named.transform(({ id }) => id)]).nullish();

/**
 * The fields of an event that are read, from a webhook or from the list. Only the id of its object is used: the object
 * is requested again, so that neither the order of events nor the API version of an event matters.
 */
export const StripeEvent = z.looseObject({
  id: z.string().min(1).max(255),
  type: z.string().min(1).max(255),
  /** Seconds since the epoch. */
  created: z.number().int().min(0),
  data: z.looseObject({
    object: z.looseObject({
      id: z.string().optional(),
      customer: Reference,
      charge: Reference,
    }),
  }),
});
export type StripeEvent = z.output<typeof StripeEvent>;

/** The object to be read again when an event arrives. */
export type Subject =
  | { kind: 'subscription'; customer: string }
  | { kind: 'invoice'; id: string }
  | { kind: 'payment'; id: string }
  | { kind: 'charge'; id: string }
  | { kind: 'card'; setupIntent: string; customer: string };

/**
 * The events that change something here, to which an endpoint at Stripe must be subscribed (docs/billing.md, Stripe).
 */
export const relevantEvents = [
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'subscription_schedule.updated',
  'subscription_schedule.released',
  'subscription_schedule.canceled',
  'invoice.finalized',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.voided',
  'invoice.marked_uncollectible',
  'payment_intent.succeeded',
  'payment_intent.processing',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.refunded',
  'refund.updated',
  'charge.dispute.closed',
  'setup_intent.succeeded',
] as const satisfies readonly Stripe.Event['type'][];
type RelevantEvent = (typeof relevantEvents)[number];

const isRelevant = (type: string): type is RelevantEvent => relevantEvents.some(relevant => relevant === type);

/** Returns the objects of an event that must be read; empty if the event is irrelevant here. */
export function subjectsOf({ type, data: { object } }: StripeEvent): Subject[] {
  if (!isRelevant(type)) return [];
  const { id, customer, charge } = object;
  const subscription: Subject[] = typeof customer === 'string' ? [{ kind: 'subscription', customer }] : [];
  if (type.startsWith('customer.subscription.') || type.startsWith('subscription_schedule.')) return subscription;
  if (type.startsWith('invoice.')) return id === undefined ? [] : [{ kind: 'invoice', id }, ...subscription];
  if (type.startsWith('payment_intent.')) return id === undefined ? [] : [{ kind: 'payment', id }];
  if (type === 'setup_intent.succeeded') {
    if (id === undefined || typeof customer !== 'string') return [];
    return [{ kind: 'card', setupIntent: id, customer }];
  }
  // Refunds and disputes name their charge; the object of `charge.refunded` is the charge itself.
  const about = typeof charge === 'string' ? charge : id;
  return about === undefined ? [] : [{ kind: 'charge', id: about }];
}
