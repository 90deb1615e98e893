import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { withoutMentions } from '../../../operation/mentions.ts';
import { sha256 } from '../../../platform/crypto/digest.ts';
import { AppError, conflict, invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { isDatabaseAway } from '../../../platform/postgres/away.ts';
import { type Queryable, transact } from '../../../platform/postgres/transaction.ts';
import { carriedScopes } from '../../identity/authority.ts';
import { startAndFollow } from '../answers/process.ts';
import { stopRun } from '../answers/start.ts';
import type { QueuedAnswer } from '../answers/store.ts';
import { requireBudget } from '../budget.ts';
import type { RegenerateInput, SendInput, SentOutput } from '../schemas.ts';
import { type MessagePart, textOf } from '../stream/parts.ts';
import { type LockedThread, lockThread } from '../threads/store.ts';
import { requireThread, threadBusy, threadNotFound, threadScope } from '../threads/view.ts';
import { readContext } from './context.ts';
import {
  type AnswerState,
  findMessage,
  findMessages,
  findRequested,
  insertAnswer,
  isBusy,
  removeRefused,
} from './store.ts';

type Sent = z.input<typeof SentOutput>;
/** A request to answer a new message, or to answer a message again. */
type AnswerRequest = {
  threadId: string;
  requestId: string;
  requestHash: Buffer;
  whenBusy: 'queue' | 'interrupt' | 'reject';
  /** Validates the request against the locked thread. Returns the message to answer. */
  resolve(
    thread: LockedThread,
    client: Queryable,
  ): Promise<{ messageId: string; parts: readonly MessagePart[]; isNew: boolean; parentId: string | null }>;
};

const TITLE_CHARS = 80;

/**
 * POST /v1/chat/threads/{id}/messages: stores a message and the id of the run that answers it, and starts the run. A repeated
 * `message_id` returns the same answer. Throws AppError 404, 409 `message_id_reused`, `thread_busy`, `thread_archived`, 422 for a
 * parent that is no answer, 422 `ai_budget_exhausted`, and the errors of any start.
 */
export async function sendMessage(ctx: Context, input: z.output<typeof SendInput>): Promise<Sent> {
  const { id, text, message_id: messageId = newId(), parent_id, when_busy, context } = input;
  const about = context === undefined ? [] : [await readContext(ctx, context)];
  const hashed = [text, parent_id === undefined ? [] : parent_id, ...(context === undefined ? [] : [context])];
  return requestAnswer(ctx, {
    threadId: id,
    requestId: messageId,
    requestHash: sha256(JSON.stringify(hashed)),
    whenBusy: when_busy,
    async resolve(thread, client) {
      const scope = { tenantId: thread.tenant_id, threadId: id };
      const parentId = parent_id === undefined ? thread.head_id : parent_id;
      const found = await findMessages(client, scope, parentId === null ? [messageId] : [messageId, parentId]);
      if (found.has(messageId)) throw messageIdReused();
      if (parentId !== null && found.get(parentId)?.role !== 'assistant')
        throw badReference('parent_id', 'is not an answer of the thread');
      return { messageId, parts: [{ type: 'text', text }, ...about], isNew: true, parentId };
    },
  });
}

/**
 * POST /v1/chat/threads/{id}/messages/{message_id}/regenerate: answers a message again and keeps the earlier answer. Throws the errors of
 * `sendMessage`, and 404 for a message that no person sent.
 */
export async function regenerateAnswer(ctx: Context, input: z.output<typeof RegenerateInput>): Promise<Sent> {
  const { id, message_id: messageId, request_id: requestId = newId(), when_busy } = input;
  return requestAnswer(ctx, {
    threadId: id,
    requestId,
    requestHash: sha256(JSON.stringify({ regenerate: messageId })),
    whenBusy: when_busy,
    async resolve(thread, client) {
      const message = await findMessage(client, { tenantId: thread.tenant_id, threadId: id }, messageId);
      if (message?.role !== 'user') throw threadNotFound();
      return { messageId, parts: message.parts, isNew: false, parentId: message.parent_id };
    },
  });
}

const messageIdReused = () => conflict('message_id_reused', 'This id was used for another message of the thread.');
const badReference = (path: string, message: string) =>
  invalid('The request is not valid.', [{ path, message }], 'validation_error');

type StoredRequest = {
  thread: LockedThread;
  messageId: string;
  parts: readonly MessagePart[];
  isNew: boolean;
  runId: string;
  state: AnswerState;
  isBusy: boolean;
};

async function requestAnswer(ctx: Context, request: AnswerRequest): Promise<Sent> {
  const { services, principal } = ctx;
  const stored = await transact(services.pool, client => storeRequest(ctx, client, request));
  const { thread, runId, messageId, state } = stored;
  const answer = answerOf(ctx, stored);
  const sent = { thread_id: thread.id, message_id: messageId, run_id: runId, workflow_id: thread.workflow_id };
  if (state !== 'queued') return { ...sent, status: state };
  if (stored.isBusy) {
    if (request.whenBusy === 'interrupt') await interrupt(ctx, thread.id);
    return { ...sent, status: 'queued' };
  }
  try {
    await startAndFollow(services, answer, { email: principal.email, carried: carriedScopes(principal) });
  } catch (error) {
    // The queued answer is committed: the leader's job starts it later (server/domains/chat/job.ts).
    if (isDatabaseAway(error) || (error instanceof AppError && error.status >= 500))
      return { ...sent, status: 'queued' };
    if (error instanceof AppError) await removeRefusedRequest(ctx, stored, error);
    throw error;
  }
  return { ...sent, status: 'running' };
}

/** Stores a request in one transaction. Returns the stored request if it is repeated. */
async function storeRequest(ctx: Context, client: Queryable, request: AnswerRequest): Promise<StoredRequest> {
  const { clock } = ctx.services;
  const { threadId, requestId, requestHash, whenBusy } = request;
  const thread = await lockThread(client, threadScope(ctx), threadId);
  if (thread === null) throw threadNotFound();
  const scope = { tenantId: thread.tenant_id, threadId };
  const earlier = await findRequested(client, scope, requestId);
  if (earlier !== null) {
    if (!earlier.request_hash.equals(requestHash)) throw messageIdReused();
    const { parent_id: messageId, run_id: runId, status: state } = earlier;
    const message = await findMessage(client, scope, messageId);
    const parts = message?.parts ?? [];
    // An answer that is queued behind another one stays queued. One whose start failed is started.
    return { thread, messageId, parts, isNew: false, runId, state, isBusy: await isBusy(client, scope, runId) };
  }
  if (thread.archived_at !== null) throw conflict('thread_archived', 'The thread is archived and takes no messages.');
  const { messageId, parts, isNew, parentId } = await request.resolve(thread, client);
  const busy = await isBusy(client, scope);
  if (busy && whenBusy === 'reject') throw threadBusy();
  const { userId, tenantId, credential } = ctx.principal;
  await requireBudget({ pool: client, clock }, { tenantId, userId });
  const runId = newId();
  const by = { sentBy: userId, patId: credential.kind === 'pat' ? credential.patId : null, at: new Date(clock.now()) };
  const message = isNew ? { message: { id: messageId, parentId, parts } } : { message: null, parentId: messageId };
  const [line = ''] = withoutMentions(textOf(parts)).trim().split('\n', 1);
  const title = line.slice(0, TITLE_CHARS).toWellFormed();
  await insertAnswer(client, { ...scope, title }, { runId, requestId, requestHash, ...by, ...message });
  return { thread, messageId, parts, isNew, runId, state: 'queued', isBusy: busy };
}

function answerOf({ principal }: Context, { thread, runId, parts }: StoredRequest): QueuedAnswer {
  const { tenantId, projectId, userId, credential } = principal;
  const patId = credential.kind === 'pat' ? credential.patId : null;
  return {
    tenantId,
    projectId,
    threadId: thread.id,
    workflowId: thread.workflow_id,
    runId,
    parts,
    sentBy: userId,
    patId,
  };
}

/** Stops the active answer. Processing its end starts the next one. */
async function interrupt(ctx: Context, threadId: string): Promise<void> {
  const { tenantId, projectId, email } = ctx.principal;
  const { active_run_id: runId, workflow_id: workflowId } = await requireThread(ctx, threadId);
  if (runId !== null) await stopRun(ctx.services, { tenantId, projectId, workflowId, runId }, email);
}

/** Removes a request whose start was refused, so that it can be repeated. */
async function removeRefusedRequest(
  ctx: Context,
  { thread, runId, messageId, isNew }: StoredRequest,
  error: AppError,
): Promise<void> {
  const scope = { tenantId: thread.tenant_id, threadId: thread.id };
  const { code, message } = error;
  await transact(ctx.services.pool, async client => {
    await lockThread(client, threadScope(ctx), thread.id);
    await removeRefused(client, scope, { runId, messageId: isNew ? messageId : null, error: { code, message } });
  });
}
