import type { Context } from '../../operation/context.ts';
import { DEFAULT_KIND, type WorkflowKind } from '../../operation/workflow-kinds.ts';
import { AppError, conflict, invalid, notFound } from '../../platform/errors.ts';
import { requireWorkflow } from './get.ts';
import { findWorkflow, type WorkflowRow } from './store.ts';
import { etagOf, projectScope } from './view.ts';

/**
 * Returns the revision that If-Match names; null if the request sets no condition, or `*`. A tag of another form can
 * never match, so it is refused immediately. Throws AppError 412 for a tag, 422 for a value that is not a tag.
 */
export function expectedRevision(ctx: Context): number | null {
  return revisionIn(ctx.headers.get('if-match'));
}

/** Returns the same for a tag that is not from the header If-Match. */
export function revisionIn(given: string | undefined): number | null {
  const tag = given?.trim();
  if (tag === undefined || tag === '*') return null;
  const revision = /^"(\d{1,9})"$/.exec(tag)?.[1];
  if (revision !== undefined) return Number(revision);
  if (/^(?:W\/)?"[^"]*"$/.test(tag)) throw mismatch();
  throw invalid('If-Match must be the one ETag that the workflow was read with.', [
    { path: 'If-Match', message: 'is not an entity tag' },
  ]);
}

/**
 * Returns the error that explains why a change did not apply to a draft: 404, 409 `managed_elsewhere` or
 * `workflow_archived`, or 412 `etag_mismatch`.
 */
export async function whyUnchanged(ctx: Context, id: string): Promise<AppError> {
  const row = await findWorkflow(ctx.services.prisma, projectScope(ctx), id);
  if (row === null) return notFound('Workflow');
  if (row.kind !== DEFAULT_KIND) return managedElsewhere(row.kind);
  return row.status === 'archived' ? archived() : mismatch(etagOf(row));
}

export function archived(): AppError {
  return conflict('workflow_archived', 'The workflow is archived and can no longer be changed.');
}

/**
 * Returns the workflow to change. Throws AppError 404, and 409 `managed_elsewhere` for a workflow that another part of
 * the service manages, because its versions are generated from what that part stores.
 */
export async function requireEditable(ctx: Context, id: string): Promise<WorkflowRow> {
  const row = await requireWorkflow(ctx, id);
  if (row.kind !== DEFAULT_KIND) throw managedElsewhere(row.kind);
  return row;
}

/** Returns the error for a change of a workflow that another part of the service manages. */
export function managedElsewhere(kind: WorkflowKind): AppError {
  return conflict(
    'managed_elsewhere',
    `This is a workflow of the kind ${kind}, which cannot be changed as a workflow.`,
  );
}

function mismatch(etag?: string): AppError {
  const message = 'The workflow has changed since it was read. Read it again before saving.';
  return new AppError(412, 'etag_mismatch', message, etag === undefined ? {} : { headers: { ETag: etag } });
}
