import type { Database } from './account-store.ts';

type Epoch = { userId: string; sessionEpoch: number };

/** Ends every session of this epoch; does nothing where the user has ended them already. */
export async function nextSessionEpoch(db: Database, { userId, sessionEpoch }: Epoch): Promise<void> {
  await db.user.updateMany({ where: { id: userId, sessionEpoch }, data: { sessionEpoch: { increment: 1 } } });
}

/** Ends every session of the user. */
export async function endAllSessions(db: Database, userId: string): Promise<void> {
  await db.user.update({ where: { id: userId }, data: { sessionEpoch: { increment: 1 } } });
}

/** Whether the user exists and has not ended the sessions of this epoch. */
export async function isCurrentEpoch(db: Database, { userId, sessionEpoch }: Epoch): Promise<boolean> {
  return (await db.user.findFirst({ where: { id: userId, sessionEpoch }, select: { id: true } })) !== null;
}

/** Keeps until `expiresAt` that a session was ended, and deletes what has expired. */
export async function rememberEnded(
  db: Database,
  id: string,
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<void> {
  await db.endedSession.deleteMany({ where: { expiresAt: { lte: now } } });
  await db.endedSession.upsert({ where: { id }, create: { id, expiresAt }, update: { expiresAt } });
}

/** Whether a session was ended by itself. */
export async function hasEnded(db: Database, id: string): Promise<boolean> {
  return (await db.endedSession.findUnique({ where: { id } })) !== null;
}
