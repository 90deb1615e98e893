import type { TimeIdKey } from '../../operation/cursor.ts';
import type { Membership } from '../../platform/postgres/generated/client.ts';
import { olderThan } from '../../platform/postgres/prisma.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { Database } from './account-store.ts';

/** A revoked token. Its copy in the secret store is deleted after the transaction. */
export type DeadToken = { tenantId: string; patId: string };
type MemberRef = { tenantId: string; userId: string };

/** A member as lists show it: `role` is the role on the requested project. */
export type MemberRow = {
  userId: string;
  email: string;
  name: string;
  /** Whether the account has proved that the address is its own. */
  confirmed: boolean;
  tenantAdmin: boolean;
  role: string | null;
  createdAt: Date;
};

/** Returns members of a tenant, newest first, `take` of them after the keyset; or only one of them. */
export async function readMembers(
  db: Pick<Database, 'membership'>,
  scope: { tenantId: string; projectId: string },
  filter: { userId?: string; after: TimeIdKey | null; take: number },
): Promise<MemberRow[]> {
  const rows = await db.membership.findMany({
    where: {
      tenantId: scope.tenantId,
      ...(filter.userId === undefined ? {} : { userId: filter.userId }),
      ...olderThan('userId', filter.after),
    },
    include: { user: { include: { projects: { where: { projectId: scope.projectId } } } } },
    orderBy: [{ createdAt: 'desc' }, { userId: 'desc' }],
    take: filter.take,
  });
  return rows.map(row => ({
    userId: row.userId,
    email: row.user.email,
    name: row.user.name,
    confirmed: row.user.confirmedAt !== null,
    tenantAdmin: row.tenantAdmin,
    role: row.user.projects[0]?.role ?? null,
    createdAt: row.createdAt,
  }));
}

/** Returns whether anyone but this user administers the tenant. Call this under lockTenant only. */
export async function hasOtherAdmin(tx: Transaction, { tenantId, userId }: MemberRef): Promise<boolean> {
  const where = { tenantId, tenantAdmin: true, userId: { not: userId } };
  return (await tx.membership.findFirst({ where, select: { userId: true } })) !== null;
}

/**
 * Withdraws the open invitations of a member who no longer administers the tenant, and who may still have the links.
 */
export async function withdrawInvitationsOf(tx: Transaction, { tenantId, userId }: MemberRef): Promise<void> {
  await tx.invitation.deleteMany({ where: { tenantId, createdBy: userId, acceptedAt: null } });
}

/** Ends a membership with its roles, tokens and invitations. Returns the ids of the revoked tokens. */
export async function deleteMemberRows(tx: Transaction, ref: MemberRef, at: Date): Promise<string[]> {
  const pats = await tx.pat.updateManyAndReturn({ where: { ...ref, revokedAt: null }, data: { revokedAt: at } });
  await withdrawInvitationsOf(tx, ref);
  await tx.projectMember.deleteMany({ where: ref });
  await tx.membership.deleteMany({ where: ref });
  return pats.map(pat => pat.id);
}

/** Returns the membership, or null. */
export function findMembership(db: Database, ref: MemberRef): Promise<Membership | null> {
  return db.membership.findUnique({ where: { tenantId_userId: ref } });
}

/** Makes a member an administrator of the tenant, or revokes that role. */
export async function setTenantAdmin(tx: Transaction, ref: MemberRef, tenantAdmin: boolean): Promise<void> {
  await tx.membership.update({ where: { tenantId_userId: ref }, data: { tenantAdmin } });
}

/** Returns whether the tenant has a member whose account has confirmed this address. */
export async function hasConfirmedMember(db: Database, tenantId: string, email: string): Promise<boolean> {
  const where = { tenantId, user: { email, confirmedAt: { not: null } } };
  return (await db.membership.findFirst({ where })) !== null;
}

/**
 * Returns the members of the tenant whose accounts have this address without having confirmed it,
 * except the account `keep`.
 */
export function readUnconfirmedMembers(
  tx: Transaction,
  { tenantId, email, keep }: { tenantId: string; email: string; keep: string },
): Promise<Membership[]> {
  return tx.membership.findMany({ where: { tenantId, userId: { not: keep }, user: { email, confirmedAt: null } } });
}

/** Returns every membership of an account, in the order in which tenants are locked. */
export function readMemberships(db: Database, userId: string): Promise<Membership[]> {
  return db.membership.findMany({ where: { userId }, orderBy: { tenantId: 'asc' } });
}

/** Revokes the tokens of an account and withdraws its open invitations, in every workspace. */
export async function withdrawGrantsOf(tx: Transaction, userId: string, at: Date): Promise<DeadToken[]> {
  await tx.invitation.deleteMany({ where: { createdBy: userId, acceptedAt: null } });
  const pats = await tx.pat.updateManyAndReturn({ where: { userId, revokedAt: null }, data: { revokedAt: at } });
  return pats.map(({ id, tenantId }) => ({ tenantId, patId: id }));
}
