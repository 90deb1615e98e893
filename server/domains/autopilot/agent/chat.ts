import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { StreamFrame } from '../../../operation/operation.ts';
import { invalid } from '../../../platform/errors.ts';
import { sendMessage } from '../../chat/messages/send.ts';
import type { SentOutput } from '../../chat/schemas.ts';
import { streamThread } from '../../chat/stream/follow.ts';
import { requireScopes } from '../../identity/authority.ts';
import type { AutopilotChatInput, AutopilotStreamInput } from '../schemas.ts';
import { autopilotFor, beginThread, lastThread, requireAutopilotThread } from './threads.ts';

/**
 * POST /v1/autopilot/chat: sends a message to Autopilot, in an existing conversation or a new one. Throws AppError 403
 * `insufficient_scope` without `workflow:read`, 404 for a thread that is not a conversation with Autopilot, 422
 * `model_not_configured`, and the errors of `sendMessage`.
 */
export async function chatWithAutopilot(
  ctx: Context,
  { thread_id, model, ...message }: z.output<typeof AutopilotChatInput>,
): Promise<z.input<typeof SentOutput>> {
  requireScopes(ctx.principal, ['workflow:read']);
  if (thread_id === undefined) {
    const id = await beginThread(ctx, { model, messageId: message.message_id });
    return sendMessage(ctx, { ...message, id });
  }
  if (model !== undefined) {
    const details = [{ path: 'model', message: 'is chosen when a conversation begins: leave it out with thread_id' }];
    throw invalid('The request is not valid.', details, 'validation_error');
  }
  const thread = await requireAutopilotThread(ctx, thread_id);
  // Publishes Autopilot's current settings if they have changed, so that the conversation continues with them.
  await autopilotFor(ctx, thread.model ?? undefined);
  return sendMessage(ctx, { ...message, id: thread.id });
}

/**
 * GET /v1/autopilot/stream: the answer that is being written, in the format of `chat_stream`. Null if no answer is being written. Throws
 * AppError 404, 422 for a malformed `Last-Event-ID`, 503.
 */
export async function streamAutopilot(
  ctx: Context,
  { thread_id, after }: z.output<typeof AutopilotStreamInput>,
): Promise<AsyncIterable<StreamFrame> | null> {
  const thread = thread_id === undefined ? await lastThread(ctx) : await requireAutopilotThread(ctx, thread_id);
  return thread === null ? null : streamThread(ctx, { id: thread.id, after });
}
