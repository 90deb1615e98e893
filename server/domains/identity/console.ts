import type { Services } from '../../operation/services.ts';
import { randomToken } from '../../platform/crypto/digest.ts';
import type { IdentityKeys } from './keys.ts';
import { endSession, isCurrentSession, type Session } from './sessions.ts';
import { type SignedIn, type SignInAttempt, verifyPassword } from './sign-in.ts';
import type { RecordSignOn } from './sign-on/parts.ts';
import { createSignOn, type SignOn } from './sign-on/sign-on.ts';

/**
 * The functions that next-auth's route reaches through the container, instead of importing them (app/container.ts says why).
 */
export type ConsoleIdentity = {
  /** The public base URL; cookies are `Secure` when it is https. */
  url: string;
  sessionSecret: string;
  /**
   * Starts a session. See verifyPassword: null for an unknown account or a wrong password, AppError 429 over the limit.
   */
  verifyPassword(attempt: SignInAttempt): Promise<(SignedIn & { sessionId: string }) | null>;
  /** Whether people may sign in with a password. */
  passwordSignIn: boolean;
  /** Null: there is no sign-in through OpenID Connect. */
  signOn: SignOn | null;
  /** Returns whether a session may be renewed: its user exists, and has not ended it, either alone or together with all other sessions. */
  isCurrent(session: Session): Promise<boolean>;
  /** Ends a session on the server. Returns where it ends at the issuer, if it began there. */
  endSession(session: Session, address: string | null): Promise<string | null>;
  /** Logs a problem that next-auth would otherwise print: only its code, since details may contain a token. */
  report(level: 'error' | 'warn', code: string): void;
};

/** Creates the identity functions of the console, for the container. */
export function createConsoleIdentity(
  services: Services,
  { sessionSecret, masterKey }: IdentityKeys,
  recordSignOn: RecordSignOn,
): ConsoleIdentity {
  const signOn = createSignOn(services, masterKey, recordSignOn);
  return {
    signOn,
    passwordSignIn: services.config.identity.passwordSignIn,
    url: services.config.http.url,
    sessionSecret,
    async verifyPassword(attempt) {
      const user = await verifyPassword(services, attempt);
      return user && { ...user, sessionId: randomToken(16) };
    },
    isCurrent: session => isCurrentSession(services, session),
    async endSession(session, address) {
      await endSession(services, session);
      return (await signOn?.end(session, address)) ?? null;
    },
    report: (level, code) => services.logger[level]({ code }, 'next-auth'),
  };
}
