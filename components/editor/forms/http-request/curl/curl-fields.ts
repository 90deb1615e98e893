import type { Json, JsonObject } from '@/server/platform/json.ts';

/** The fields of an `http_request` step that a command can set. */
export const CURL_FIELDS = [
  ...(['method', 'url', 'query', 'headers', 'body', 'form', 'text', 'multipart'] as const),
  ...(['body_with_get', 'follow_redirects', 'timeout_s', 'retry_count'] as const),
] as const;
export type CurlFields = Partial<Record<(typeof CURL_FIELDS)[number], Json>>;

/** Returns parameters in the format of a step: a repeated name has a list. */
export function groupPairs(pairs: readonly (readonly [string, string])[]): JsonObject | null {
  if (pairs.length === 0) return null;
  const grouped = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const known = grouped.get(name);
    grouped.set(name, known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value]);
  }
  return Object.fromEntries(grouped);
}
