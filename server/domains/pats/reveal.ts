import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { notFound } from '../../platform/errors.ts';
import { requireScopes } from '../identity/authority.ts';
import { requireLifetime } from './lifetime.ts';
import type { ById, RevealPatOutput } from './schemas.ts';
import { findPatRow } from './sql/store.ts';
import { patSecretName } from './token.ts';

/**
 * GET /v1/pats/{id}/reveal: the plaintext, once, to the token's own user; an administrator cannot reveal another's. The copy
 * is destroyed in the same step. AppError 404 the second time, or for a token that is another's, unknown or revoked;
 * 403 when a token would reveal one with scopes it lacks itself, or one that outlives it.
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
