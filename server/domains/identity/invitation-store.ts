import type { TimeIdKey } from '../../operation/cursor.ts';
import type { Invitation } from '../../platform/postgres/generated/client.ts';
import { olderThan } from '../../platform/postgres/prisma.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { Database } from './account-store.ts';

/** The link of an invitation, and the current time. */
type Link = { tokenHash: Uint8Array<ArrayBuffer>; now: Date };

const openAt = ({ tokenHash, now }: Link) => ({ tokenHash, acceptedAt: null, expiresAt: { gt: now } });

/** Returns the tenant's open invitations, newest first, `take` of them after the keyset. */
export function readOpenInvitations(
  db: Database,
  tenantId: string,
  { now, after, take }: { now: Date; after: TimeIdKey | null; take: number },
): Promise<Invitation[]> {
  return db.invitation.findMany({
    where: { tenantId, acceptedAt: null, expiresAt: { gt: now }, ...olderThan('id', after) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take,
  });
}

/**
 * Inserts an invitation, replacing the open one of the same address. Call this under lockTenant: two
 * concurrent ones would both remain.
 */
export async function replaceInvitation(
  tx: Transaction,
  invitation: Omit<Invitation, 'acceptedAt' | 'tokenHash'> & Pick<Link, 'tokenHash'>,
): Promise<Invitation> {
  const { tenantId, email } = invitation;
  await tx.invitation.deleteMany({ where: { tenantId, email, acceptedAt: null } });
  return tx.invitation.create({ data: invitation });
}

/** Deletes an open invitation. Returns false if the tenant does not have it. */
export async function withdrawInvitation(
  db: Database,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<boolean> {
  return (await db.invitation.deleteMany({ where: { id, tenantId, acceptedAt: null } })).count > 0;
}

/** Returns the invitation that a link opens; null for a link that is unknown, used or expired. */
export function findOpenInvitation(db: Database, link: Link): Promise<Invitation | null> {
  return db.invitation.findFirst({ where: openAt(link) });
}

/** Marks the link as used. Returns false if a concurrent caller accepted or withdrew the invitation first. */
export async function acceptOpenInvitation(tx: Transaction, link: Link, at: Date): Promise<boolean> {
  return (await tx.invitation.updateMany({ where: openAt(link), data: { acceptedAt: at } })).count > 0;
}
