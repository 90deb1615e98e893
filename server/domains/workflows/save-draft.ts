import type { Context } from '../../operation/context.ts';
import { DEFAULT_KIND } from '../../operation/workflow-kinds.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import { recordSave } from './editors/queries.ts';
import { type DraftChange, updateDraft, type WorkflowRow } from './store.ts';
import { projectScope } from './view.ts';

/**
 * Saves a change of the draft, and records the caller with it. Returns null if the workflow does not exist, is of
 * another kind, is archived, or is no longer at `revision` (null: any).
 */
export function saveDraft(
  ctx: Context,
  { id, revision }: { id: string; revision: number | null },
  change: DraftChange,
): Promise<WorkflowRow | null> {
  return transact(ctx.services, tx => saveDraftIn(tx, ctx, { id, revision }, change));
}

/** Saves a change of the draft like `saveDraft`, as a part of a transaction. */
export async function saveDraftIn(
  tx: Transaction,
  ctx: Context,
  { id, revision }: { id: string; revision: number | null },
  change: DraftChange,
): Promise<WorkflowRow | null> {
  const at = new Date(ctx.services.clock.now());
  const row = await updateDraft(tx, { ...projectScope(ctx), id, kind: DEFAULT_KIND, revision, at }, change);
  if (row !== null) {
    const editor = { tenantId: row.tenantId, workflowId: row.id, userId: ctx.principal.userId };
    await recordSave(tx, editor, { revision: row.revision, at });
  }
  return row;
}
