import { z } from 'zod';
import { operation, streamOperation } from '../../operation/operation.ts';
import { ListGrantsInput, ListGrantsOutput, RevokeGrantInput } from '../agents/schemas.ts';
import { startScopes } from '../runs/start/step-scopes.ts';
import { readAnswer } from './answers/read-answer.ts';
import { listMessages } from './messages/list.ts';
import { regenerateAnswer, sendMessage } from './messages/send.ts';
import { stopThread } from './messages/stop.ts';
import * as schema from './schemas.ts';
import { getChatSettings, patchChatSettings } from './settings.ts';
import { sendAndStream, streamThread } from './stream/follow.ts';
import { archiveThread, deleteThread, patchThread } from './threads/change.ts';
import { createThread, forkThread } from './threads/create.ts';
import { listThreadGrants, revokeThreadGrant } from './threads/grants.ts';
import { getThread, listThreads } from './threads/read.ts';

const place = { tag: 'Chat', feature: 'agents', access: 'project_viewer', scope: 'ai:use' } as const;
const common = { ...place, mcp: { group: 'chat' } } as const;
/** The options of POST alternatives to PATCH and DELETE, for clients that can send only GET and POST. */
const posted = { ...place, mcp: { group: 'chat', tool: false } } as const;
const asks = {
  errors: [409, 503],
  startsRun: () => true,
  scopesWhere: startScopes.filter(({ scope }) => scope !== 'ai:use'),
} as const;
const POST_ALTERNATIVE = 'The same as with its own method, for clients that can only read and post.';

const patch = {
  status: 200,
  summary: 'Rename a thread, share it with the project, or show another of its branches',
  input: schema.PatchThreadInput,
  output: schema.ThreadSchema,
  unaudited: true,
  run: patchThread,
} as const;
const remove = {
  status: 204,
  summary: 'Delete a thread with its messages',
  description: 'The logs of its runs stay as long as those of all runs. An answer that is being written is stopped.',
  input: schema.ThreadRef,
  output: z.void(),
  errors: [503],
  run: deleteThread,
} as const;
const revoke = {
  status: 204,
  summary: 'Withdraw a grant: calls like it are asked for again',
  description: 'For the owner of the thread and contributors.',
  input: RevokeGrantInput,
  output: z.void(),
  run: revokeThreadGrant,
} as const;
const patchSettings = {
  access: 'tenant_admin',
  status: 200,
  summary: 'Set what a person’s chats may cost a day, how long threads are kept, and which models answer',
  input: schema.PatchSettingsInput,
  output: schema.SettingsSchema,
  run: patchChatSettings,
} as const;

const threadOperations = [
  operation({
    ...common,
    name: 'chat_list_threads',
    method: 'GET',
    path: '/v1/chat/threads',
    status: 200,
    summary: 'List your threads and those shared with the project, the last changed first',
    input: schema.ListThreadsInput,
    output: schema.ListThreadsOutput,
    run: listThreads,
  }),
  operation({
    ...common,
    name: 'chat_create_thread',
    method: 'POST',
    path: '/v1/chat/threads',
    status: 201,
    summary: 'Begin a conversation with an agent, or with an assistant without tools',
    description: '422 `model_not_configured` where no model has a key.',
    input: schema.CreateThreadInput,
    output: schema.ThreadSchema,
    errors: [409],
    unaudited: true,
    run: createThread,
  }),
  operation({
    ...common,
    name: 'chat_get_thread',
    method: 'GET',
    path: '/v1/chat/threads/{id}',
    status: 200,
    summary: 'Read a thread, without its messages',
    input: schema.ThreadRef,
    output: schema.ThreadSchema,
    run: getThread,
  }),
  operation({ ...common, ...patch, name: 'chat_patch_thread', method: 'PATCH', path: '/v1/chat/threads/{id}' }),
  operation({
    ...posted,
    ...patch,
    name: 'chat_post_thread',
    method: 'POST',
    path: '/v1/chat/threads/{id}',
    description: POST_ALTERNATIVE,
  }),
  operation({ ...common, ...remove, name: 'chat_delete_thread', method: 'DELETE', path: '/v1/chat/threads/{id}' }),
  operation({
    ...posted,
    ...remove,
    name: 'chat_post_thread_delete',
    method: 'POST',
    path: '/v1/chat/threads/{id}/delete',
    description: POST_ALTERNATIVE,
  }),
  operation({
    ...common,
    name: 'chat_archive_thread',
    method: 'POST',
    path: '/v1/chat/threads/{id}/archive',
    status: 200,
    summary: 'Archive a thread, or bring it back',
    input: schema.ArchiveThreadInput,
    output: schema.ThreadSchema,
    unaudited: true,
    mcp: { ...common.mcp, hints: { idempotent: true } },
    run: archiveThread,
  }),
  operation({
    ...common,
    name: 'chat_fork_thread',
    method: 'POST',
    path: '/v1/chat/threads/{id}/fork',
    status: 201,
    summary: 'Copy a branch of a thread into a new thread of your own',
    input: schema.ForkThreadInput,
    output: schema.ThreadSchema,
    errors: [409],
    unaudited: true,
    run: forkThread,
  }),
] as const;

