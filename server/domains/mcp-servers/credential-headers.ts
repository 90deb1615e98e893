import type { z } from 'zod';
import { isHeaderValue } from '../connections/schemas.ts';
import type { AuthMode } from './schemas.ts';

export type CredentialHeaders = { headers: Record<string, string> } | { problem: string };

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** The protocol's own headers, and those that frame a request. A credential with one of these names would change the request itself. */
const reservedName =
  /^(?:host|content-.*|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|accept|mcp-.*)$/i;

/**
 * Applies a server's `auth_mode` to the values of a connection (docs/specification/mcp.md#credentials-of-a-call):
 * `none` sends nothing; `token` a bearer token from `token`, `api_key` or `access_token`; `oauth` one from
 * `access_token`; `header` each value as the header of its name. A problem never contains a value.
 */
export function credentialHeaders(
  mode: z.output<typeof AuthMode>,
  values: Readonly<Record<string, string>>,
): CredentialHeaders {
  switch (mode) {
    case 'none':
      return { headers: {} };
    case 'token':
      return bearer(values.token ?? values.api_key ?? values.access_token, '“token”, “api_key” or “access_token”');
    case 'oauth':
      return bearer(values.access_token, '“access_token”');
    case 'header':
      return namedHeaders(values);
  }
}

function bearer(token: string | undefined, needed: string): CredentialHeaders {
  if (token === undefined || token === '') return { problem: `It has no credential named ${needed}.` };
  if (!isHeaderValue(token)) return { problem: 'Its token contains characters that a header cannot carry.' };
  return { headers: { Authorization: `Bearer ${token}` } };
}

function namedHeaders(values: Readonly<Record<string, string>>): CredentialHeaders {
  const entries = Object.entries(values);
  if (entries.length === 0) return { problem: 'It has no credentials.' };
  for (const [name, value] of entries) {
    if (!headerName.test(name) || reservedName.test(name))
      return { problem: `“${name}” is no header that may be set.` };
    if (!isHeaderValue(value)) return { problem: `“${name}” holds characters that a header cannot carry.` };
  }
  return { headers: Object.fromEntries(entries) };
}
