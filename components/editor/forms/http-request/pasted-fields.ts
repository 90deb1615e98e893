import type { Json, JsonObject } from '@/server/platform/json.ts';
import { CURL_FIELDS } from './curl/curl-fields.ts';
import type { CurlRequest } from './curl/read-curl.ts';

const originOf = (url: unknown): string | null =>
  typeof url === 'string' ? (/^[a-z]+:\/\/[^/?#{]+/i.exec(url)?.[0].toLowerCase() ?? null) : null;

/** These fields stay unless a command names them. */
const KEPT: ReadonlySet<string> = new Set(['timeout_s', 'retry_count']);

/**
 * Returns the changes of a step for a pasted command: the fields of the command are set, and all other fields of the request are removed,
 * because they belong to another request.
 */
export function fieldsToSet(
  step: { readonly [field: string]: unknown },
  { fields }: Pick<CurlRequest, 'fields'>,
): Record<string, Json | undefined> {
  const named = CURL_FIELDS.filter(name => !KEPT.has(name) || fields[name] !== undefined);
  const isElsewhere = originOf(step.url) !== originOf(fields.url) && step.url !== undefined && step.url !== '';
  // Only GET requests are paginated, and another server is paginated differently.
  const dropsPages = step.pagination !== undefined && (isElsewhere || fields.method !== undefined);
  // The command has its own authentication, and a header that the connection sets must not occur twice.
  const dropsAuth = step.connection_id !== undefined && (isElsewhere || hasAuthorization(fields.headers));
  return {
    ...Object.fromEntries(named.map(name => [name, fields[name]])),
    ...(dropsPages ? { pagination: undefined } : {}),
    ...(dropsAuth ? { connection_id: undefined, auth: undefined } : {}),
  };
}

const hasAuthorization = (headers: Json | undefined): boolean =>
  Object.keys((headers ?? {}) as JsonObject).some(name => name.toLowerCase() === 'authorization');
