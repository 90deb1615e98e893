import type { AuthOptions } from 'next-auth';

const options = { httpOnly: true, sameSite: 'lax', path: '/', secure: true } as const;

/**
 * The names of next-auth's cookies over https, all with `__Host-`: browsers take such a cookie from this very host alone, over https
 * and for the whole site. next-auth itself uses that prefix for its CSRF token only. Over http its own names stay.
 */
export function hostCookies(url: string): NonNullable<AuthOptions['cookies']> {
  if (!url.startsWith('https://')) return {};
  return {
    sessionToken: { name: '__Host-next-auth.session-token', options },
    callbackUrl: { name: '__Host-next-auth.callback-url', options },
  };
}
