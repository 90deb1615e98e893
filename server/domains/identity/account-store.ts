import type { ProjectRole } from '../../orchestrator/ports/authority.ts';
import { newId } from '../../platform/ids.ts';
import type { Prisma, PrismaClient, User } from '../../platform/postgres/generated/client.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';

/** Prisma's client, or a transaction of it. */
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
 * Creates a user. The email must be in lower case. `confirmed`: the account claims the address; if another account has
 * already claimed it, this rejects with Prisma's P2002.
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
 * Makes a user a member of a tenant with a role on one project. A repeated invitation never takes `tenant_admin` away.
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

/** Returns whether there is any account yet. */
export async function hasAccounts(db: Database): Promise<boolean> {
  return (await db.user.findFirst({ select: { id: true } })) !== null;
}

/** Returns the accounts that sign in with this address: the confirmed one first, then the oldest. */
export function readAccounts(db: Database, email: string): Promise<User[]> {
  return db.user.findMany({
    where: { email, replacedAt: null },
    orderBy: [{ confirmedAt: { sort: 'asc', nulls: 'last' } }, { createdAt: 'asc' }, { id: 'asc' }],
  });
}

/** Returns every account with its memberships, or those of one address, for the operator's list; oldest first. */
export async function readAllAccounts(db: Database, email: string | undefined) {
  return await db.user.findMany({
    where: { replacedAt: null, ...(email === undefined ? {} : { email }) },
    include: { memberships: { orderBy: { tenantId: 'asc' } } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}

/** Returns the account of a credential; rejects if it does not exist. */
export function readAccount(db: Database, userId: string): Promise<User> {
  return db.user.findUniqueOrThrow({ where: { id: userId } });
}

/** Returns the account unless another one has replaced it. */
export function findPresentAccount(db: Database, userId: string): Promise<User | null> {
  return db.user.findFirst({ where: { id: userId, replacedAt: null } });
}

export function renameAccount(db: Database, userId: string, name: string): Promise<User> {
  return db.user.update({ where: { id: userId }, data: { name } });
}

export function confirmAccount(db: Database, userId: string, at: Date): Promise<User> {
  return db.user.update({ where: { id: userId }, data: { confirmedAt: at } });
}

/** Stores the same password under another hash, unless the password was changed meanwhile. */
export async function rehashPassword(db: Database, { id, passwordHash }: User, rehashed: string): Promise<void> {
  await db.user.updateMany({ where: { id, passwordHash }, data: { passwordHash: rehashed } });
}

/** Changes the password and ends every session. Returns false if the password has been changed since it was read. */
export async function changePasswordHash(db: Database, { id, passwordHash }: User, hash: string): Promise<boolean> {
  const data = { passwordHash: hash, sessionEpoch: { increment: 1 } };
  return (await db.user.updateMany({ where: { id, passwordHash }, data })).count > 0;
}

/** Sets the password without checking the old one, and ends every session. */
export async function resetPasswordHash(tx: Transaction, userId: string, hash: string): Promise<void> {
  await tx.user.update({ where: { id: userId }, data: { passwordHash: hash, sessionEpoch: { increment: 1 } } });
}

/** Retires an account: it cannot sign in any more, and its sessions end. Past runs still name it. */
export async function retireAccount(tx: Transaction, userId: string, at: Date): Promise<void> {
  await tx.user.update({ where: { id: userId }, data: { replacedAt: at, sessionEpoch: { increment: 1 } } });
  await tx.accountToken.deleteMany({ where: { userId } });
}
