import { isoTimestamp } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

/**
 * One period of a plan, or the rest of one after a change of plan. `subscriptionId` is null for the onboarding plan. Times are in ms since
 * the epoch. `amount` is the price of [from, to) with the discount, in minor units.
 */
export type Period = {
  planCode: string;
  subscriptionId: string | null;
  from: number;
  to: number;
  /** The anchor from which the ends of periods are computed: its day survives short months. */
  anchor: number;
  amount: number;
  /** The payment that was requested for the period, if any. */
  paymentId: string | null;
  /** The microcredits to grant once all payments in `awaits` are confirmed; absent: all credits were granted at the start. */
  credits?: number;
  /** The payments that were unconfirmed when this period started: its own, and those of the plans that it replaced. */
  awaits?: string[];
};

/** The kind of an entry in billing_events. A `period` has a reference, so it is recorded once; entries of the other kinds may repeat. */
export type BillingEventKind =
  | 'period'
  | 'trial_started'
  | 'trial_ended'
  | 'subscribed'
  | 'plan_changed'
  | 'change_scheduled'
  | 'cancelled';

const prefixOf = (tenantId: string, subscriptionId: string | null) => `period:${subscriptionId ?? tenantId}:`;

/** Returns the ledger reference of the credits that a period includes; it ensures that they are granted once. */
export const periodReference = (tenantId: string, { subscriptionId, from }: Pick<Period, 'subscriptionId' | 'from'>) =>
  prefixOf(tenantId, subscriptionId) + isoTimestamp(from);

/** Returns the ledger reference of the credits that the payments of a period add; it ensures that they are granted once. */
export const paidReference = (tenantId: string, period: Pick<Period, 'subscriptionId' | 'from'>) =>
  `${periodReference(tenantId, period)}:paid`;

/** Records an event of a workspace's subscription. An event with a `reference` is recorded only once. */
export async function recordEvent(
  db: Queryable,
  event: { tenantId: string; kind: BillingEventKind; reference?: string; data: object; at: number },
): Promise<void> {
  const { tenantId, kind, reference = null, data, at } = event;
  await db.query(
    `INSERT INTO billing_events (tenant_id, id, kind, reference, data, created_at) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING`,
    [tenantId, newId(), kind, reference, data, new Date(at)],
  );
}

/** Records the start of a period. Repeating it changes nothing. */
export function notePeriod(db: Queryable, tenantId: string, period: Period): Promise<void> {
  const reference = periodReference(tenantId, period);
  return recordEvent(db, { tenantId, kind: 'period', reference, data: period, at: period.from });
}

/** Returns the latest period of a subscription, or of the onboarding plan (null). */
export async function lastPeriod(
  db: Queryable,
  tenantId: string,
  subscriptionId: string | null,
): Promise<Period | null> {
  const { rows } = await db.query<{ data: Period }>(
    `SELECT data FROM billing_events WHERE tenant_id = $1 AND kind = 'period' AND starts_with(reference, $2)
     ORDER BY (data->>'from')::bigint DESC LIMIT 1`,
    [tenantId, prefixOf(tenantId, subscriptionId)],
  );
  return rows[0]?.data ?? null;
}

/** Returns the next period of the same subscription; null if it has not started yet. */
export async function periodAfter(
  db: Queryable,
  tenantId: string,
  { subscriptionId, from }: Pick<Period, 'subscriptionId' | 'from'>,
): Promise<Period | null> {
  const { rows } = await db.query<{ data: Period }>(
    `SELECT data FROM billing_events
     WHERE tenant_id = $1 AND kind = 'period' AND starts_with(reference, $2) AND (data->>'from')::bigint > $3
     ORDER BY (data->>'from')::bigint LIMIT 1`,
    [tenantId, prefixOf(tenantId, subscriptionId), from],
  );
  return rows[0]?.data ?? null;
}

/** Returns the periods that await a payment, or have awaited it, oldest first. */
export async function periodsAwaiting(db: Queryable, tenantId: string, paymentId: string): Promise<Period[]> {
  const { rows } = await db.query<{ data: Period }>(
    `SELECT data FROM billing_events
     WHERE tenant_id = $1 AND kind = 'period' AND data::jsonb->'awaits' @> to_jsonb($2::text)
     ORDER BY (data->>'from')::bigint`,
    [tenantId, paymentId],
  );
  return rows.map(({ data }) => data);
}

/** Returns the period for which a payment was requested. */
export async function periodOfPayment(db: Queryable, tenantId: string, paymentId: string): Promise<Period | null> {
  const { rows } = await db.query<{ data: Period }>(
    `SELECT data FROM billing_events WHERE tenant_id = $1 AND kind = 'period' AND data->>'paymentId' = $2 LIMIT 1`,
    [tenantId, paymentId],
  );
  return rows[0]?.data ?? null;
}

/** The latest events of a workspace, the newest first. */
export async function readLatestEvents(
  db: Queryable,
  tenantId: string,
  limit: number,
): Promise<{ kind: string; data: object; created_at: Date }[]> {
  const { rows } = await db.query<{ kind: string; data: object; created_at: Date }>(
    'SELECT kind, data, created_at FROM billing_events WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2',
    [tenantId, limit],
  );
  return rows;
}
