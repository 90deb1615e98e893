import type { Clock } from './clock.ts';

/** `limit` 0 means that this kind is not limited. */
export type RateLimitState = { limit: number; remaining: number; resetSeconds: number; allowed: boolean };
export type RateLimitKind = 'principal' | 'address' | 'sign_in';

/** Fixed windows of a minute, in memory: one process serves, and a restart that forgets a minute harms nobody. */
export interface RateLimiter {
  /** Counts one request of `key` (`pat:<id>`, `user:<id>`, `address:<ip>`, `sign-in:<ip>:<email>`). */
  take(kind: RateLimitKind, key: string): Promise<RateLimitState>;
  /** Takes one request of `key` back: it turned out to be another's. */
  giveBack(kind: RateLimitKind, key: string): Promise<void>;
}

const windowMs = 60_000;
/** Keys kept per kind and window (~10 MB); beyond it the oldest is forgotten, so that a flood of addresses costs no more memory. */
const maxKeys = 100_000;

type Window = { start: number; counts: Map<string, number> };

/**
 * A limiter of requests a minute per kind; 0 = off (decisions.md, Conventions). Windows are aligned to the clock's minute, so a
 * new minute drops all counts at once. rate-limiter-flexible was weighed: it owns its time (Date.now and a timer per key).
 */
export function createRateLimiter(
  limits: { principal: number; address: number; signIn: number },
  clock: Clock,
): RateLimiter {
  const perMinute: Record<RateLimitKind, number> = {
    principal: limits.principal,
    address: limits.address,
    sign_in: limits.signIn,
  };
  const windows: Record<RateLimitKind, Window> = {
    principal: { start: 0, counts: new Map() },
    address: { start: 0, counts: new Map() },
    sign_in: { start: 0, counts: new Map() },
  };

  const take = (kind: RateLimitKind, key: string): RateLimitState => {
    const limit = perMinute[kind];
    if (limit === 0) return { limit: 0, remaining: 0, resetSeconds: 0, allowed: true };
    const now = clock.now();
    const start = now - (now % windowMs);
    const window = windows[kind];
    if (window.start !== start) {
      window.start = start;
      window.counts = new Map();
    }
    const used = (window.counts.get(key) ?? 0) + 1;
    if (used === 1 && window.counts.size >= maxKeys) {
      const oldest = window.counts.keys().next();
      if (!oldest.done) window.counts.delete(oldest.value);
    }
    window.counts.set(key, used);
    return {
      limit,
      remaining: Math.max(0, limit - used),
      resetSeconds: Math.ceil((start + windowMs - now) / 1000),
      allowed: used <= limit,
    };
  };

  const giveBack = (kind: RateLimitKind, key: string): void => {
    const now = clock.now();
    const window = windows[kind];
    const used = window.counts.get(key) ?? 0;
    // Of a minute that is over there is nothing to give back.
    if (used > 0 && window.start === now - (now % windowMs)) window.counts.set(key, used - 1);
  };

  return { take: async (kind, key) => take(kind, key), giveBack: async (kind, key) => giveBack(kind, key) };
}
