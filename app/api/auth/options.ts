import type { AuthOptions, DefaultSession } from 'next-auth';
import type { JWT } from 'next-auth/jwt';
import CredentialsProvider from 'next-auth/providers/credentials';
import type { ConsoleIdentity } from '../../../server/domains/identity/console.ts';
import type { Session } from '../../../server/domains/identity/sessions.ts';
import { ADDRESS_HEADER } from '../../../server/operation/request-headers.ts';
import { hostCookies } from './cookies.ts';

declare module 'next-auth' {
  interface User {
    sessionEpoch: number;
    sessionId: string;
  }
  interface Session {
    user: DefaultSession['user'] & { id: string };
  }
}
declare module 'next-auth/jwt' {
  interface JWT {
    sessionEpoch?: number;
    sessionId?: string;
    until?: number;
  }
}

export const SESSION_SECONDS = 7 * 24 * 60 * 60;

/**
 * The results of callbacks that next-auth cannot pass on: for how many seconds attempts are refused, and where the session ends at the
 * issuer of OpenID Connect.
 */
export type SignInOutcome = { retryAfter?: string; signOutUrl?: string };

/** Returns status and Retry-After of a thrown AppError, whose class this bundle cannot import. */
function refusalOf(error: unknown): { status: number; retryAfter: string } {
  const { status, headers } = (error ?? {}) as { status?: unknown; headers?: Record<string, string> };
  return { status: typeof status === 'number' ? status : 500, retryAfter: headers?.['Retry-After'] ?? '60' };
}

function credentials(identity: ConsoleIdentity, outcome: SignInOutcome) {
  return CredentialsProvider({
    id: 'credentials',
    name: 'Baton',
    credentials: { email: { label: 'Email', type: 'email' }, password: { label: 'Password', type: 'password' } },
    async authorize(input, request) {
      const address: unknown = request.headers?.[ADDRESS_HEADER];
      try {
        return await identity.verifyPassword({
          email: String(input?.email ?? ''),
          password: String(input?.password ?? ''),
          address: typeof address === 'string' ? address : 'unknown',
        });
      } catch (error) {
        const { status, retryAfter } = refusalOf(error);
        if (status === 429) outcome.retryAfter = retryAfter;
        else identity.report('error', 'sign_in_failed');
        // The message becomes ?error= of the sign-in page, so it must be a code.
        throw new Error(status === 429 ? 'rate_limited' : 'unavailable');
      }
    },
  });
}

/** Returns the session of a decoded cookie; null if there is none. */
function sessionOf(token: JWT | null | undefined): Session | null {
  const { sub, sessionEpoch, sessionId, until } = token ?? {};
  if (typeof sub !== 'string' || typeof sessionEpoch !== 'number') return null;
  return { userId: sub, sessionEpoch, sessionId, until };
}

/**
 * Configures next-auth with the credentials provider (docs/specification/authentication.md#sessions). The session is an encrypted cookie of
 * 7 days, prolonged whenever /api/auth/session is read. It contains only the ids of the user and of the session and the user's session
 * epoch. Roles are read at each request, so nothing in the cookie becomes stale. Signing out ends the session on the server, so that a copy
 * of the cookie is invalid too. Changing the password increases the epoch, which ends all sessions.
 */
export function authOptions(
  identity: ConsoleIdentity,
  outcome: SignInOutcome = {},
  address: string | null = null,
): AuthOptions {
  return {
    secret: identity.sessionSecret,
    useSecureCookies: identity.url.startsWith('https://'),
    cookies: hostCookies(identity.url),
    session: { strategy: 'jwt', maxAge: SESSION_SECONDS },
    jwt: { maxAge: SESSION_SECONDS }, // its own default, 30 days, would outlive the cookie
    pages: { signIn: '/sign-in', error: '/sign-in' },
    providers: identity.passwordSignIn ? [credentials(identity, outcome)] : [],
    callbacks: {
      async jwt({ token, user }) {
        if (user) return { sub: user.id, sessionEpoch: user.sessionEpoch, sessionId: user.sessionId };
        const session = sessionOf(token);
        // If this throws, next-auth removes the cookie.
        if (!session || !(await identity.isCurrent(session))) throw new Error('The session was ended.');
        const { userId, sessionEpoch, sessionId, until } = session;
        return {
          sub: userId,
          sessionEpoch,
          ...(sessionId === undefined ? {} : { sessionId }),
          ...(until === undefined ? {} : { until }),
        };
      },
      session: ({ session, token }) => ({ expires: session.expires, user: { id: String(token.sub) } }),
    },
    events: {
      async signOut({ token }) {
        const session = sessionOf(token);
        const url = session && (await identity.endSession(session, address));
        if (url !== null) outcome.signOutUrl = url;
      },
    },
    logger: {
      error: code => identity.report(code === 'JWT_SESSION_ERROR' ? 'warn' : 'error', code),
      warn: code => identity.report('warn', code),
      debug: () => undefined,
    },
  };
}

/**
 * Tells next-auth the deployment's URL, which it reads only from the environment. With a loopback URL, next-auth uses the request's host
 * instead: a user of localhost must not be redirected to 127.0.0.1, to which the browser does not send the cookie.
 */
export function announceUrl(url: string, environment: Record<string, string | undefined>): void {
  const { hostname } = new URL(url);
  if (['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]'].includes(hostname)) {
    delete environment.NEXTAUTH_URL;
    environment.AUTH_TRUST_HOST = 'true';
    return;
  }
  environment.NEXTAUTH_URL = url;
}
