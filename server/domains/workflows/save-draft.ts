import type { Context } from '../../operation/context.ts';
import { DEFAULT_KIND } from '../../operation/workflow-kinds.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import { recordSave } from './editors/queries.ts';
import { type DraftChange, updateDraft, type WorkflowRow } from './store.ts';
import { projectScope } from './view.ts';

/**
 * Saves a change of the draft for the caller, who is recorded with it. Returns null where the workflow is missing, of another kind, archived or not
 * at `revision` any more (null: any).
 */
export function saveDraft(
  ctx: Context,
  { id, revision }: { id: string; revision: number | null },
  change: DraftChange,
): Promise<WorkflowRow | null> {
  return transact(ctx.services, tx => saveDraftIn(tx, ctx, { id, revision }, change));
}

/** The same, as a part of a transaction. */
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
