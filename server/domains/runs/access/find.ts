import type { Context } from '../../../operation/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { findRun, type RunRow, type RunScope } from '../store.ts';
import { requireReader } from './readers.ts';

/** Returns the place of a run that a route names, in the tenant and project of the credential. */
export function runScope(ctx: Context, ref: { id: string; runID: string }): RunScope {
  const { tenantId, projectId } = ctx.principal;
  return { tenantId, projectId, workflowId: ref.id, runId: ref.runID };
}

/**
 * Returns the run, for callers that read its contents. Throws AppError 404 if it does not belong to this tenant,
 * project and workflow, and 403 `private_run`.
 */
export async function requireRun(ctx: Context, ref: { id: string; runID: string }): Promise<RunRow> {
  const row = await requireListedRun(ctx, ref);
  await requireReader(ctx, row);
  return row;
}

/** Returns the run, for callers that read only what lists show to every member. Throws AppError 404. */
export async function requireListedRun(ctx: Context, ref: { id: string; runID: string }): Promise<RunRow> {
  const row = await findRun(ctx.services.pool, runScope(ctx, ref));
  if (row === null) throw notFound('Run');
  return row;
}
