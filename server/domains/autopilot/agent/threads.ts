import type { Context } from '../../../operation/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { derivedId, newId } from '../../../platform/ids.ts';
import { graphOf } from '../../agents/settings.ts';
import { defaultModel, requireUsable } from '../../chat/assistant.ts';
import { ensureThread, listThreadRows, type ThreadRow } from '../../chat/threads/store.ts';
import { requireThread, threadScope } from '../../chat/threads/view.ts';
import { ensurePublished } from '../../workflows/ensure-published.ts';
import { projectScope } from '../../workflows/view.ts';
import { autopilotSettings } from './settings.ts';

/**
 * Returns the workflow whose runs are Autopilot's answers. Each model has its own workflow, created on first use and hidden from lists.
 * Throws AppError 422 `model_not_configured`.
 */
export async function autopilotFor(
  ctx: Context,
  given: string | undefined,
): Promise<{ workflowId: string; model: string }> {
  const model = given ?? (await defaultModel(ctx, 'autopilot_model'));
  const { tenantId, projectId } = projectScope(ctx);
  const id = derivedId(0, ['autopilot', tenantId, projectId, model]);
  const settings = autopilotSettings(model);
  await requireUsable(ctx, id, settings);
  await ensurePublished(ctx, { id, name: `Autopilot with ${model}`, kind: 'autopilot', graph: graphOf(settings) });
  return { workflowId: id, model };
}

/**
 * Creates a conversation with Autopilot. A repeated message id returns the conversation of the first request. Throws the errors of
 * `autopilotFor`.
 */
export async function beginThread(
  ctx: Context,
  { model: given, messageId }: { model: string | undefined; messageId: string | undefined },
): Promise<string> {
  const { pool, clock } = ctx.services;
  const scope = threadScope(ctx);
  const { workflowId, model } = await autopilotFor(ctx, given);
  const { tenantId, projectId, userId } = scope;
  const id =
    messageId === undefined ? newId() : derivedId(0, ['autopilot thread', tenantId, projectId, userId, messageId]);
  const thread = { id, workflow_id: workflowId, agent_id: null, model, title: '', visibility: 'private' as const };
  await ensureThread(pool, scope, { ...thread, at: new Date(clock.now()) });
  return id;
}

/** Returns a conversation with Autopilot. Throws AppError 404 for other threads, and for those that the caller may not see. */
export async function requireAutopilotThread(ctx: Context, id: string): Promise<ThreadRow> {
  const thread = await requireThread(ctx, id);
  if (thread.kind !== 'autopilot') throw notFound('Thread');
  return thread;
}

/** Returns the caller's conversation with Autopilot that changed last; null if the caller has none. */
export async function lastThread(ctx: Context): Promise<ThreadRow | null> {
  const scope = threadScope(ctx);
  const filter = {
    q: undefined,
    agentId: undefined,
    kind: 'autopilot',
    archived: false,
    after: null,
    limit: 1,
  } as const;
  const [thread] = await listThreadRows(ctx.services.pool, scope, { ...filter, own: true });
  return thread ?? null;
}
