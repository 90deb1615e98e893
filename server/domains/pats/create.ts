import type { z } from 'zod';
import { type Context, scopes } from '../../contract/context.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { invalid } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { requireScopes } from '../identity/authority.ts';
import { lockTenant } from '../identity/sql/lock-store.ts';
import { requireLifetime } from './lifetime.ts';
import type { CreatePatInput, CreatePatOutput } from './schemas.ts';
import { insertPat } from './store.ts';
import { generatePatToken, patHash, patSecretName } from './token.ts';

/**
 * POST /v1/pats: a token of the caller's own, bound to this tenant and project. The plaintext is in this answer, and
 * once more behind `reveal`. AppError 403 when a token asks for a scope it lacks itself or a longer life than its own, 401 when it
 * was revoked meanwhile; 422 when `expires_at` has passed.
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
  // The copy first: if it fails, there is no token. In the other order a failure would leave a token that its user
  // never gets.
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
        // Revoking the maker waits for this, or this for it: no token is missed.
        await lockTenant(tx, tenantId);
        await requireLifetime(tx, principal, expiresAt);
      }
      await insertPat(tx, pat);
    });
  } catch (error) {
    await services.secrets.delete(tenantId, patSecretName(id)).catch(() => undefined); // the first error is the one to tell
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
