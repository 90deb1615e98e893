import { olderThan } from '../../platform/postgres/prisma.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { Database } from './account-store.ts';

/** Returns how many workspaces the user has created. */
export function countCreatedBy(tx: Transaction, userId: string): Promise<number> {
  return tx.tenant.count({ where: { createdBy: userId } });
}

/** Returns whether the user administers any workspace, or the given one. */
export async function isAdmin(tx: Transaction, userId: string, tenantId: string | null): Promise<boolean> {
  const within = tenantId === null ? {} : { tenantId };
  return (await tx.membership.findFirst({ where: { userId, tenantAdmin: true, ...within } })) !== null;
}

/** Returns the user's memberships with their workspaces, the latest joined first, `take` of them after the keyset. */
export async function readWorkspaces(
  db: Database,
  userId: string,
  { onlyTenantId, after, take }: { onlyTenantId: string | null; after: [number, string] | null; take: number },
) {
  return await db.membership.findMany({
    where: { userId, ...(onlyTenantId === null ? {} : { tenantId: onlyTenantId }), ...olderThan('tenantId', after) },
    include: { tenant: true },
    orderBy: [{ createdAt: 'desc' }, { tenantId: 'desc' }],
    take,
  });
}

/** Returns every workspace with its administrators, oldest first, for the operator's list. */
export async function readAllWorkspaces({ prisma }: { prisma: Database }) {
  return await prisma.tenant.findMany({
    include: {
      _count: { select: { memberships: true, projects: true } },
      memberships: { where: { tenantAdmin: true }, include: { user: true }, orderBy: { createdAt: 'asc' }, take: 3 },
    },
    orderBy: [{ createdAt: 'asc' }, { slug: 'asc' }],
  });
}
