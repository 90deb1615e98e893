import type { PlanRow } from '../../../contract/plan.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { grantCredits, reverseGrant } from '../ledger/post.ts';
import { moveExpiryOfGrant } from '../ledger/store.ts';
import type { SubscriptionRow } from './store.ts';

/** Each workspace has one trial, ever, so its name is reference enough. */
const reference = (tenantId: string) => `trial:${tenantId}`;

/** Grants the credits of a trial until its end; where they were granted before, moves their end. */
export async function grantTrialCredits(
  db: Queryable,
  { tenantId, trialEndsAt }: Pick<SubscriptionRow, 'tenantId' | 'trialEndsAt'>,
  plan: PlanRow,
  endsAt: number,
  at: number,
): Promise<void> {
  const granted = await grantCredits(db, {
    tenantId,
    account: 'trial',
    amount: plan.trialCredits,
    expiresAt: endsAt,
    source: 'trial',
    reference: reference(tenantId),
    note: `Trial of ${plan.productName}`,
    at,
  });
  if (!granted && trialEndsAt !== endsAt) await moveExpiry(db, tenantId, endsAt, at);
}

/** Moves the end of a trial's credits, under the account's lock like every movement of grants. */
async function moveExpiry(db: Queryable, tenantId: string, expiresAt: number, at: number): Promise<void> {
  // Takes nothing, but locks the account and settles what is left of each grant: the order in which they are spent is about to change.
  const kindReference = `move:${reference(tenantId)}`;
  await reverseGrant(db, { tenantId, reference: reference(tenantId), amount: 0, kindReference, note: '', at });
  await moveExpiryOfGrant(db, tenantId, reference(tenantId), new Date(expiresAt));
}

/** Takes what is left of a trial's credits, where it ends before its time. */
export async function endTrialCredits(db: Queryable, tenantId: string, at: number): Promise<void> {
  const kindReference = `end:${reference(tenantId)}`;
  await reverseGrant(db, { tenantId, reference: reference(tenantId), kindReference, note: 'The trial has ended', at });
}
