import type { Clock } from './clock.ts';

/** `limit` 0: this kind is not limited. */
export type RateLimitState = { limit: number; remaining: number; resetSeconds: number; allowed: boolean };
/** At most `limit` calls in each window of this many ms; a `limit` of 0 means no limit. */
export type RateLimit = { limit: number; windowMs: number };

/** Fixed windows. Those in memory are per process, and it does no harm if a restart loses their counts. */
export interface RateLimiter<Kind extends string> {
  /** Counts one call of `key`, such as `pat:<id>` or `address:<ip>`. */
  take(kind: Kind, key: string): Promise<RateLimitState>;
  /** Undoes one `take` of `key`, because the call turned out to belong to another key. */
  refund(kind: Kind, key: string): Promise<void>;
}

/**
 * The number of keys per kind and window (about 10 MB); beyond it the oldest is dropped, so a flood of
 * addresses costs no more memory.
 */
const MAX_KEYS = 100_000;

type Window = { start: number; counts: Map<string, number> };

/**
 * Returns a limiter of each kind in `limits`. Windows are aligned to the clock, so a new one drops all counts at once.
 * rate-limiter-flexible was rejected: it uses its own time (Date.now and a timer per key).
 */
export function createRateLimiter<Kind extends string>(
  limits: Readonly<Record<Kind, RateLimit>>,
  clock: Clock,
): RateLimiter<Kind> {
  const windows = new Map<Kind, Window>();
  const windowOf = (kind: Kind, now: number): Window => {
    const start = now - (now % limits[kind].windowMs);
    let window = windows.get(kind);
    if (window?.start !== start) {
      window = { start, counts: new Map() };
      windows.set(kind, window);
    }
    return window;
  };

  const takeOne = (kind: Kind, key: string): RateLimitState => {
    const { limit, windowMs } = limits[kind];
    if (limit === 0) return { limit: 0, remaining: 0, resetSeconds: 0, allowed: true };
    const now = clock.now();
    const { start, counts } = windowOf(kind, now);
    const used = (counts.get(key) ?? 0) + 1;
    if (used === 1 && counts.size >= MAX_KEYS) {
      const oldest = counts.keys().next();
      if (!oldest.done) counts.delete(oldest.value);
    }
    counts.set(key, used);
    return {
      limit,
      remaining: Math.max(0, limit - used),
      resetSeconds: Math.ceil((start + windowMs - now) / 1000),
      allowed: used <= limit,
    };
  };

  const refund = (kind: Kind, key: string): void => {
    // If the window has ended, its counts have already been dropped.
    const { counts } = windowOf(kind, clock.now());
    const used = counts.get(key) ?? 0;
    if (used > 0) counts.set(key, used - 1);
  };

  return { take: async (kind, key) => takeOne(kind, key), refund: async (kind, key) => refund(kind, key) };
}
