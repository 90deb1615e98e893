import { randomToken, sha256 } from '../../platform/crypto/digest.ts';
import type { AccountToken } from '../../platform/postgres/generated/client.ts';
import type { Database } from './account-store.ts';

export type TokenPurpose = 'confirm_address' | 'reset_password';
type NewToken = { purpose: TokenPurpose; email: string; userId?: string; validForMs: number };

const hashOf = (token: string) => new Uint8Array(sha256(token));

/** Stores the hash of a new token and returns the token, which is stored nowhere else. Also deletes expired tokens. */
export async function issueToken(
  db: Database,
  { purpose, email, userId, validForMs }: NewToken,
  now: number,
): Promise<string> {
  const token = randomToken();
  await db.accountToken.deleteMany({ where: { expiresAt: { lte: new Date(now) } } });
  await db.accountToken.create({
    data: {
      tokenHash: hashOf(token),
      purpose,
      email,
      userId: userId ?? null,
      createdAt: new Date(now),
      expiresAt: new Date(now + validForMs),
    },
  });
  return token;
}

/** Returns the record of a token; null if it is unknown, used, expired or for another purpose. */
export function findToken(
  db: Database,
  { token, purpose }: { token: string; purpose: TokenPurpose },
  now: number,
): Promise<AccountToken | null> {
  return db.accountToken.findFirst({
    where: { tokenHash: hashOf(token), purpose, expiresAt: { gt: new Date(now) } },
  });
}

/** Marks a token as used. Returns false if a concurrent caller has used it first. */
export async function spendToken(db: Database, { tokenHash }: Pick<AccountToken, 'tokenHash'>): Promise<boolean> {
  return (await db.accountToken.deleteMany({ where: { tokenHash } })).count === 1;
}

/** Voids the links of an address, or only those for one purpose. */
export async function deleteTokens(db: Database, email: string, purpose?: TokenPurpose): Promise<void> {
  await db.accountToken.deleteMany({ where: { email, ...(purpose === undefined ? {} : { purpose }) } });
}
