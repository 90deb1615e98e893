import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { checksum } from './checksum.ts';
import { acceptDraft } from './draft.ts';
import { redactPins } from './pinned-results.ts';
import { expectedRevision, requireEditable, whyUnchanged } from './precondition.ts';
import { saveDraft } from './save-draft.ts';
import type { PatchWorkflowInput, WorkflowSchema } from './schemas.ts';
import { answerWorkflow } from './view.ts';

/**
 * Changes only the given fields. If-Match makes the change conditional, in the same statement. Throws AppError 404, 409
 * `managed_elsewhere` or `workflow_archived`, 412 `etag_mismatch`, 422.
 */
export async function patchWorkflow(
  ctx: Context,
  input: z.output<typeof PatchWorkflowInput>,
): Promise<z.input<typeof WorkflowSchema>> {
  const { id, name, description, graph, run_setup } = input;
  const revision = expectedRevision(ctx);
  // Checks existence before the body: for another project's workflow, every request is answered with 404.
  const current = await requireEditable(ctx, id);
  acceptDraft({ graph, runSetup: run_setup });
  const runSetup = await redactPins(ctx, run_setup, current.runSetup);
  const nothingGiven = [name, description, graph, runSetup].every(value => value === undefined);
  if (nothingGiven && (revision === null || revision === current.revision)) return answerWorkflow(ctx, current);
  const row = await saveDraft(
    ctx,
    { id, revision },
    { name, description, graph: graph && { value: graph, checksum: checksum(graph) }, runSetup },
  );
  if (row === null) throw await whyUnchanged(ctx, id);
  return answerWorkflow(ctx, row);
}
