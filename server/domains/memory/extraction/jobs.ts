import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { actorOf, carriedScopes, requireScopes } from '../../identity/authority.ts';
import { callersTrace, triggerTypeOf } from '../../runs/start/command.ts';
import { startRun } from '../../runs/start/start.ts';
import { findRun } from '../../runs/store.ts';
import { type ExtractableRow, listExtractable } from '../episodes/store.ts';
import { type ExtractInput, type ExtractJob, type ExtractJobInput, MAX_PARTS } from '../schemas.ts';
import { requireWriter, scopeOf, visibilityOf } from '../scope.ts';
import { CHUNKS_PER_PART } from './extractor.ts';
import { deleteParts, findJob, insertParts, type Part } from './store.ts';
import { extractionWorkflow } from './workflow.ts';

const MAX_ERRORS_SHOWN = 20;

/**
 * POST /v1/memory/extract/batch: starts a run that proposes items from episodes. Throws AppError 403 (scope `ai:use`, role), 404, 422
 * `too_many_parts`, and the errors of checking a model and of any start.
 */
export async function startExtraction(
  ctx: Context,
  { episode_ids: ids, model }: z.output<typeof ExtractInput>,
): Promise<z.input<typeof ExtractJob>> {
  const { principal, services } = ctx;
  const { tenantId, projectId, email } = principal;
  requireScopes(principal, ['ai:use']);
  const parts = partsOf(await requireExtractable(ctx, ids));
  await requireModel(ctx, model);
  const workflowId = await extractionWorkflow(ctx);
  const runId = newId();
  const ref = { tenantId, projectId, runId };
  await insertParts(services.pool, ref, { workflowId, parts, at: new Date(services.clock.now()) });
  try {
    await startRun(services, {
      tenantId,
      projectId,
      workflowId,
      runId,
      params: { trigger_payload: { parts: parts.map((_, part) => part), model } },
      defaultTriggerType: triggerTypeOf(ctx),
      startedBy: email,
      carried: [carriedScopes(principal)],
      actsFor: actorOf(principal),
      ...callersTrace(ctx),
    });
  } catch (error) {
    await deleteParts(services.pool, ref);
    throw error;
  }
  return readJob(ctx, runId);
}

/** Returns the episodes in the order of the request. Throws AppError 403, 404. */
async function requireExtractable(ctx: Context, ids: readonly string[]): Promise<ExtractableRow[]> {
  const found = await listExtractable(ctx.services.pool, scopeOf(ctx.principal), ids);
  const byId = new Map(found.map(row => [row.id, row]));
  return [...new Set(ids)].map(id => {
    const episode = byId.get(id);
    if (episode === undefined) throw notFound('Episode');
    requireWriter(ctx.principal, visibilityOf({ projectId: episode.project_id, userId: episode.user_id }));
    return episode;
  });
}

/** Divides episodes into the parts of a job. Throws AppError 422 `too_many_parts`. */
export function partsOf(episodes: readonly Pick<ExtractableRow, 'id' | 'chunks'>[]): Part[] {
  const parts = episodes.flatMap(({ id, chunks }) =>
    Array.from({ length: Math.ceil(chunks / CHUNKS_PER_PART) }, (_, nth) => ({
      episodeId: id,
      from: nth * CHUNKS_PER_PART,
    })),
  );
  if (parts.length <= MAX_PARTS) return parts;
  const message = `hold ${parts.length} parts of ${CHUNKS_PER_PART} chunks: at most ${MAX_PARTS} in one job`;
  throw invalid('The episodes are too long for one job.', [{ path: 'episode_ids', message }], 'too_many_parts');
}

async function requireModel({ principal, services }: Context, model: string): Promise<void> {
  const step = { id: 'extract', type: 'memory_extract', model };
  const problems = (await services.stepTypes.get('memory_extract')?.check(step, principal)) ?? [];
  if (problems.length > 0) throw invalid('The model cannot be used.', problems, 'model_unusable');
}

/** GET /v1/memory/extract/{jobId}: the progress of a job, for all members of the project. Throws AppError 404. */
export function getExtraction(
  ctx: Context,
  { jobId }: z.output<typeof ExtractJobInput>,
): Promise<z.input<typeof ExtractJob>> {
  return readJob(ctx, jobId);
}

async function readJob(ctx: Context, runId: string): Promise<z.input<typeof ExtractJob>> {
  const { tenantId, projectId } = ctx.principal;
  const { pool } = ctx.services;
  const job = await findJob(pool, { tenantId, projectId, runId }, MAX_ERRORS_SHOWN);
  const run = job && (await findRun(pool, { tenantId, projectId, workflowId: job.workflow_id, runId }));
  if (job === null || run === null) throw notFound('Job');
  const { workflow_id, total, done, proposed, merged, superseded, dropped, errors } = job;
  const hasEnded = run.ended_at !== null;
  // A part that was stopped, or whose step failed before the extractor, has no stored state.
  const failed = hasEnded ? total - done : job.failed;
  const isWaiting = !hasEnded && done === 0 && failed === 0;
  const outcome = run.status === 'completed' && total > 0 && done === 0 ? 'failed' : run.status;
  return {
    job_id: runId,
    workflow_id,
    status: isWaiting ? 'queued' : hasEnded ? (outcome as 'completed') : 'running',
    total,
    done,
    failed,
    proposed,
    merged,
    superseded,
    dropped,
    credits_microcredits: Number(run.credits_microcredits),
    errors,
  };
}
