import { type AppError, forbidden, invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { subjectKey } from '../folding.ts';
import type { MemoryScope } from '../scope.ts';
import { listEarlier, listLater } from './chain-store.ts';
import { findItem, type ItemPlace, type ItemRow, updateItem } from './store.ts';

/** Returns the error for a decision that only a person may make. */
export const personRequired = (message: string): AppError => forbidden(message, 'person_required');

/**
 * Returns the item that an item of this place and subject supersedes. Throws AppError 422 `not_supersedable` if the item is not active or has
 * another place or subject, 403 `person_required` if a person wrote it and a machine asks.
 */
export async function requireSupersedable(
  db: Queryable,
  scope: MemoryScope,
  id: string,
  by: { place: ItemPlace; subject: string; isPerson: boolean },
): Promise<ItemRow> {
  const old = await findItem(db, scope, id, { lock: true });
  const { place } = by;
  const fits =
    old !== null &&
    old.status === 'active' &&
    old.subject_key === subjectKey(by.subject) &&
    old.project_id === place.projectId &&
    old.user_id === place.userId &&
    old.workflow_id === place.workflowId &&
    old.agent_id === place.agentId;
  if (!fits) {
    const message = 'must be an active item with the same subject and the same scope';
    throw invalid('This item cannot be superseded.', [{ path: 'supersedes', message }], 'not_supersedable');
  }
  if (old.author === 'person' && !by.isPerson) {
    throw personRequired('A person wrote the item that is to be superseded: a person has to confirm this one.');
  }
  return old;
}

type Supersession = { old: ItemRow; newId: string; validFrom: Date; at: Date };

/** Marks the old item as superseded by the new one, and ends the validity of the old item and of those that it superseded. */
export async function supersede(
  db: Queryable,
  tenantId: string,
  { old, newId, validFrom, at }: Supersession,
): Promise<void> {
  await updateItem(db, { tenantId, id: old.id }, { status: 'superseded', supersededBy: newId }, at);
  await updateItem(db, { tenantId, id: newId }, { supersedes: old.id }, at);
  await endEarlier(db, tenantId, { id: newId, validFrom, at });
}

/**
 * Reverses supersessions: makes the old item active again and rejects all items that superseded it since. Throws AppError 403
 * `person_required` if a person wrote one of these and a machine asks.
 */
export async function reinstate(
  db: Queryable,
  tenantId: string,
  { old, at, isPerson }: { old: ItemRow; at: Date; isPerson: boolean },
): Promise<void> {
  const later = await listLater(db, tenantId, old.id);
  if (!isPerson && later.some(({ author }) => author === 'person')) {
    throw personRequired('A person wrote the item that superseded this one: a person has to reinstate this one.');
  }
  const closed = { status: 'rejected', supersedes: null, supersededBy: null, validTo: null } as const;
  for (const { id } of later) await updateItem(db, { tenantId, id }, closed, at);
  const change = { status: 'active', validTo: null, supersededBy: null } as const;
  await updateItem(db, { tenantId, id: old.id }, change, at);
  await endEarlier(db, tenantId, { id: old.id, validFrom: old.valid_from, at });
}

/** Ends the validity of each earlier item of the chain at the start of its successors. */
async function endEarlier(
  db: Queryable,
  tenantId: string,
  { id, validFrom, at }: { id: string; validFrom: Date; at: Date },
): Promise<void> {
  let end = validFrom.getTime();
  for (const earlier of await listEarlier(db, tenantId, id)) {
    const validTo = new Date(Math.max(end, earlier.valid_from.getTime()));
    if (validTo.getTime() !== earlier.valid_to?.getTime())
      await updateItem(db, { tenantId, id: earlier.id }, { validTo }, at);
    end = Math.min(end, earlier.valid_from.getTime());
  }
}
