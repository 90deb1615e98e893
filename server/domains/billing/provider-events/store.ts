import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { StripeEvent } from './event.ts';

/** The effect of an event: a change here (`applied`), or none because its content is already known or belongs to no workspace here. */
export type EventOutcome = 'applied' | 'stale' | 'ignored';

export async function isKnown(db: Queryable, eventId: string): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM provider_events WHERE provider = 'stripe' AND event_id = $1`, [
    eventId,
  ]);
  return rowCount !== 0;
}

/** Returns those of `eventIds` that were already applied. */
export async function knownAmong(db: Queryable, eventIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ event_id: string }>(
    `SELECT event_id FROM provider_events WHERE provider = 'stripe' AND event_id = ANY($1)`,
    [eventIds],
  );
  return new Set(rows.map(row => row.event_id));
}

/** Returns when the newest applied event happened at Stripe (ms); null if none was applied. */
export async function newestAppliedAt(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    `SELECT max(occurred_at) AS at FROM provider_events WHERE provider = 'stripe'`,
  );
  return rows[0]?.at?.getTime() ?? null;
}

/** Records that an event was applied. Of concurrent deliveries one applies it and the others find it applied. */
export async function recordEvent(
  db: Queryable,
  event: StripeEvent,
  result: { outcome: EventOutcome; tenantId: string | null; at: number },
): Promise<void> {
  await db.query(
    `INSERT INTO provider_events (provider, event_id, type, tenant_id, outcome, occurred_at, applied_at)
     VALUES ('stripe', $1, $2, $3, $4, $5, $6)
     ON CONFLICT (provider, event_id) DO UPDATE SET outcome = excluded.outcome WHERE excluded.outcome = 'applied'`,
    [event.id, event.type, result.tenantId, result.outcome, new Date(event.created * 1000), new Date(result.at)],
  );
}
