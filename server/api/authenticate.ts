import { resolvePat, resolveSession } from '../domains/identity/principal.ts';
import type { Session } from '../domains/identity/sessions.ts';
import type { Config } from '../operation/config.ts';
import type { Principal } from '../operation/context.ts';
import { PROJECT_HEADER, TENANT_HEADER } from '../operation/request-headers.ts';
import type { Services } from '../operation/services.ts';
import { noteShownSecrets } from '../platform/secrets/in-use.ts';

/** Looks a request header up by its lower-case name. */
export type Headers = (name: string) => string | undefined;
export type Authenticator = { services: Services; sessionSecret: string };

/** A credential as presented, not yet verified. `malformed`: an Authorization header that is not a Bearer token. */
export type Credential =
  | { kind: 'none' | 'malformed' }
  | { kind: 'pat'; token: string }
  | { kind: 'session'; token: string };

/**
 * Returns the name of next-auth's cookie. Over https it has the prefix `__Host-`, which browsers accept from
 * this exact host only, and no other name is read: a neighboring subdomain, or an attacker on plain http,
 * could set a cookie without it.
 */
const sessionCookie = (https: boolean) => (https ? '__Host-next-auth.session-token' : 'next-auth.session-token');

/** Returns whether browsers reach this deployment over https. */
export function servedOverHttps({ http }: Pick<Config, 'http'>): boolean {
  return http.url.startsWith('https://');
}

/**
 * Returns the credential of a request, and redacts it from the log lines that are written meanwhile. An Authorization
 * header takes precedence over the cookie, because it was sent on purpose.
 */
export function readCredential(header: Headers, https: boolean): Credential {
  const credential = findCredential(header, https);
  if ('token' in credential) noteShownSecrets([credential.token]);
  return credential;
}

function findCredential(header: Headers, https: boolean): Credential {
  const authorization = header('authorization');
  if (authorization !== undefined) {
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    return token === undefined ? { kind: 'malformed' } : { kind: 'pat', token };
  }
  const token = sessionToken(header('cookie'), sessionCookie(https));
  return token === undefined ? { kind: 'none' } : { kind: 'session', token };
}

/**
 * Returns the principal of the credential; null if it is missing or not valid (401). Throws AppError 403 if the tenant or
 * project in `X-Tenant-Id`/`X-Project-Id` is not the PAT's own, or not one that the session's user may use.
 */
export async function authenticate(
  { services, sessionSecret }: Authenticator,
  credential: Credential,
  header: Headers,
): Promise<Principal | null> {
  switch (credential.kind) {
    case 'none':
    case 'malformed':
      return null;
    case 'pat':
      return resolvePat(services, credential.token, requestedScope(header));
    case 'session': {
      const session = await readSession(credential.token, sessionSecret);
      return session && resolveSession(services, session, requestedScope(header));
    }
  }
}

const requestedScope = (header: Headers) => ({ tenantId: header(TENANT_HEADER), projectId: header(PROJECT_HEADER) });

/**
 * Returns the key by which limits count this principal: the user in the workspace, with all credentials. If limits
 * counted tokens, a user with a hundred tokens would have a hundred times the limit.
 */
export function principalKey({ userId, tenantId }: Principal): string {
  return `user:${userId}:${tenantId}`;
}

async function readSession(token: string, secret: string): Promise<Session | null> {
  // Loaded by the first request of a browser: 115 modules, 30 ms of every start.
  const { decode } = await import('next-auth/jwt');
  const payload = await decode({ token, secret }).catch(() => null); // forged, expired or signed with another secret
  const { sub, sessionEpoch, sessionId, until } = payload ?? {};
  if (typeof sub !== 'string' || typeof sessionEpoch !== 'number') return null;
  return {
    userId: sub,
    sessionEpoch,
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
    ...(typeof until === 'number' ? { until } : {}),
  };
}

/** next-auth splits a long cookie into `<name>.0`, `<name>.1`, … */
function sessionToken(cookieHeader: string | undefined, name: string): string | undefined {
  if (!cookieHeader) return undefined;
  const cookies = new Map<string, string>();
  for (const part of cookieHeader.split(';')) {
    const equals = part.indexOf('=');
    if (equals > 0) cookies.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  const whole = cookies.get(name);
  if (whole) return whole;
  let joined = '';
  for (let index = 0; cookies.has(`${name}.${index}`); index++) joined += cookies.get(`${name}.${index}`);
  return joined === '' ? undefined : joined;
}
