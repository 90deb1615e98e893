import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { forbidden, notFound } from '../../../platform/errors.ts';
import { listGrants } from '../../agents/grants/manage.ts';
import { deleteGrant } from '../../agents/grants-queries.ts';
import type { ListGrantsInput, ListGrantsOutput, RevokeGrantInput } from '../../agents/schemas.ts';
import { projectScope } from '../../workflows/view.ts';
import { requireThread } from './view.ts';

/** GET /v1/chat/threads/{id}/grants. Throws AppError 404. */
export async function listThreadGrants(
  ctx: Context,
  input: z.output<typeof ListGrantsInput>,
): Promise<z.input<typeof ListGrantsOutput>> {
  await requireThread(ctx, input.id);
  return listGrants(ctx, { threadId: input.id }, input);
}

/** DELETE /v1/chat/threads/{id}/grants/{grant_id}. Throws AppError 403 `not_thread_owner` for a viewer who does not own the thread, 404. */
export async function revokeThreadGrant(ctx: Context, input: z.output<typeof RevokeGrantInput>): Promise<void> {
  const { principal, services } = ctx;
  const { owner_id } = await requireThread(ctx, input.id);
  if (principal.role === 'project_viewer' && owner_id !== principal.userId)
    throw forbidden('Only the owner of a thread and contributors may do this.', 'not_thread_owner');
  const subject = { threadId: input.id };
  if (!(await deleteGrant(services.pool, projectScope(ctx), subject, { id: input.grant_id }))) throw notFound('Grant');
}
