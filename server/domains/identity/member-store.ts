import type { Prisma } from '../../platform/postgres/generated/client.ts';

type Tx = Prisma.TransactionClient;
type MemberRef = { tenantId: string; userId: string };

/** A member as lists show them: `role` is the one on the project that was asked about. */
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

/** Members of a tenant, newest first, `take` of them after the keyset; or just one of them. */
export async function readMembers(
  db: Pick<Tx, 'membership'>,
  scope: { tenantId: string; projectId: string },
  filter: { where: Prisma.MembershipWhereInput; take: number },
): Promise<MemberRow[]> {
  const rows = await db.membership.findMany({
    where: { ...filter.where, tenantId: scope.tenantId },
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

/** Whether anybody but this user administers the tenant. Ask under lockTenant only. */
export async function hasOtherAdmin(tx: Tx, { tenantId, userId }: MemberRef): Promise<boolean> {
  const where = { tenantId, tenantAdmin: true, userId: { not: userId } };
  return (await tx.membership.findFirst({ where, select: { userId: true } })) !== null;
}

/** Open invitations that somebody who no longer administers the tenant made: they may still hold the links. */
export async function withdrawInvitationsOf(tx: Tx, { tenantId, userId }: MemberRef): Promise<void> {
  await tx.invitation.deleteMany({ where: { tenantId, createdBy: userId, acceptedAt: null } });
}

/** Ends a membership: roles, tokens and the invitations they made. Returns the ids of the tokens that died. */
export async function deleteMemberRows(tx: Tx, ref: MemberRef, at: Date): Promise<string[]> {
  const pats = await tx.pat.updateManyAndReturn({ where: { ...ref, revokedAt: null }, data: { revokedAt: at } });
  await withdrawInvitationsOf(tx, ref);
  await tx.projectMember.deleteMany({ where: ref });
  await tx.membership.deleteMany({ where: ref });
  return pats.map(pat => pat.id);
}

/** Deletes a project (its roles go by cascade) with its invitations, and revokes its tokens. */
export async function deleteProjectRows(tx: Tx, ref: { tenantId: string; projectId: string }, at: Date): Promise<void> {
  await tx.pat.updateMany({ where: { ...ref, revokedAt: null }, data: { revokedAt: at } });
  await tx.invitation.deleteMany({ where: ref });
  await tx.project.deleteMany({ where: { id: ref.projectId, tenantId: ref.tenantId } });
}
