import { keepCookie } from '../ui/browser-cookie.ts';

/**
 * The tenant and project in which the console works; sent as X-Tenant-Id and X-Project-Id
 * (docs/specification/authentication.md#workspaces-and-projects).
 */
export type Scope = { tenant: string; project: string };

/** The server reads this cookie, so that the first render is in the chosen scope. Contains no secret. */
export const SCOPE_COOKIE = 'baton_scope';
const PATTERN = /^([a-z0-9-]{1,63}):([0-9a-f-]{36})$/;

/** Parses the cookie's value; null if it is absent or malformed. */
export function parseScope(value: string | undefined): Scope | null {
  const match = PATTERN.exec(decodeURIComponent(value ?? ''));
  return match?.[1] && match[2] ? { tenant: match[1], project: match[2] } : null;
}

/** Stores the scope in this browser for a year. */
export function storeScope(scope: Scope): void {
  keepCookie(SCOPE_COOKIE, `${scope.tenant}:${scope.project}`);
}

export function scopeHeaders(scope: Scope): Record<string, string> {
  return { 'X-Tenant-Id': scope.tenant, 'X-Project-Id': scope.project };
}
