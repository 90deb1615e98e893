import type { Pat } from '../../../platform/postgres/generated/client.ts';
import type { Transaction } from '../../../platform/postgres/transaction.ts';

type Models = Pick<Transaction, 'pat'>;

/** Inserts a token. */
export async function insertPat(
  db: Models,
  pat: Pick<Pat, 'id' | 'tenantId' | 'projectId' | 'userId' | 'displayName' | 'scopes' | 'createdAt'> &
    Partial<Pick<Pat, 'expiresAt' | 'createdByPatId'>> & { tokenHash: Uint8Array<ArrayBuffer> },
): Promise<void> {
  await db.pat.create({ data: pat });
}

/** Returns when the token of a credential expires; undefined if it was revoked. */
export async function findExpiry(db: Models, patId: string): Promise<Date | null | undefined> {
  const pat = await db.pat.findFirst({ where: { id: patId, revokedAt: null }, select: { expiresAt: true } });
  return pat?.expiresAt;
}
