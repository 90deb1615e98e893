import type { HttpAuth } from '../../orchestrator/steps/http-request/http-requester.ts';
import { isHeaderValue } from '../connections/schemas.ts';
import { credentialHeaders } from '../mcp-servers/credential-headers.ts';

/**
 * The headers and query parameters that the credentials of a connection add to a request. `secrets` must not appear in
 * a response or an error.
 */
export type AppliedCredentials = {
  headers: Readonly<Record<string, string>>;
  query: readonly [name: string, value: string][];
  secrets: readonly string[];
};

/** The names under which a connection may hold the only key, which is sent in a header or a parameter. */
const KEY_NAMES = ['api_key', 'token', 'access_token'];

type Values = Readonly<Record<string, string>>;

/** Returns basic authentication if there is a password, otherwise bearer. */
function authOf(auth: HttpAuth | undefined, names: readonly string[]): HttpAuth {
  if (auth !== undefined) return auth;
  return names.includes('username') && names.includes('password') ? { type: 'basic' } : { type: 'bearer' };
}

/**
 * Returns the headers and parameters that a step's `auth` adds to a request with these values, or a description of the
 * problem that contains no value (docs/specification/steps.md#credentials-of-a-request).
 */
export function applyCredentials(
  given: HttpAuth | undefined,
  values: Values,
): AppliedCredentials | { problem: string } {
  const auth = authOf(given, Object.keys(values));
  const secrets = Object.values(values);
  switch (auth.type) {
    case 'bearer':
      return ofHeaders(credentialHeaders('token', values), secrets);
    case 'basic':
      return basic(values, secrets);
    case 'header': {
      if (auth.name === undefined) return ofHeaders(credentialHeaders('header', values), secrets);
      const key = keyOf(values, auth.credential);
      if (typeof key !== 'string') return key;
      if (!isHeaderValue(key)) return { problem: 'Its key holds characters that a header cannot carry.' };
      return { headers: { [auth.name]: key }, query: [], secrets };
    }
    case 'query': {
      const key = keyOf(values, auth.credential);
      return typeof key === 'string' ? { headers: {}, query: [[auth.name, key]], secrets } : key;
    }
  }
}

/** Returns why a connection with credentials of these names does not fit; null if it does. */
export function unfitReason(auth: HttpAuth | undefined, names: readonly string[]): string | null {
  const values = Object.fromEntries(names.map(name => [name, 'x']));
  const applied = applyCredentials(auth, values);
  return 'problem' in applied ? applied.problem : null;
}

function ofHeaders(made: ReturnType<typeof credentialHeaders>, secrets: readonly string[]) {
  return 'problem' in made ? made : { headers: made.headers, query: [], secrets };
}

function basic({ username, password }: Values, secrets: readonly string[]) {
  if (username === undefined || password === undefined) {
    return { problem: 'It has no credentials named “username” and “password”.' };
  }
  // RFC 7617, 2: the first colon ends the name.
  if (username.includes(':'))
    return { problem: 'Its “username” holds a colon, which basic authentication cannot carry.' };
  const sent = Buffer.from(`${username}:${password}`).toString('base64');
  return { headers: { Authorization: `Basic ${sent}` }, query: [], secrets: [...secrets, sent] };
}

function keyOf(values: Values, credential: string | undefined): string | { problem: string } {
  const names = credential === undefined ? KEY_NAMES : [credential];
  const name = names.find(each => Object.hasOwn(values, each));
  const key = name === undefined ? undefined : values[name];
  return key ?? { problem: `It has no credential named ${names.map(each => `“${each}”`).join(' or ')}.` };
}
