import type { Context } from '../../../operation/context.ts';
import { AppError, forbidden, invalid } from '../../../platform/errors.ts';
import type { ProposalHeadRow } from './store.ts';

/** Returns the ETag of a proposal. Its form differs from the ETag of a draft, so that clients cannot confuse the two. */
export const proposalEtag = ({ revision }: Pick<ProposalHeadRow, 'revision'>): string => `"proposal-${revision}"`;

/**
 * Requires that the request names the reviewed state of the proposal, by `etag` or `If-Match`. Throws AppError 428 `etag_required` if the
 * request names no state or `*`, 412 `etag_mismatch` if the proposal has changed since, 422 for a malformed tag.
 */
export function requireReviewed(ctx: Context, row: ProposalHeadRow, etag: string | undefined): void {
  const header = ctx.headers.get('if-match')?.trim();
  const named = [etag?.trim(), header].filter(tag => tag !== undefined);
  if (named.length === 0 || named.includes('*')) {
    const message = 'Say which state of the proposal was reviewed: send its `etag`, as a field or as If-Match.';
    throw new AppError(428, 'etag_required', message);
  }
  for (const tag of named) {
    if (tag === proposalEtag(row)) continue;
    if (/^(?:W\/)?"[^"]*"$/.test(tag)) {
      throw new AppError(412, 'etag_mismatch', 'The proposal has changed since it was reviewed. Review it again.');
    }
    const details = [{ path: tag === header ? 'If-Match' : 'etag', message: 'is not an entity tag' }];
    throw invalid('The ETag must be the one that the proposal was read with.', details);
  }
}

/** Throws AppError 403 `insufficient_role` if the caller is a viewer and the proposal is not the caller's own. */
export function requireMayChange({ principal }: Context, { creator_id }: ProposalHeadRow): void {
  if (principal.role !== 'project_viewer' || principal.userId === creator_id) return;
  throw forbidden('Changing the proposal of somebody else needs the role project_contributor.', 'insufficient_role');
}
