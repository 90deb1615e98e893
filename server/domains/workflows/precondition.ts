import type { Context } from '../../contract/context.ts';
import { AppError, conflict, invalid, notFound } from '../../platform/errors.ts';
import { findWorkflow } from './store.ts';
import { etagOf, projectScope } from './view.ts';

/**
 * Returns the revision that If-Match names; null if the request sets no condition (or `*`: any). A tag of another form
 * can never match, so it is refused immediately: AppError 412 for a tag, 422 for a value that is not a tag.
 */
export function expectedRevision(ctx: Context): number | null {
  const header = ctx.headers.get('if-match')?.trim();
  if (header === undefined || header === '*') return null;
  const revision = /^"(\d{1,9})"$/.exec(header)?.[1];
  if (revision !== undefined) return Number(revision);
  if (/^(?:W\/)?"[^"]*"$/.test(header)) throw mismatch();
  throw invalid('If-Match must be the one ETag that the workflow was read with.', [
    { path: 'If-Match', message: 'is not an entity tag' },
  ]);
}

/** Why a conditional change of a draft changed nothing: 404, 409 `workflow_archived` or 412 `etag_mismatch`. */
export async function whyUnchanged(ctx: Context, id: string): Promise<AppError> {
  const row = await findWorkflow(ctx.services.prisma, projectScope(ctx), id);
  if (row === null) return notFound('Workflow');
  return row.status === 'archived' ? archived() : mismatch(etagOf(row));
}

export function archived(): AppError {
  return conflict('workflow_archived', 'The workflow is archived and can no longer be changed.');
}

function mismatch(etag?: string): AppError {
  const message = 'The workflow has changed since it was read. Read it again before saving.';
  return new AppError(412, 'etag_mismatch', message, etag === undefined ? {} : { headers: { ETag: etag } });
}
