import type { Context } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { DAY_MS } from '../../platform/clock.ts';
import { requireEveryScope } from './authority.ts';
import { endAllSessions, hasEnded, isCurrentEpoch, nextSessionEpoch, rememberEnded } from './session-store.ts';

/**
 * The content of a session cookie. Old cookies have no `sessionId`; only sessions that began at the issuer of OpenID
 * Connect have `until`, the time in ms at which they end however often they are renewed.
 */
export type Session = {
  userId: string;
  sessionEpoch: number;
  sessionId?: string | undefined;
  until?: number | undefined;
};

/** How long a cookie is valid after it was last renewed. */
const SESSION_MS = 7 * DAY_MS;

/**
 * Ends one session on the server, so that a copy of its cookie no longer works. A cookie without a session id cannot be
 * told apart from the user's other ones, so all sessions end.
 */
export async function endSession(
  { prisma, clock }: Pick<Services, 'prisma' | 'clock'>,
  session: Session,
): Promise<void> {
  const { userId, sessionEpoch, sessionId } = session;
  if (sessionId === undefined) {
    await nextSessionEpoch(prisma, { userId, sessionEpoch });
    return;
  }
  const now = clock.now();
  await rememberEnded(prisma, sessionId, { now: new Date(now), expiresAt: new Date(now + SESSION_MS) });
}

/** Returns whether a session may continue: its user has not ended it, either alone or together with all other sessions. */
export async function isCurrentSession(
  { prisma, clock }: Pick<Services, 'prisma' | 'clock'>,
  session: Session,
): Promise<boolean> {
  const { userId, sessionEpoch, sessionId, until } = session;
  if (until !== undefined && until <= clock.now()) return false;
  if (!(await isCurrentEpoch(prisma, { userId, sessionEpoch }))) return false;
  return sessionId === undefined || !(await hasEnded(prisma, sessionId));
}

/** POST /v1/me/sessions/end: ends every session of the user, including this one; tokens stay valid. */
export async function endSessions({ principal, services }: Context): Promise<undefined> {
  requireEveryScope(principal);
  await endAllSessions(services.prisma, principal.userId);
}
