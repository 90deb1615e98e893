import type { PlanRow } from '../../../operation/plan.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { grantCredits, reverseGrant } from '../ledger/post.ts';
import { moveExpiryOfGrant } from '../ledger/store.ts';
import type { SubscriptionRow } from './store.ts';

/** A workspace has only one trial, so its id is a sufficient reference. */
const reference = (tenantId: string) => `trial:${tenantId}`;

/** Grants the credits of a trial until its end, or moves their expiry if they were granted before. */
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

/** Moves the expiry of a trial's credits, under the account's lock like every change of grants. */
async function moveExpiry(db: Queryable, tenantId: string, expiresAt: number, at: number): Promise<void> {
  // Reverses nothing, but locks the account and sets the remainder of each grant, because the spending order is about
  // to change.
  const kindReference = `move:${reference(tenantId)}`;
  await reverseGrant(db, { tenantId, reference: reference(tenantId), amount: 0, kindReference, note: '', at });
  await moveExpiryOfGrant(db, tenantId, reference(tenantId), new Date(expiresAt));
}

/** Reverses a trial's remaining credits when the trial ends early. */
export async function endTrialCredits(db: Queryable, tenantId: string, at: number): Promise<void> {
  const kindReference = `end:${reference(tenantId)}`;
  await reverseGrant(db, { tenantId, reference: reference(tenantId), kindReference, note: 'The trial has ended', at });
}
