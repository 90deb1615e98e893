import type { Context } from '../../../operation/context.ts';
import { AppError, forbidden, invalid } from '../../../platform/errors.ts';
import type { ProposalHeadRow } from './store.ts';

/** The state of a proposal that a person reviews. It has another form than the ETag of a draft, so that neither passes for the other. */
export const proposalEtag = ({ revision }: Pick<ProposalHeadRow, 'revision'>): string => `"proposal-${revision}"`;

/**
 * Requires that the request names the state of the proposal that was reviewed, by `etag` or `If-Match`. AppError 428 `etag_required`
 * where it names none (also by `*`), 412 `etag_mismatch` where the proposal has changed since, 422 for what is no tag.
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

/** AppError 403 `insufficient_role` for a viewer who would change the proposal of somebody else. */
export function requireMayChange({ principal }: Context, { creator_id }: ProposalHeadRow): void {
  if (principal.role !== 'project_viewer' || principal.userId === creator_id) return;
  throw forbidden('Changing the proposal of somebody else needs the role project_contributor.', 'insufficient_role');
}
