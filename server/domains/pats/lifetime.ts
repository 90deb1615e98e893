import type { Principal } from '../../contract/context.ts';
import { AppError, unauthenticated } from '../../platform/errors.ts';
import type { Prisma } from '../../platform/postgres/generated/client.ts';

/**
 * AppError 403 `insufficient_lifetime` where the caller is a token that expires before `expiresAt` (null: never): with it, whoever
 * holds the token would keep its rights beyond its end. 401 where it was revoked. A session may do as it likes.
 */
export async function requireLifetime(
  db: Pick<Prisma.TransactionClient, 'pat'>,
  { credential }: Principal,
  expiresAt: number | null,
): Promise<void> {
  if (credential.kind === 'session') return;
  const own = await db.pat.findFirst({ where: { id: credential.patId, revokedAt: null }, select: { expiresAt: true } });
  if (own === null) throw unauthenticated();
  if (own.expiresAt === null || (expiresAt !== null && expiresAt <= own.expiresAt.getTime())) return;
  throw new AppError(403, 'insufficient_lifetime', `The token itself expires at ${own.expiresAt.toISOString()}.`, {
    details: [{ path: 'expires_at', message: 'must not be after the end of the token that asks' }],
  });
}
