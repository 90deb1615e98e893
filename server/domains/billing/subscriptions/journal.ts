import { isoTimestamp } from '../../../platform/clock.ts';
import { newId } from '../../../platform/ids.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

/** One period of a subscription; `subscriptionId` null: of the onboarding plan. Times in ms since the epoch. */
export type Period = {
  planCode: string;
  subscriptionId: string | null;
  from: number;
  to: number;
  /** What the ends of the following periods are counted from: its day survives short months. */
  anchor: number;
  /** The payment that is asked for it, where there is one. */
  paymentId: string | null;
};

/** What happened, for billing_events; `period` and the warnings have references, the others happen as often as they do. */
export type BillingEventKind =
  | 'period'
  | 'trial_started'
  | 'trial_ended'
  | 'subscribed'
  | 'plan_changed'
  | 'change_scheduled'
  | 'cancelled'
  | 'payment';

/** The ledger's reference of what a period includes: granted once. */
export const periodReference = (tenantId: string, { subscriptionId, from }: Pick<Period, 'subscriptionId' | 'from'>) =>
  `period:${subscriptionId ?? tenantId}:${isoTimestamp(from)}`;

/** Writes down what happened to a workspace's subscription; one of a `reference` once. */
export async function noteEvent(
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

/** Writes down that a period began; the same one again changes nothing. */
export function notePeriod(db: Queryable, tenantId: string, period: Period, at: number): Promise<void> {
  return noteEvent(db, { tenantId, kind: 'period', reference: periodReference(tenantId, period), data: period, at });
}

/** The period that `reference` names, as it began. */
export async function findPeriod(db: Queryable, tenantId: string, reference: string): Promise<Period | null> {
  const { rows } = await db.query<{ data: Period }>(
    `SELECT data FROM billing_events WHERE tenant_id = $1 AND kind = 'period' AND reference = $2`,
    [tenantId, reference],
  );
  return rows[0]?.data ?? null;
}

/** The onboarding plan's period that has begun but not ended at `at`: who comes back to it goes on with it. */
export async function findOnboardingPeriod(db: Queryable, tenantId: string, at: number): Promise<Period | null> {
  const { rows } = await db.query<{ data: Period }>(
    `SELECT data FROM billing_events WHERE tenant_id = $1 AND kind = 'period' AND reference LIKE $2
     ORDER BY id DESC LIMIT 1`,
    [tenantId, `period:${tenantId.replace(/[\\%_]/g, '\\$&')}:%`],
  );
  const [last] = rows;
  return last !== undefined && last.data.to > at ? last.data : null;
}
