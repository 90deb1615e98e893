import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireScopes } from '../authority.ts';
import { requireLifetime } from './lifetime.ts';
import { findPatRow } from './queries.ts';
import type { ById, RevealPatOutput } from './schemas.ts';
import { patSecretName } from './token.ts';

/**
 * GET /v1/pats/{id}/reveal: returns the plaintext once, to the token's own user; an administrator cannot reveal another
 * user's. The copy is destroyed in the same step. Throws AppError 404 the second time, or for a token that is another
 * user's, unknown or revoked; 403 if the caller is a token that lacks one of its scopes or expires before it.
 */
export async function revealPat(
  { principal, services }: Context,
  { id }: z.output<typeof ById>,
): Promise<z.input<typeof RevealPatOutput>> {
  const { tenantId, projectId, userId } = principal;
  const pat = await findPatRow(services.pool, { tenantId, projectId, userId }, id);
  if (!pat) throw notFound('Token');
  requireScopes(principal, pat.scopes);
  await requireLifetime(services.prisma, principal, pat.expiresAt);
  const token = await services.secrets.take(tenantId, patSecretName(id));
  if (token === null) throw notFound('Token');
  return { id, token };
}
