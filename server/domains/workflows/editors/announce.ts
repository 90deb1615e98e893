import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { requireWorkflow } from '../get.ts';
import { answerEditors } from './list.ts';
import { recordSeen } from './queries.ts';
import type { AnnounceEditorInput, EditorsOutput } from './schemas.ts';

/**
 * POST /v1/workflows/{id}/editors: records that the caller has opened the editor of the draft, or has left it. Returns
 * the people who edit the draft. Throws AppError 404.
 */
export async function announceEditor(
  ctx: Context,
  input: z.output<typeof AnnounceEditorInput>,
): Promise<z.input<typeof EditorsOutput>> {
  const { principal, services } = ctx;
  const workflow = await requireWorkflow(ctx, input.id);
  const editor = { tenantId: workflow.tenantId, workflowId: workflow.id, userId: principal.userId };
  await recordSeen(services.pool, editor, input.editing ? new Date(services.clock.now()) : null);
  return answerEditors(ctx, workflow);
}
