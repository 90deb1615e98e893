import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { invalid } from '../../../platform/errors.ts';
import { requireRun } from '../../runs/access/find.ts';
import { refuseCredentials } from '../refuse-credentials.ts';
import { requireAbout } from '../require-about.ts';
import type { IndexConversationInput, IndexFileInput, IndexOutput, Trust } from '../schemas.ts';
import { columnsOf, requireWriter, scopeOf } from '../scope.ts';
import { cutIntoChunks } from './chunks.ts';
import { insertEpisode, type NewChunk, type NewEpisode } from './store.ts';

/** The maximum number of chunks of an episode. A request of 1 MiB with ordinary turns has fewer. */
const MAX_CHUNKS = 5_000;

/** POST /v1/memory/index-conversation: stores turns as an episode. Throws AppError 403, 404, 422 `contains_credential`. */
export async function indexConversation(
  ctx: Context,
  input: z.output<typeof IndexConversationInput>,
): Promise<z.input<typeof IndexOutput>> {
  requireWriter(ctx.principal, input.visibility);
  await requireAbout(ctx, input);
  await refuseCredentials(ctx, [
    ...input.turns.map(({ text }, at) => ({ path: `turns[${at}].text`, text })),
    { path: 'thread_id', text: input.thread_id ?? '' },
    { path: 'title', text: input.title ?? '' },
  ]);
  const occurredAt = timeOf(ctx, input.occurred_at);
  const chunks = input.turns.flatMap(turn =>
    cutIntoChunks(turn.text).map((text, _, { length }) => ({
      role: turn.role,
      trust: trustOf(turn.role),
      text,
      isPart: length > 1,
      occurredAt: turn.occurred_at === undefined ? occurredAt : new Date(turn.occurred_at),
    })),
  );
  const trust = chunks.some(chunk => chunk.trust === 'untrusted') ? 'untrusted' : 'trusted';
  const about = await sourceOf(ctx, input);
  const title = input.title ?? about.sourceRef;
  return store(ctx, input, { ...about, title, trust, occurredAt, chunks }, { replace: false });
}

/** Returns the conversation or run of the turns. Throws AppError 404 for a run that the caller cannot read, 422 `invalid_source`. */
async function sourceOf(
  ctx: Context,
  { thread_id: threadId, run_id: runId, workflow_id: workflowId }: z.output<typeof IndexConversationInput>,
): Promise<Pick<NewEpisode, 'source' | 'sourceRef'>> {
  const refused = (path: string, message: string) =>
    invalid('Name either a thread, or a run and its workflow.', [{ path, message }], 'invalid_source');
  if (runId === undefined) {
    if (threadId === undefined) throw refused('thread_id', 'is needed without `run_id`');
    return { source: 'thread', sourceRef: threadId };
  }
  if (threadId !== undefined) throw refused('thread_id', 'cannot be combined with `run_id`');
  if (workflowId === undefined) throw refused('workflow_id', 'is needed with `run_id`');
  await requireRun(ctx, { id: workflowId, runID: runId });
  return { source: 'run', sourceRef: runId };
}

/** POST /v1/memory/index-file: stores a file and replaces its earlier text. Throws AppError 403, 404, 422 `contains_credential`. */
export async function indexFile(
  ctx: Context,
  input: z.output<typeof IndexFileInput>,
): Promise<z.input<typeof IndexOutput>> {
  requireWriter(ctx.principal, input.visibility);
  await requireAbout(ctx, input);
  await refuseCredentials(ctx, [
    { path: 'content', text: input.content },
    { path: 'path', text: input.path },
  ]);
  const occurredAt = timeOf(ctx, input.occurred_at);
  const trust = 'untrusted' as const;
  const chunks = cutIntoChunks(input.content).map(text => ({ role: 'text', trust, text, occurredAt }));
  const title = input.path.split('/').at(-1) || input.path;
  const about = { source: 'file', sourceRef: input.path, title, trust } as const;
  return store(ctx, input, { ...about, occurredAt, chunks }, { replace: true });
}

const trustOf = (role: string): Trust => (role === 'tool' ? 'untrusted' : 'trusted');
const timeOf = ({ services }: Context, given: string | undefined): Date => new Date(given ?? services.clock.now());

async function store(
  { principal, services }: Context,
  input: Pick<z.output<typeof IndexFileInput>, 'visibility' | 'workflow_id' | 'agent_id'>,
  about: Pick<NewEpisode, 'source' | 'sourceRef' | 'title' | 'trust' | 'occurredAt' | 'chunks'>,
  options: { replace: boolean },
): Promise<z.input<typeof IndexOutput>> {
  if (about.chunks.length > MAX_CHUNKS) {
    throw invalid(`The text has more than ${MAX_CHUNKS} parts.`, undefined, 'too_many_chunks');
  }
  const episode: NewEpisode = {
    ...about,
    ...columnsOf(scopeOf(principal), input.visibility),
    tenantId: principal.tenantId,
    workflowId: input.workflow_id ?? null,
    agentId: input.agent_id ?? null,
    contentHash: hashOf(about.chunks),
    createdBy: principal.userId,
    at: new Date(services.clock.now()),
  };
  const { id, added } = await insertEpisode(services.pool, episode, options);
  return { episode_id: id, chunks: added ? about.chunks.length : 0, deduplicated: !added };
}

const hashOf = (chunks: readonly NewChunk[]): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(chunks.map(({ role, text }) => [role, text])))
    .digest();
