import { HOUR_MS } from './clock.ts';

/** A dead server should not delay a step for a day. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

/**
 * Returns the delay that a `Retry-After` header requests, in ms: seconds or an HTTP date (RFC 9110, 10.2.3), at most an
 * hour. Undefined if it is neither. `now` is ms since the epoch.
 */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}
