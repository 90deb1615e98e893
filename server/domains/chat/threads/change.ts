import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { invalid } from '../../../platform/errors.ts';
import { stopRun } from '../answers/start.ts';
import type { ArchiveThreadInput, PatchThreadInput, ThreadRef, ThreadSchema } from '../schemas.ts';
import { eraseThread, hasAnswer, updateThread } from './store.ts';
import { requireOwner, requireThread, toThread } from './view.ts';

type Thread = z.input<typeof ThreadSchema>;

/** PATCH /v1/chat/threads/{id}: changes the given fields. Throws AppError 403 `not_thread_owner`, 404, 422 for a head that is no answer. */
export async function patchThread(
  ctx: Context,
  { id, ...changes }: z.output<typeof PatchThreadInput>,
): Promise<Thread> {
  const { pool, clock } = ctx.services;
  const { tenantId } = ctx.principal;
  requireOwner(ctx.principal, await requireThread(ctx, id));
  const { head_id } = changes;
  if (head_id !== undefined && !(await hasAnswer(pool, { tenantId, threadId: id }, head_id)))
    throw invalid('The thread has no such answer.', [{ path: 'head_id', message: 'is not an answer of the thread' }]);
  await updateThread(pool, { tenantId, id }, changes, new Date(clock.now()));
  return toThread(await requireThread(ctx, id));
}

/**
 * POST /v1/chat/threads/{id}/archive: hides the thread from lists and closes it to new messages; `archived: false`
 * undoes both. Throws AppError 403 `not_thread_owner`, 404.
 */
export async function archiveThread(
  ctx: Context,
  { id, archived = true }: z.output<typeof ArchiveThreadInput>,
): Promise<Thread> {
  const { pool, clock } = ctx.services;
  requireOwner(ctx.principal, await requireThread(ctx, id));
  await updateThread(pool, { tenantId: ctx.principal.tenantId, id }, { archived }, new Date(clock.now()));
  return toThread(await requireThread(ctx, id));
}

/**
 * DELETE /v1/chat/threads/{id}: erases the messages of the thread and stops the active answer. The logs of its runs have the retention of all
 * runs. Throws AppError 403 `not_thread_owner`, 404.
 */
export async function deleteThread(ctx: Context, { id }: z.output<typeof ThreadRef>): Promise<void> {
  const { services, principal } = ctx;
  const { tenantId, projectId, email } = principal;
  const thread = await requireThread(ctx, id);
  requireOwner(principal, thread);
  await eraseThread(services.pool, { tenantId, id }, new Date(services.clock.now()));
  const { active_run_id: runId, workflow_id: workflowId } = thread;
  if (runId !== null) await stopRun(services, { tenantId, projectId, workflowId, runId }, email);
}
