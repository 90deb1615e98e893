import type { AuthOptions } from 'next-auth';

const options = { httpOnly: true, sameSite: 'lax', path: '/', secure: true } as const;

/**
 * Returns the names of next-auth's cookies over https, all with `__Host-`: browsers accept such a cookie only from this exact host, over
 * https and for the whole site. next-auth itself uses that prefix only for its CSRF token. Over http its own names are kept.
 */
export function hostCookies(url: string): NonNullable<AuthOptions['cookies']> {
  if (!url.startsWith('https://')) return {};
  return {
    sessionToken: { name: '__Host-next-auth.session-token', options },
    callbackUrl: { name: '__Host-next-auth.callback-url', options },
  };
}