const messageOperations = [
  operation({
    ...common,
    name: 'chat_list_messages',
    method: 'GET',
    path: '/v1/chat/threads/{id}/messages',
    status: 200,
    summary: 'List the messages of a thread, of all its branches',
    description: 'Each is a `UIMessage` of the AI SDK; `metadata.parent_id` says which message it follows.',
    input: schema.ListMessagesInput,
    output: schema.ListMessagesOutput,
    run: listMessages,
  }),
  operation({
    ...common,
    ...asks,
    name: 'chat_send_message',
    method: 'POST',
    path: '/v1/chat/threads/{id}/messages',
    status: 202,
    summary: 'Send a message; a run answers it',
    description: `The message and the id of its run are stored before the answer to this request. A request that repeats a \`message_id\` gets the same answer; with
another text it is 409 \`message_id_reused\`. The run has the rights of the caller, as those of an agent have.`,
    input: schema.SendInput,
    output: schema.SentOutput,
    mcp: { ...common.mcp, hints: { openWorld: true, destructive: true } },
    run: sendMessage,
  }),
  operation({
    ...common,
    ...asks,
    name: 'chat_regenerate',
    method: 'POST',
    path: '/v1/chat/threads/{id}/messages/{message_id}/regenerate',
    status: 202,
    summary: 'Answer a message once more; the earlier answer stays',
    input: schema.RegenerateInput,
    output: schema.SentOutput,
    mcp: { ...common.mcp, hints: { openWorld: true, destructive: true } },
    run: regenerateAnswer,
  }),
  operation({
    ...common,
    name: 'chat_stop',
    method: 'POST',
    path: '/v1/chat/threads/{id}/stop',
    status: 200,
    summary: 'Stop the answer that is being written; its text so far stays',
    input: schema.ThreadRef,
    output: schema.StopOutput,
    errors: [503],
    unaudited: true,
    mcp: { ...common.mcp, hints: { destructive: true, idempotent: true } },
    run: stopThread,
  }),
  streamOperation({
    ...place,
    name: 'chat_stream',
    path: '/v1/chat/threads/{id}/stream',
    summary: 'Stream the answer that is being written',
    description: `The AI SDK's UI message stream, version 1. Without a cursor the whole answer so far comes first. Chunks of facts have an \`id\`, after which a client
resumes (\`Last-Event-ID\`); 204 where nothing is being written.`,
    input: schema.StreamInput,
    output: schema.StreamChunk,
    errors: [503],
    headers: ['Last-Event-ID'],
    run: streamThread,
  }),
  operation({
    ...common,
    tag: 'Runs',
    scope: 'workflow:read',
    name: 'runs_read_answer',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/answer',
    status: 200,
    summary: 'Read what agents have written so far in a run, such as the answer of a chat',
    description:
      'A bounded read of the text, also of the turn that is being written. `workflow_id` and `active_run_id` of a thread name its run.',
    input: schema.ReadAnswerInput,
    output: schema.ReadAnswerOutput,
    errors: [503],
    run: readAnswer,
  }),
  streamOperation({
    ...place,
    ...asks,
    name: 'chat_send_and_stream',
    method: 'POST',
    path: '/v1/chat/threads/{id}/stream',
    summary: 'Send a message and stream its answer',
    input: schema.SendInput,
    output: schema.StreamChunk,
    run: sendAndStream,
  }),
] as const;

const grantOperations = [
  operation({
    ...common,
    name: 'chat_list_grants',
    method: 'GET',
    path: '/v1/chat/threads/{id}/grants',
    status: 200,
    summary: 'List the calls that a person has allowed in this conversation for good, newest first',
    input: ListGrantsInput,
    output: ListGrantsOutput,
    run: listThreadGrants,
  }),
  operation({
    ...common,
    ...revoke,
    name: 'chat_revoke_grant',
    method: 'DELETE',
    path: '/v1/chat/threads/{id}/grants/{grant_id}',
  }),
  operation({
    ...posted,
    ...revoke,
    name: 'chat_post_grant_revoke',
    method: 'POST',
    path: '/v1/chat/threads/{id}/grants/{grant_id}/revoke',
    description: POST_ALTERNATIVE,
  }),
] as const;

/** The operations on chats. The runs of answers are also under /v1/workflows/{id}. */
export const chatOperations = [
  ...threadOperations,
  ...messageOperations,
  ...grantOperations,
  operation({
    ...common,
    name: 'chat_get_settings',
    method: 'GET',
    path: '/v1/chat/settings',
    status: 200,
    summary: 'Read the limits of chats, and what yours have cost today',
    input: schema.SettingsInput,
    output: schema.SettingsSchema,
    run: getChatSettings,
  }),
  operation({ ...common, ...patchSettings, name: 'chat_patch_settings', method: 'PATCH', path: '/v1/chat/settings' }),
  operation({
    ...posted,
    ...patchSettings,
    name: 'chat_post_settings',
    method: 'POST',
    path: '/v1/chat/settings',
    description: POST_ALTERNATIVE,
  }),
] as const;
