import type { Database } from './account-store.ts';

type Epoch = { userId: string; sessionEpoch: number };

/** Ends every session of this epoch. Does nothing if the user has already ended them. */
export async function nextSessionEpoch(db: Database, { userId, sessionEpoch }: Epoch): Promise<void> {
  await db.user.updateMany({ where: { id: userId, sessionEpoch }, data: { sessionEpoch: { increment: 1 } } });
}

/** Ends every session of the user. */
export async function endAllSessions(db: Database, userId: string): Promise<void> {
  await db.user.update({ where: { id: userId }, data: { sessionEpoch: { increment: 1 } } });
}

/** Returns whether the user exists and has not ended the sessions of this epoch. */
export async function isCurrentEpoch(db: Database, { userId, sessionEpoch }: Epoch): Promise<boolean> {
  return (await db.user.findFirst({ where: { id: userId, sessionEpoch }, select: { id: true } })) !== null;
}

/** Records until `expiresAt` that a session was ended, and deletes expired records. */
export async function rememberEnded(
  db: Database,
  id: string,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<void> {
  await db.endedSession.deleteMany({ where: { expiresAt: { lte: now } } });
  await db.endedSession.upsert({ where: { id }, create: { id, expiresAt }, update: { expiresAt } });
}

/** Returns whether this session was ended individually. */
export async function hasEnded(db: Database, id: string): Promise<boolean> {
  return (await db.endedSession.findUnique({ where: { id } })) !== null;
}
