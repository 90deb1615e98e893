import type { ProviderFact } from '../../../operation/payment-provider.ts';
import type { Services } from '../../../operation/services.ts';
import type { StripeAccount } from '../provider/stripe/account.ts';
import { translateError } from '../provider/stripe/errors.ts';
import { applyProviderFact } from './apply.ts';
import { type StripeEvent, subjectsOf } from './event.ts';
import { readFacts } from './facts.ts';
import { type EventOutcome, isKnown, recordEvent } from './store.ts';

/** The dependencies of applying an event; an operator's command has them too. */
export type ApplyServices = Pick<
  Services,
  'pool' | 'clock' | 'config' | 'orchestrator' | 'payments' | 'topUp' | 'logger'
>;

/**
 * Applies a Stripe event once. It reads the event's object again and applies its state, not a change, so applying it
 * twice, or after a newer event, changes nothing. A process that crashes before the event is marked as done therefore
 * loses nothing: Stripe sends the event again. Rejects with AppError 503 if Stripe is not available, so that Stripe
 * repeats the delivery.
 */
export async function applyEvent(
  services: ApplyServices,
  account: StripeAccount,
  event: StripeEvent,
): Promise<EventOutcome | 'repeated'> {
  const { pool, clock, logger } = services;
  const subjects = subjectsOf(event);
  // Irrelevant events are not recorded: an endpoint that is subscribed to everything would fill the table.
  if (subjects.length === 0) return 'ignored';
  if (await isKnown(pool, event.id)) return 'repeated';
  const facts: ProviderFact[] = [];
  try {
    for (const subject of subjects) facts.push(...(await readFacts(account, subject)));
  } catch (error) {
    throw translateError(error, logger);
  }
  const outcome = await applyFacts(services, facts);
  const tenantId = facts[0]?.tenantId ?? null;
  if (tenantId === null)
    logger.info(
      { event: event.id, event_type: event.type },
      'a Stripe event belongs to no workspace of this deployment',
    );
  await recordEvent(pool, event, { outcome, tenantId, at: clock.now() });
  return outcome;
}

/** Applies facts; returns `applied` if any of them changed something. */
export async function applyFacts(services: ApplyServices, facts: readonly ProviderFact[]): Promise<EventOutcome> {
  const outcomes = new Set<EventOutcome>();
  for (const fact of facts) outcomes.add(await applyProviderFact(services, fact));
  if (outcomes.has('applied')) return 'applied';
  return outcomes.has('stale') ? 'stale' : 'ignored';
}
