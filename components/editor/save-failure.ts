import { isRecord, readError } from '../ui/errors.ts';

/**
 * Returns the minimum delay in ms before a failed request is retried. Returns undefined to leave the delay to the caller, and null if
 * every retry would fail.
 */
export function retryAfterMs(error: unknown): number | null | undefined {
  const { status } = readError(error);
  if (status === 429) return retryAfterSeconds(error) * 1_000;
  // 0: server not reached. 401: session to be renewed. 408 and 425 ask for a retry.
  return status >= 500 || [0, 401, 408, 425].includes(status) ? undefined : null;
}

/** Returns the seconds of the Retry-After header; 0 without the header. */
function retryAfterSeconds(error: unknown): number {
  const meta = isRecord(error) ? error.meta : undefined;
  const response = isRecord(meta) ? meta.response : undefined;
  return response instanceof Response ? Number(response.headers.get('Retry-After')) || 0 : 0;
}
