import type { Principal } from '../../../operation/context.ts';
import { AppError, unauthenticated } from '../../../platform/errors.ts';
import type { Transaction } from '../../../platform/postgres/transaction.ts';
import { findExpiry } from './store.ts';

/**
 * Throws AppError 403 `insufficient_lifetime` if the caller is a token that expires before `expiresAt` (null: never):
 * with the new token, its holder would keep their rights beyond its expiry. 401 if it was revoked. A session has no
 * such limit.
 */
export async function requireLifetime(
  db: Pick<Transaction, 'pat'>,
  { credential }: Principal,
  expiresAt: number | null,
): Promise<void> {
  if (credential.kind === 'session') return;
  const own = await findExpiry(db, credential.patId);
  if (own === undefined) throw unauthenticated();
  if (own === null || (expiresAt !== null && expiresAt <= own.getTime())) return;
  throw new AppError(
    403,
    'insufficient_lifetime',
    `The token that makes the request expires at ${own.toISOString()}.`,
    {
      details: [{ path: 'expires_at', message: 'must not be after the expiry of the token that makes the request' }],
    },
  );
}
