import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { ItemStatus } from '../schemas.ts';
import { addEvidence, type ItemChange, type ItemRow, type NewEvidence, updateItem } from './store.ts';

/** A statement that says again what an item says. */
export type SaidAgain = {
  tenantId: string;
  userId: string;
  evidence: readonly NewEvidence[];
  expiresAt: Date | null;
  isPerson: boolean;
  at: Date;
  /** Whether the item, as it is known, may become active by what is said now (belief/basis.ts). */
  mayBecomeActive: (known: ItemRow) => boolean;
};

/**
 * Adds to an item that is known what is said again, for every surface; returns its status. A rejected item stays rejected, unless a person asks
 * to remember it. One that has expired is alive again, after a review unless it may become active at once.
 */
export async function sayAgain(db: Queryable, known: ItemRow, again: SaidAgain): Promise<ItemStatus> {
  const { tenantId, userId, at } = again;
  await addEvidence(db, { tenantId, itemId: known.id }, again.evidence, at);
  const change = changeOf(known, again);
  if (change === null) return known.status;
  const confirmed = change.status === 'active' ? { confirmedBy: userId, confirmedAt: at } : {};
  await updateItem(db, { tenantId, id: known.id }, { ...change, ...confirmed }, at);
  return change.status;
}

/** Returns how the item changes; null: it stays as it is. */
function changeOf(known: ItemRow, again: SaidAgain): (ItemChange & { status: ItemStatus }) | null {
  if (known.status === 'superseded' || (known.status === 'rejected' && !again.isPerson)) return null;
  const hasExpired = known.expires_at !== null && known.expires_at <= again.at;
  const expiry = hasExpired ? { expiresAt: again.expiresAt } : {};
  if (again.mayBecomeActive(known)) {
    const isAlive = known.status === 'active' && !hasExpired;
    return isAlive ? null : { status: 'active', trust: 'trusted', ...expiry };
  }
  return hasExpired && known.status !== 'rejected' ? { status: 'proposed', ...expiry } : null;
}
