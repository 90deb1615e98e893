import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { scopes } from '../../../orchestrator/ports/authority.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { requireScopes } from '../authority.ts';
import { lockTenant } from '../lock-queries.ts';
import { requireLifetime } from './lifetime.ts';
import type { CreatePatInput, CreatePatOutput } from './schemas.ts';
import { insertPat } from './store.ts';
import { generatePatToken, patHash, patSecretName } from './token.ts';

/**
 * POST /v1/pats: creates a token for the caller, bound to this tenant and project. This answer has the plaintext, which
 * can be read once more with `reveal`. Throws AppError 403 if a token requests a scope that it lacks or a longer
 * lifetime than its own, 401 if it was revoked meanwhile; 422 if `expires_at` has passed.
 */
export async function createPat(
  { principal, services }: Context,
  input: z.output<typeof CreatePatInput>,
): Promise<z.input<typeof CreatePatOutput>> {
  const now = services.clock.now();
  const wanted = scopes.filter(scope => input.scopes.includes(scope));
  requireScopes(principal, wanted);
  const expiresAt = input.expires_at === undefined ? null : Date.parse(input.expires_at);
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid('The expiry must be in the future.', [{ path: 'expires_at', message: 'must be in the future' }]);
  }
  const { tenantId, projectId, userId } = principal;
  const id = newId();
  const token = generatePatToken();
  const parent = principal.credential.kind === 'pat' ? principal.credential.patId : null;
  // The copy is stored first: if that fails, there is no token. In the other order a failure would leave a token
  // that its user never receives.
  await services.secrets.put(tenantId, patSecretName(id), token);
  try {
    const pat = {
      id,
      tenantId,
      projectId,
      userId,
      displayName: input.display_name,
      tokenHash: new Uint8Array(patHash(token)),
      scopes: wanted,
      createdAt: new Date(now),
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
      createdByPatId: parent,
    };
    await transact(services, async tx => {
      if (parent !== null) {
        // A revocation of the token that creates this one waits for this transaction, or the
        // reverse, so it misses no token.
        await lockTenant(tx, tenantId);
        await requireLifetime(tx, principal, expiresAt);
      }
      await insertPat(tx, pat);
    });
  } catch (error) {
    await services.secrets.delete(tenantId, patSecretName(id)).catch(() => undefined); // report the first error
    throw error;
  }
  return {
    id,
    display_name: input.display_name,
    token,
    scopes: wanted,
    created_at: isoTimestamp(now),
    expires_at: expiresAt === null ? null : isoTimestamp(expiresAt),
  };
}
