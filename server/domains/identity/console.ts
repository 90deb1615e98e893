import type { Services } from '../../services.ts';
import type { IdentityKeys } from './keys.ts';
import { type SignedIn, type SignInAttempt, verifyPassword } from './sign-in.ts';

/** What next-auth's route may reach through the container; it imports none of it (app/container.ts says why). */
export type ConsoleIdentity = {
  /** The public base URL; cookies are `Secure` when it is https. */
  url: string;
  sessionSecret: string;
  /** See verifyPassword: null for an unknown account or a wrong password, AppError 429 over the limit. */
  verifyPassword(attempt: SignInAttempt): Promise<SignedIn | null>;
  /** Whether a session may be prolonged: its user exists and has not ended their sessions since. */
  isCurrent(session: { userId: string; sessionEpoch: number }): Promise<boolean>;
  /** Notes trouble that next-auth would otherwise print: its code alone, since details may hold a token. */
  report(level: 'error' | 'warn', code: string): void;
};

/** The console's side of identity, for the container. */
export function createConsoleIdentity(
  services: Services,
  { sessionSecret }: Pick<IdentityKeys, 'sessionSecret'>,
): ConsoleIdentity {
  return {
    url: services.config.http.url,
    sessionSecret,
    verifyPassword: attempt => verifyPassword(services, attempt),
    isCurrent: async ({ userId, sessionEpoch }) => {
      const where = { id: userId, sessionEpoch };
      return (await services.prisma.user.findFirst({ where, select: { id: true } })) !== null;
    },
    report: (level, code) => services.logger[level]({ code }, 'next-auth'),
  };
}
