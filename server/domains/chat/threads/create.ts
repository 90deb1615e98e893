import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { agentArchived, requireAgent } from '../../agents/view.ts';
import { assistantFor } from '../assistant.ts';
import type { CreateThreadInput, ForkThreadInput, ThreadSchema } from '../schemas.ts';
import { copyBranch, hasAnswer, insertThread } from './store.ts';
import { requireThread, threadBusy, threadScope, toThread } from './view.ts';

type Thread = z.input<typeof ThreadSchema>;

/**
 * POST /v1/chat/threads: creates a conversation with an agent or an assistant. Throws AppError 404 for an unknown agent, 409
 * `agent_archived`, 422 `model_not_configured`.
 */
export async function createThread(
  ctx: Context,
  { title = '', agent_id, model, visibility = 'private' }: z.output<typeof CreateThreadInput>,
): Promise<Thread> {
  const { pool, clock } = ctx.services;
  const answering = await resolveAnswerer(ctx, agent_id, model);
  const id = newId();
  await insertThread(pool, threadScope(ctx), { id, ...answering, title, visibility, at: new Date(clock.now()) });
  return toThread(await requireThread(ctx, id));
}

async function resolveAnswerer(ctx: Context, agentId: string | undefined, model: string | undefined) {
  if (agentId === undefined) {
    const assistant = await assistantFor(ctx, model);
    return { workflow_id: assistant.workflowId, agent_id: null, model: assistant.model };
  }
  if (model !== undefined) {
    const details = [{ path: 'model', message: 'is the agent’s own: leave it out with agent_id' }];
    throw invalid('A thread has either an agent or a model.', details, 'validation_error');
  }
  const { workflow } = await requireAgent(ctx, agentId);
  if (workflow.status === 'archived') throw agentArchived();
  return { workflow_id: agentId, agent_id: agentId, model: null };
}

/**
 * POST /v1/chat/threads/{id}/fork: copies a branch into a new thread of the caller. Throws AppError 404, 409 `thread_busy` while one
 * of its answers is active, 409 `thread_empty`.
 */
export async function forkThread(
  ctx: Context,
  { id, message_id, title }: z.output<typeof ForkThreadInput>,
): Promise<Thread> {
  const { pool, clock } = ctx.services;
  const from = await requireThread(ctx, id);
  const { tenantId } = ctx.principal;
  const upTo = message_id ?? from.head_id;
  if (upTo === null) throw conflict('thread_empty', 'The thread has no messages.');
  if (!(await hasAnswer(pool, { tenantId, threadId: id }, upTo)))
    throw invalid('The thread has no such answer.', [
      { path: 'message_id', message: 'is not an answer of the thread' },
    ]);
  const to = newId();
  await transact(pool, async client => {
    const { workflow_id, agent_id, model } = from;
    const copy = { id: to, workflow_id, agent_id, model, title: title ?? from.title, visibility: 'private' as const };
    await insertThread(client, threadScope(ctx), { ...copy, at: new Date(clock.now()) });
    if ((await copyBranch(client, { tenantId, from: id, to, upTo })) === null) throw threadBusy();
  });
  return toThread(await requireThread(ctx, to));
}
