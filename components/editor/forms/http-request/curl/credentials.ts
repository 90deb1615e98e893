import { namesCredential } from '@/server/orchestrator/steps/credential-words.ts';
import { isObject, type Json } from '@/server/platform/json.ts';
import { holdsTemplate } from './templated-text.ts';

/** Credentials found in a command. They are offered for a connection, and never written into the step. */
export type FoundCredentials = {
  /** Where the credentials are in the command, such as “the header Authorization”. */
  where: string;
  /** The kind of connection for these credentials (components/connections/presets.ts). */
  preset: 'token' | 'basic' | 'header' | 'other';
  credentials: readonly { name: string; secret: string }[];
  /** The `auth` of the step that uses the connection; undefined for the default of the connection. */
  auth: { type: 'bearer' | 'basic' | 'header' } | { type: 'query'; name: string; credential: string } | undefined;
};

const CREDENTIAL_HEADER = /^(?:authorization|cookie|.*[-_](?:key|token|secret|auth|session|signature))$/i;

/** Returns whether a value with this name is a secret. A template is no secret: it only names the source of the secret. */
export const isSecretHeader = (name: string, value: string): boolean =>
  value !== '' && !holdsTemplate(value) && (CREDENTIAL_HEADER.test(name) || namesCredential(name));
export const isSecretParameter = (name: string, value: string): boolean =>
  value !== '' &&
  !holdsTemplate(value) &&
  (namesCredential(name) || /^(?:.*[-_])?(?:key|sig|signature|auth)$/i.test(name));

const variable = /^\$(?:\{.*\}|\(.*\)|\w+)$/s;
/** Returns the secret; empty if a shell variable stands in its place. */
const secretOf = (text: string) => (variable.test(text) ? '' : text);

/** Returns the credentials of a header. */
export function credentialsOfHeader(name: string, value: string): FoundCredentials {
  const where = `the header ${name}`;
  const [, scheme = '', rest = ''] = /^(\w+)\s+(.+)$/s.exec(value) ?? [];
  const isAuthorization = name.toLowerCase() === 'authorization';
  if (isAuthorization && scheme.toLowerCase() === 'bearer') return { ...bearer(rest), where };
  if (isAuthorization && scheme.toLowerCase() === 'basic') {
    const user = readBase64(rest);
    if (user?.includes(':')) return { ...basic(user), where };
  }
  const credentials = [{ name, secret: secretOf(value) }];
  return { where, preset: 'header', credentials, auth: { type: 'header' } };
}

/** Returns the credentials of `-u user:password`, or of a URL. */
export function basic(user: string): FoundCredentials {
  const at = user.indexOf(':');
  const [username, password] = at === -1 ? [user, ''] : [user.slice(0, at), user.slice(at + 1)];
  return {
    where: 'the username and password',
    preset: 'basic',
    credentials: [
      { name: 'username', secret: secretOf(username) },
      { name: 'password', secret: secretOf(password) },
    ],
    auth: { type: 'basic' },
  };
}

/** Returns the credentials of a bearer token. */
export function bearer(token: string): FoundCredentials {
  return {
    where: 'the bearer token',
    preset: 'token',
    credentials: [{ name: 'token', secret: secretOf(token) }],
    auth: { type: 'bearer' },
  };
}

/** Returns the credentials of a parameter of the URL. */
export function credentialsOfParameter(name: string, value: string): FoundCredentials {
  const credential = name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64);
  return {
    where: `the parameter ${name}`,
    preset: 'other',
    credentials: [{ name: credential, secret: secretOf(value) }],
    auth: { type: 'query', name, credential },
  };
}

function readBase64(text: string): string | null {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0)));
  } catch {
    return null;
  }
}

/** Returns the names in a body whose values look like secrets. */
export function secretNames(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(secretNames);
  if (!isObject(value as Json)) return [];
  return Object.entries(value as { [key: string]: Json }).flatMap(([name, inner]) =>
    typeof inner === 'string' ? (isSecretParameter(name, inner) ? [name] : []) : secretNames(inner),
  );
}
