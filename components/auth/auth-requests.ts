import { leaveSession, tellTabs } from '../trpc/session-gate.ts';
import { isRecord } from '../ui/errors.ts';

// The two calls of next-auth's own client that the console needs. next-auth/react itself is 11 KB of JavaScript (gzip).

/** Returns the field `name` of an answer of next-auth. Throws if the field is missing. */
async function readText(response: Response, name: string): Promise<string> {
  const body: unknown = await response.json();
  if (!isRecord(body) || typeof body[name] !== 'string') throw new Error(`The server answered ${response.status}.`);
  return body[name];
}

/** Posts to an endpoint of next-auth with its CSRF token. Returns the URL in the answer; throws if the answer has none. */
async function postAuth(path: string, fields: Record<string, string>): Promise<{ ok: boolean; url: string }> {
  const csrfToken = await readText(await fetch('/api/auth/csrf'), 'csrfToken');
  // Without `json`, next-auth answers with a redirect.
  const body = new URLSearchParams({ ...fields, csrfToken, json: 'true' });
  const response = await fetch(`/api/auth/${path}`, { method: 'POST', body });
  return { ok: response.ok, url: await readText(response, 'url') };
}

/** Starts a session. Returns null, or next-auth's error code; throws if the server cannot be reached. */
export async function requestSignIn(email: string, password: string): Promise<string | null> {
  const fields = { email, password, callbackUrl: window.location.href };
  const { ok, url } = await postAuth('callback/credentials', fields);
  const error = new URL(url, window.location.href).searchParams.get('error');
  return ok && error === null ? null : (error ?? '');
}

/**
 * Ends the session, and loads the sign-in page here and in every other tab. With `forgets`, the person's unsaved edits are removed from
 * this browser. Throws if the server cannot be reached.
 */
export async function signOut(forgets = false): Promise<void> {
  leaveSession(forgets ? 'forgets' : 'keeps');
  try {
    const { url } = await postAuth('signout', { callbackUrl: '/sign-in' });
    leave(forgets, url);
  } catch (error) {
    leaveSession('no');
    throw error;
  }
}

/** Loads the sign-in page here and in every other tab, after the server has ended the session. */
export function leave(forgets = false, url = '/sign-in'): void {
  tellTabs({ says: 'signed-out', forgets });
  window.location.assign(url);
}
