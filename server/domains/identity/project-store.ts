import type { TimeIdKey } from '../../operation/cursor.ts';
import type { Project } from '../../platform/postgres/generated/client.ts';
import { olderThan } from '../../platform/postgres/prisma.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { Database } from './account-store.ts';

type ProjectRef = { tenantId: string; id: string };
type ProjectScope = { tenantId: string; projectId: string };

/**
 * Returns projects of a tenant, newest first, `take` of them after the keyset; with `memberId`, only those on
 * which this user has a role.
 */
export function readProjects(
  db: Database,
  tenantId: string,
  { memberId, after, take }: { memberId: string | null; after: TimeIdKey | null; take: number },
): Promise<Project[]> {
  const memberFilter = memberId === null ? {} : { members: { some: { userId: memberId } } };
  return db.project.findMany({
    where: { tenantId, ...memberFilter, ...olderThan('id', after) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take,
  });
}

/** Inserts a project. Rejects with a unique violation if the tenant already has one of this name. */
export async function insertProject(db: Database, project: Project): Promise<Project> {
  return await db.project.create({ data: project });
}

/**
 * Renames a project. Returns null if the tenant does not have it. Rejects with a unique violation if the name is taken.
 */
export async function renameProject(db: Database, { tenantId, id }: ProjectRef, name: string): Promise<Project | null> {
  const [row] = await db.project.updateManyAndReturn({ where: { id, tenantId }, data: { name } });
  return row ?? null;
}

export function findProject(db: Database, { tenantId, id }: ProjectRef): Promise<Project | null> {
  return db.project.findFirst({ where: { id, tenantId } });
}

/** Returns whether the tenant has more than one project. Call this under lockTenant only. */
export async function hasSeveralProjects(tx: Transaction, tenantId: string): Promise<boolean> {
  const rows = await tx.project.findMany({
    where: { tenantId },
    select: { id: true },
    take: 2,
    orderBy: { id: 'asc' },
  });
  return rows.length > 1;
}

export async function hasWorkflows(tx: Transaction, { tenantId, projectId }: ProjectScope): Promise<boolean> {
  return (await tx.workflow.findFirst({ where: { tenantId, projectId }, select: { id: true } })) !== null;
}

export async function hasConnections(tx: Transaction, { tenantId, projectId }: ProjectScope): Promise<boolean> {
  return (await tx.connection.findFirst({ where: { tenantId, projectId }, select: { id: true } })) !== null;
}

/** Deletes a project (its roles are deleted by cascade) with its invitations, and revokes its tokens. */
export async function deleteProjectRows(
  tx: Transaction,
  { tenantId, projectId }: ProjectScope,
  at: Date,
): Promise<void> {
  await tx.pat.updateMany({ where: { tenantId, projectId, revokedAt: null }, data: { revokedAt: at } });
  await tx.invitation.deleteMany({ where: { tenantId, projectId } });
  await tx.project.deleteMany({ where: { id: projectId, tenantId } });
}
