import { DAY_MS } from '../../../platform/clock.ts';
import { AppError } from '../../../platform/errors.ts';
import type { StripeAccount } from '../provider/stripe/account.ts';
import { translateError } from '../provider/stripe/errors.ts';
import { type ApplyServices, applyEvent, applyFacts } from './apply-event.ts';
import { relevantEvents, StripeEvent } from './event.ts';
import { paymentFacts, subscriptionFacts } from './facts.ts';
import { fingerprint, listCustomers, listOpenPayments } from './reconcile-store.ts';
import { knownAmong, newestAppliedAt } from './store.ts';

/** Stripe keeps events for 30 days. */
const OLDEST_MS = 30 * DAY_MS;
/** Events older than the newest applied one may be missing: Stripe repeats failed deliveries for up to three days. */
const OVERLAP_MS = 3 * DAY_MS;
/** Stripe lists at most 100 at once, and filters by at most 20 types. */
const PAGE = 100;
const MAX_TYPES = 20;

export type Reconciliation = {
  /** The time (ms) from which events were checked. */
  since: number;
  events: { listed: number; missed: number; applied: number };
  subscriptions: { compared: number; corrected: number };
  payments: { compared: number; corrected: number; unknown: number };
  /** The number of items that could not be applied and were logged; the next reconciliation tries them again. */
  failed: number;
};

/** Prints progress for the operator. */
export type Print = (line: string) => void;

/**
 * Applies what webhooks did not deliver: the unknown events since `since` (ms; default: three days before the newest
 * applied one), oldest first. Then compares every subscription and every open payment with Stripe's state. It changes
 * nothing that already agrees, so it may run at any time and repeatedly. Rejects with AppError 503 if Stripe is
 * unavailable; the next reconciliation continues.
 */
export async function reconcile(
  services: ApplyServices,
  account: StripeAccount,
  options: { since?: number | undefined; print?: Print; signal?: AbortSignal } = {},
): Promise<Reconciliation> {
  const { print = () => {}, signal } = options;
  const now = services.clock.now();
  const newest = await newestAppliedAt(services.pool);
  const since = Math.max(now - OLDEST_MS, options.since ?? (newest === null ? 0 : newest - OVERLAP_MS));
  try {
    const pass = new Pass(services, print, signal);
    const events = await applyMissed(services, account, { pass, since });
    const subscriptions = await compareSubscriptions(services, account, pass);
    const payments = await comparePayments(services, account, pass);
    return { since, events, subscriptions, payments, failed: pass.failed };
  } catch (error) {
    throw translateError(error, services.logger);
  }
}

/** One reconciliation: prints progress, and continues after items that cannot be applied. */
class Pass {
  readonly print: Print;
  readonly #services: ApplyServices;
  readonly #signal: AbortSignal | undefined;
  failed = 0;

  constructor(services: ApplyServices, print: Print, signal: AbortSignal | undefined) {
    this.print = print;
    this.#services = services;
    this.#signal = signal;
  }

  /** Runs one item. Returns null if the item itself failed, so that the others continue; rejects if Stripe is unavailable. */
  async attempt<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    this.#signal?.throwIfAborted();
    try {
      return await work();
    } catch (cause) {
      const error = translateError(cause, this.#services.logger);
      if (error instanceof AppError && error.status === 503) throw error;
      this.failed += 1;
      this.#services.logger.error({ err: error, what }, 'something of Stripe could not be reconciled');
      this.print(`${what}: failed`);
      return null;
    }
  }
}

async function applyMissed(
  services: ApplyServices,
  account: StripeAccount,
  { pass, since }: { pass: Pass; since: number },
): Promise<Reconciliation['events']> {
  const listed = await listEvents(account, since);
  const known = await knownAmong(
    services.pool,
    listed.map(event => event.id),
  );
  const missed = listed.filter(event => !known.has(event.id));
  let applied = 0;
  for (const event of missed) {
    const what = `event ${event.id} ${event.type}`;
    const outcome = await pass.attempt(what, () => applyEvent(services, account, event));
    if (outcome === null) continue;
    if (outcome === 'applied') applied += 1;
    pass.print(`${what}: ${outcome}`);
  }
  return { listed: listed.length, missed: missed.length, applied };
}

/** Returns the relevant events since `since`, oldest first. */
async function listEvents(account: StripeAccount, since: number): Promise<StripeEvent[]> {
  const found: StripeEvent[] = [];
  for (let at = 0; at < relevantEvents.length; at += MAX_TYPES) {
    const types = relevantEvents.slice(at, at + MAX_TYPES);
    const pages = account.stripe.events.list({ created: { gte: Math.floor(since / 1000) }, types, limit: PAGE });
    for await (const event of pages) found.push(StripeEvent.parse(event));
  }
  return found.sort((a, b) => a.created - b.created);
}

async function compareSubscriptions(
  services: ApplyServices,
  account: StripeAccount,
  pass: Pass,
): Promise<Reconciliation['subscriptions']> {
  const rows = await listCustomers(services.pool, account.productCode);
  let corrected = 0;
  for (const { tenantId, customer } of rows) {
    const before = await fingerprint(services.pool, tenantId);
    const what = `subscription of ${tenantId}`;
    await pass.attempt(what, async () => applyFacts(services, await subscriptionFacts(account, customer)));
    if (before === (await fingerprint(services.pool, tenantId))) continue;
    corrected += 1;
    pass.print(`${what}: corrected`);
  }
  return { compared: rows.length, corrected };
}

async function comparePayments(
  services: ApplyServices,
  account: StripeAccount,
  pass: Pass,
): Promise<Reconciliation['payments']> {
  const oldest = new Date(services.clock.now() - OLDEST_MS);
  const rows = await listOpenPayments(services.pool, oldest);
  const counts = { compared: rows.length, corrected: 0, unknown: 0 };
  for (const { tenantId, kind, id } of rows) {
    const what = `payment ${id} of ${tenantId}`;
    const outcome = await pass.attempt(what, async () => {
      const facts = await paymentFacts(account, { kind, paymentId: id });
      return facts === null ? 'unknown' : await applyFacts(services, facts);
    });
    if (outcome === 'unknown') {
      counts.unknown += 1;
      pass.print(`${what}: Stripe does not know it`);
    } else if (outcome === 'applied') {
      counts.corrected += 1;
      pass.print(`${what}: corrected`);
    }
  }
  return counts;
}

/** Describes the result of a reconciliation for people. */
export function describeReconciliation({ since, events, subscriptions, payments, failed }: Reconciliation): string[] {
  return [
    `Events since ${new Date(since).toISOString()}: ${events.listed} listed, ${events.missed} missed, ${events.applied} of them applied.`,
    `Subscriptions: ${subscriptions.compared} compared, ${subscriptions.corrected} corrected.`,
    `Open payments: ${payments.compared} compared, ${payments.corrected} corrected, ${payments.unknown} unknown to Stripe.`,
    ...(failed === 0 ? [] : [`${failed} could not be applied; the server's log says why.`]),
  ];
}
