import type { ProjectRole } from '../../contract/context.ts';
import { newId } from '../../platform/ids.ts';
import type { Prisma, PrismaClient } from '../../platform/postgres/generated/client.ts';

/** Prisma itself, or a transaction of it. */
export type Database = PrismaClient | Prisma.TransactionClient;

export type NewUser = { email: string; name: string; passwordHash: string };

/** Creates a tenant with its one project, `default`; its name is the slug unless given. Returns the project's id. */
export async function createTenant(
  db: Database,
  slug: string,
  at: Date,
  { name = slug, createdBy }: { name?: string; createdBy?: string } = {},
): Promise<string> {
  const projectId = newId();
  await db.tenant.create({ data: { slug, name, createdAt: at, createdBy: createdBy ?? null } });
  await db.project.create({ data: { id: projectId, tenantId: slug, name: 'default', createdAt: at } });
  return projectId;
}

/**
 * Creates a user. The email is in lower case already. `confirmed`: the account claims the address; another account that has is
 * Prisma's P2002.
 */
export async function createUser(
  db: Database,
  user: NewUser,
  at: Date,
  { confirmed }: { confirmed: boolean },
): Promise<string> {
  const id = newId();
  await db.user.create({ data: { id, ...user, createdAt: at, confirmedAt: confirmed ? at : null } });
  return id;
}

/**
 * Makes a user a member of a tenant with a role on one project. Being invited again never takes `tenant_admin` away.
 */
export async function addMember(
  db: Database,
  member: { tenantId: string; userId: string; tenantAdmin: boolean; projectId: string; role: ProjectRole },
  at: Date,
): Promise<void> {
  const { tenantId, userId, tenantAdmin, projectId, role } = member;
  await db.membership.upsert({
    where: { tenantId_userId: { tenantId, userId } },
    create: { tenantId, userId, tenantAdmin, createdAt: at },
    update: tenantAdmin ? { tenantAdmin } : {},
  });
  await db.projectMember.upsert({
    where: { projectId_userId: { projectId, userId } },
    create: { projectId, userId, tenantId, role, createdAt: at },
    update: { role },
  });
}

/**
 * Holds the tenant's row until the transaction ends, so that changes which count its administrators or projects
 * ("the last one stays") happen one after the other. NO KEY: it does not block inserts that refer to the tenant.
 */
export async function lockTenant(tx: Prisma.TransactionClient, tenantId: string): Promise<void> {
  await tx.$queryRaw`SELECT slug FROM tenants WHERE slug = ${tenantId} FOR NO KEY UPDATE`;
}
