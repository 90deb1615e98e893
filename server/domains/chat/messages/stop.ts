import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { stopRun, tellRefused } from '../answers/start.ts';
import type { StopOutput, ThreadRef } from '../schemas.ts';
import { requireThread } from '../threads/view.ts';
import { withdrawQueued } from './store.ts';

const WITHDRAWN = { code: 'message_withdrawn', message: 'The message was withdrawn before it was answered.' };

/**
 * POST /v1/chat/threads/{id}/stop: stops the active answer, keeps its text so far, and withdraws queued messages. Throws AppError 404, 503 if
 * this process does not lead.
 */
export async function stopThread(
  ctx: Context,
  { id }: z.output<typeof ThreadRef>,
): Promise<z.input<typeof StopOutput>> {
  const { services, principal } = ctx;
  const { tenantId, projectId, email } = principal;
  const { active_run_id: runId, workflow_id: workflowId } = await requireThread(ctx, id);
  // Withdrawing comes first: otherwise the next answer would start as soon as this one has ended.
  const withdrawn = await withdrawQueued(services.pool, { tenantId, threadId: id });
  for (const each of withdrawn)
    await tellRefused(services, { tenantId, projectId, workflowId, runId: each }, WITHDRAWN);
  const isStopped = runId !== null && (await stopRun(services, { tenantId, projectId, workflowId, runId }, email));
  return { thread_id: id, stopped_run_id: isStopped ? runId : null, withdrawn: withdrawn.length };
}
