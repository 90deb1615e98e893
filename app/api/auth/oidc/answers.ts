import { encode } from 'next-auth/jwt';
import type { SignedOn } from '../../../../server/domains/identity/sign-on/sign-on.ts';
import { hostCookies } from '../cookies.ts';
import { SESSION_SECONDS } from '../options.ts';

const FLOW_SECONDS = 10 * 60;
const flowCookie = (https: boolean) => (https ? '__Host-baton.sign-on' : 'baton.sign-on');

/** Returns the attributes of a cookie like those of next-auth. SameSite=Lax: the issuer sends the browser back from another site. */
const attributes = (https: boolean, seconds: number) =>
  `Path=/; Max-Age=${seconds}; HttpOnly;${https ? ' Secure;' : ''} SameSite=Lax`;

/** Returns the sealed sign-in that this browser started. */
export function readFlowCookie(request: Request, https: boolean): string | undefined {
  const name = `${flowCookie(https)}=`;
  const pairs = (request.headers.get('cookie') ?? '').split(';').map(pair => pair.trim());
  return pairs.find(pair => pair.startsWith(name))?.slice(name.length);
}

/** Redirects; no cache keeps the answer, and the next site learns nothing of this address. */
function redirect(location: string, cookies: string[]): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 302, headers });
}

/** Sends the browser to the issuer. */
export function toIssuer({ url, cookie }: { url: string; cookie: string }, https: boolean): Response {
  return redirect(url, [`${flowCookie(https)}=${cookie}; ${attributes(https, FLOW_SECONDS)}`]);
}

/** Shows the reason on the page for signing in. The session of the browser, if it has one, stays. */
export function refusedSignOn(reason: string, https: boolean): Response {
  return redirect(`/sign-in?error=${reason}`, [`${flowCookie(https)}=; ${attributes(https, 0)}`]);
}

/** Starts the session: the cookie of next-auth, which also renews and removes it. */
export async function signedOn(
  signedIn: SignedOn,
  { url, secret }: { url: string; secret: string },
): Promise<Response> {
  const { id: sub, sessionEpoch, sessionId, until, next } = signedIn;
  const https = url.startsWith('https://');
  const token = await encode({ token: { sub, sessionEpoch, sessionId, until }, secret, maxAge: SESSION_SECONDS });
  const name = hostCookies(url).sessionToken?.name ?? 'next-auth.session-token';
  return redirect(`/signed-in?next=${encodeURIComponent(next)}`, [
    `${name}=${token}; ${attributes(https, SESSION_SECONDS)}`,
    `${flowCookie(https)}=; ${attributes(https, 0)}`,
  ]);
}
