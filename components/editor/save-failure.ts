import { isRecord, readError } from '../ui/errors.ts';

/**
 * Returns after how many ms at least a failed request is worth repeating; undefined leaves that to the caller, and null
 * means that it fails again however often it is repeated.
 */
export function retryAfterMs(error: unknown): number | null | undefined {
  const { status } = readError(error);
  if (status === 429) return secondsAsked(error) * 1_000;
  // 0: not reached. 401: the session is to be renewed. 408 and 425 ask for a repetition.
  return status >= 500 || [0, 401, 408, 425].includes(status) ? undefined : null;
}

/** Returns the seconds of the header Retry-After; 0 without one. */
function secondsAsked(error: unknown): number {
  const meta = isRecord(error) ? error.meta : undefined;
  const response = isRecord(meta) ? meta.response : undefined;
  return response instanceof Response ? Number(response.headers.get('Retry-After')) || 0 : 0;
}
