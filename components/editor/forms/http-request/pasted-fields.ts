import type { Json, JsonObject } from '@/server/platform/json.ts';
import { CURL_FIELDS } from './curl/curl-fields.ts';
import type { CurlRequest } from './curl/read-curl.ts';

const originOf = (url: unknown): string | null =>
  typeof url === 'string' ? (/^[a-z]+:\/\/[^/?#{]+/i.exec(url)?.[0].toLowerCase() ?? null) : null;

/** A command says nothing of these where it does not name them. */
const KEPT: ReadonlySet<string> = new Set(['timeout_s', 'retry_count']);

/**
 * Returns the fields of a step that a pasted command changes: everything that the command says, and nothing that it does not.
 * What was there before belongs to another request.
 */
export function fieldsToSet(
  step: { readonly [field: string]: unknown },
  { fields }: Pick<CurlRequest, 'fields'>,
): Record<string, Json | undefined> {
  const named = CURL_FIELDS.filter(name => !KEPT.has(name) || fields[name] !== undefined);
  const isElsewhere = originOf(step.url) !== originOf(fields.url) && step.url !== undefined && step.url !== '';
  // Only GET requests have pages, and the pages of another server are others.
  const dropsPages = step.pagination !== undefined && (isElsewhere || fields.method !== undefined);
  // The command says how it authenticates, and a header that the connection sets must not be there twice.
  const dropsAuth = step.connection_id !== undefined && (isElsewhere || hasAuthorization(fields.headers));
  return {
    ...Object.fromEntries(named.map(name => [name, fields[name]])),
    ...(dropsPages ? { pagination: undefined } : {}),
    ...(dropsAuth ? { connection_id: undefined, auth: undefined } : {}),
  };
}

const hasAuthorization = (headers: Json | undefined): boolean =>
  Object.keys((headers ?? {}) as JsonObject).some(name => name.toLowerCase() === 'authorization');
