import type { z } from 'zod';
import type { Context } from '../../api/context.ts';
import { notFound } from '../../platform/errors.ts';
import { principalCache } from '../identity/principal-cache.ts';
import { manageable } from './list.ts';
import type { ById } from './schemas.ts';
import { revokePatRow } from './store.ts';
import { patSecretName } from './token.ts';

/** DELETE /v1/pats/{id}: the token is dead at once, here and within 2 s in other processes. AppError 404. */
export async function revokePat({ principal, services }: Context, { id }: z.output<typeof ById>): Promise<undefined> {
  const revoked = await revokePatRow(services.pool, manageable(principal), id, services.clock.now());
  principalCache(services).clear();
  if (!revoked) throw notFound('Token');
  try {
    await services.secrets.delete(principal.tenantId, patSecretName(id));
  } catch (error) {
    // The token is dead, which is what was asked for; its copy cannot be revealed any more either.
    services.logger.warn({ err: error, pat_id: id }, 'the copy of a revoked token was not deleted');
  }
}
