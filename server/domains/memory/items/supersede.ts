import { type AppError, forbidden, invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { subjectKey } from '../folding.ts';
import type { MemoryScope } from '../scope.ts';
import { findItem, type ItemPlace, type ItemRow, updateItem } from './store.ts';

/** A machine may ask whether a person's item is still true, but not decide it. */
export const personRequired = (message: string): AppError => forbidden(message, 'person_required');

/**
 * Returns the item that another one of this place and subject is to supersede. AppError 422 `not_supersedable` if it is not active, or of
 * another place or subject; 403 `person_required` if a person wrote it and a machine asks.
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

/** Closes the validity of the old item: from then on the new one is true in its place. */
export async function supersede(
  db: Queryable,
  tenantId: string,
  { old, newId, validFrom, at }: { old: ItemRow; newId: string; validFrom: Date; at: Date },
): Promise<void> {
  const validTo = new Date(Math.max(validFrom.getTime(), old.valid_from.getTime()));
  await updateItem(db, { tenantId, id: old.id }, { status: 'superseded', validTo, supersededBy: newId }, at);
  await updateItem(db, { tenantId, id: newId }, { supersedes: old.id }, at);
}

/** Takes a supersession back: the old item is true again, and the newer one rejected. */
export async function reinstate(db: Queryable, tenantId: string, old: ItemRow, at: Date): Promise<void> {
  const change = { status: 'active', validTo: null, supersededBy: null } as const;
  await updateItem(db, { tenantId, id: old.id }, change, at);
  if (old.superseded_by === null) return;
  await updateItem(db, { tenantId, id: old.superseded_by }, { status: 'rejected', supersedes: null }, at);
}
