import type { Invitation, SignOnIdentity } from '../../../platform/postgres/generated/client.ts';
import type { Transaction } from '../../../platform/postgres/transaction.ts';
import type { Database } from '../account-store.ts';

type PersonRef = { issuer: string; subject: string };

/** Records that the state of a sign-in came back. Returns false if it had come back before. Deletes expired records. */
export async function spendState(
  db: Database,
  stateHash: Uint8Array<ArrayBuffer>,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<boolean> {
  await db.usedSignOn.deleteMany({ where: { expiresAt: { lte: now } } });
  const { count } = await db.usedSignOn.createMany({ data: [{ stateHash, expiresAt }], skipDuplicates: true });
  return count > 0;
}

/** Returns the account that signs in as this person; null if the person has not signed in yet. */
export function findIdentity(db: Database, { issuer, subject }: PersonRef): Promise<SignOnIdentity | null> {
  return db.signOnIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } });
}

/** Returns whether the account signs in as a person of this issuer. */
export async function hasIdentity(db: Database, userId: string, issuer: string): Promise<boolean> {
  return (await db.signOnIdentity.findUnique({ where: { issuer_userId: { issuer, userId } } })) !== null;
}

/** Records which account signs in as a person. Rejects with Prisma's P2002 if the account signs in as another person of the issuer. */
export async function saveIdentity(
  db: Database,
  { issuer, subject, userId }: PersonRef & { userId: string },
  at: Date,
): Promise<void> {
  await db.signOnIdentity.upsert({
    where: { issuer_subject: { issuer, subject } },
    create: { issuer, subject, userId, createdAt: at, checkedAt: at },
    update: {},
  });
}

/** Returns the ids of projects of a tenant by their names; null if there is no such tenant. */
export async function readProjects(tx: Transaction, tenantId: string): Promise<ReadonlyMap<string, string> | null> {
  const tenant = await tx.tenant.findUnique({ where: { slug: tenantId }, include: { projects: true } });
  return tenant && new Map(tenant.projects.map(({ name, id }) => [name, id]));
}

/** Ends the roles of a member on all projects of the tenant except these. */
export async function deleteOtherRoles(
  tx: Transaction,
  ref: { tenantId: string; userId: string },
  keep: readonly string[],
): Promise<void> {
  await tx.projectMember.deleteMany({ where: { ...ref, projectId: { notIn: [...keep] } } });
}

/** Returns the open invitations of an address, in the order in which tenants are locked. */
export function readInvitationsOf(db: Database, email: string, now: Date): Promise<Invitation[]> {
  return db.invitation.findMany({
    where: { email, acceptedAt: null, expiresAt: { gt: now } },
    orderBy: { tenantId: 'asc' },
  });
}

/** Keeps the sealed ID token of a session until the session expires, and deletes expired ones. */
export async function saveSignOnSession(
  db: Database,
  session: { sessionId: string; userId: string; idToken: Uint8Array<ArrayBuffer>; expiresAt: Date },
  now: Date,
): Promise<void> {
  await db.signOnSession.deleteMany({ where: { expiresAt: { lte: now } } });
  await db.signOnSession.create({ data: session });
}

/** Deletes the record of a session that ends, and returns its sealed ID token; null for a session with a password. */
export async function takeSignOnSession(db: Database, sessionId: string): Promise<Uint8Array | null> {
  const row = await db.signOnSession.findUnique({ where: { sessionId } });
  if (row !== null) await db.signOnSession.deleteMany({ where: { sessionId } });
  return row?.idToken ?? null;
}

/** Revokes the tokens of a member in one tenant. Returns their ids. */
export async function revokeTokensIn(
  tx: Transaction,
  ref: { tenantId: string; userId: string },
  at: Date,
): Promise<string[]> {
  const pats = await tx.pat.updateManyAndReturn({ where: { ...ref, revokedAt: null }, data: { revokedAt: at } });
  return pats.map(({ id }) => id);
}

/** Keeps the sealed token by which the issuer is asked about a person, and when it was asked; null: it gives none. */
export async function saveRefreshToken(
  db: Database,
  { issuer, subject }: PersonRef,
  { refreshToken, checkedAt }: { refreshToken: Uint8Array<ArrayBuffer> | null; checkedAt: Date },
): Promise<void> {
  await db.signOnIdentity.updateMany({ where: { issuer, subject }, data: { refreshToken, checkedAt } });
}

/** Returns people about whom the issuer was last asked before this time, the longest ago first. */
export function listDueIdentities(db: Database, issuer: string, before: Date, take: number): Promise<SignOnIdentity[]> {
  return db.signOnIdentity.findMany({
    where: { issuer, refreshToken: { not: null }, checkedAt: { lt: before } },
    orderBy: { checkedAt: 'asc' },
    take,
  });
}

/**
 * Notes that the issuer is asked about a person now. Returns false if somebody else has asked since the row was read, as
 * the person does who signs in: a token that is sent twice counts as stolen at some issuers.
 */
export async function claimCheck(
  db: Database,
  { issuer, subject, checkedAt }: SignOnIdentity,
  now: Date,
): Promise<boolean> {
  const { count } = await db.signOnIdentity.updateMany({
    where: { issuer, subject, checkedAt },
    data: { checkedAt: now },
  });
  return count > 0;
}

/** Forgets this refresh token of a person. Returns false if it has been replaced. */
export async function dropRefreshToken(
  db: Database,
  { issuer, subject }: PersonRef,
  sealed: Uint8Array,
): Promise<boolean> {
  const where = { issuer, subject, refreshToken: new Uint8Array(sealed) };
  return (await db.signOnIdentity.updateMany({ where, data: { refreshToken: null } })).count > 0;
}

/** Ends that an account signs in as a person, of any issuer. Returns false if it did not. */
export async function deleteIdentitiesOf(db: Database, userId: string): Promise<boolean> {
  return (await db.signOnIdentity.deleteMany({ where: { userId } })).count > 0;
}
