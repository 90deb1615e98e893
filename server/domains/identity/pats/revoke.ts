import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { lockTenant } from '../lock-queries.ts';
import { principalCache } from '../principal-cache.ts';
import { manageable } from './list.ts';
import { revokePatRows } from './queries.ts';
import type { ById, RevokePatOutput } from './schemas.ts';
import { patSecretName } from './token.ts';

/**
 * DELETE /v1/pats/{id}: revokes the token and all tokens that were created with it, immediately here and within 2 s in
 * other processes. Throws AppError 404.
 */
export async function revokePat(
  { principal, services }: Context,
  { id }: z.output<typeof ById>,
): Promise<z.input<typeof RevokePatOutput>> {
  const { tenantId } = principal;
  const revoked = await transact(services, async tx => {
    await lockTenant(tx, tenantId);
    return revokePatRows(tx, manageable(principal), id, services.clock.now());
  });
  principalCache(services).clear();
  if (revoked.length === 0) throw notFound('Token');
  try {
    for (const pat of revoked) await services.secrets.delete(tenantId, patSecretName(pat.id));
  } catch (error) {
    // The tokens are revoked, as requested; their copies cannot be revealed any more either.
    services.logger.warn({ err: error, pat_id: id }, 'the copy of a revoked token was not deleted');
  }
  const others = revoked.filter(pat => pat.id !== id);
  return { id, also_revoked: others.map(pat => ({ id: pat.id, display_name: pat.displayName })) };
}
