import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ItemStatus } from '../schemas.ts';
import { addEvidence, type ItemChange, type ItemRow, type NewEvidence, updateItem } from './store.ts';

/** A new statement with the content of a known item. */
export type Repetition = {
  tenantId: string;
  userId: string;
  evidence: readonly NewEvidence[];
  expiresAt: Date | null;
  isPerson: boolean;
  at: Date;
  /** Returns whether the new statement may make the known item active (belief/basis.ts). */
  mayBecomeActive: (known: ItemRow) => boolean;
};

/**
 * Adds the evidence of a repeated statement to a known item. Returns the status of the item. A rejected item stays rejected, unless a person
 * asks for it. An expired item is proposed again, or active if `mayBecomeActive` allows it.
 */
export async function addRepetition(db: Queryable, known: ItemRow, repetition: Repetition): Promise<ItemStatus> {
  const { tenantId, userId, at } = repetition;
  await addEvidence(db, { tenantId, itemId: known.id }, repetition.evidence, at);
  const change = changeOf(known, repetition);
  if (change === null) return known.status;
  const confirmed = change.status === 'active' ? { confirmedBy: userId, confirmedAt: at } : {};
  await updateItem(db, { tenantId, id: known.id }, { ...change, ...confirmed }, at);
  return change.status;
}

/** Returns the change of the item; null for no change. */
function changeOf(known: ItemRow, repetition: Repetition): (ItemChange & { status: ItemStatus }) | null {
  if (known.status === 'superseded' || (known.status === 'rejected' && !repetition.isPerson)) return null;
  const hasExpired = known.expires_at !== null && known.expires_at <= repetition.at;
  const expiry = hasExpired ? { expiresAt: repetition.expiresAt } : {};
  if (repetition.mayBecomeActive(known)) {
    const isAlive = known.status === 'active' && !hasExpired;
    return isAlive ? null : { status: 'active', trust: 'trusted', ...expiry };
  }
  return hasExpired && known.status !== 'rejected' ? { status: 'proposed', ...expiry } : null;
}
