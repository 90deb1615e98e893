import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { expectedRevision, whyUnchanged } from '../precondition.ts';
import { saveDraft } from '../save-draft.ts';
import type { VersionRef, WorkflowSchema } from '../schemas.ts';
import { answerWorkflow } from '../view.ts';
import { requireVersion } from './get.ts';

/** Copies a version's graph into the draft, as a new revision. Run setup, name and description do not change. */
export async function restoreVersion(
  ctx: Context,
  input: z.output<typeof VersionRef>,
): Promise<z.input<typeof WorkflowSchema>> {
  const revision = expectedRevision(ctx);
  const version = await requireVersion(ctx, input);
  const row = await saveDraft(
    ctx,
    { id: input.id, revision },
    { graph: { value: version.graph_snapshot, checksum: version.graph_checksum } },
  );
  if (row === null) throw await whyUnchanged(ctx, input.id);
  return answerWorkflow(ctx, row);
}
