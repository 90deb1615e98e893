import type { Clock } from './clock.ts';

/** `limit` 0 means that this kind is not limited. */
export type RateLimitState = { limit: number; remaining: number; resetSeconds: number; allowed: boolean };
export type RateLimitKind = 'principal' | 'address' | 'sign_in' | 'sign_in_address' | 'wrong_code' | 'mail';

/** Fixed windows in memory: one process serves, and a restart that forgets a window harms nobody. */
export interface RateLimiter {
  /** Counts one request of `key` (`pat:<id>`, `user:<id>`, `address:<ip>`, `sign-in:<ip>:<email>`, `tenant:<slug>`). */
  take(kind: RateLimitKind, key: string): Promise<RateLimitState>;
  /** Takes one request of `key` back: it turned out to be another's. */
  giveBack(kind: RateLimitKind, key: string): Promise<void>;
}

const minute = 60_000;
/** Wrong codes are counted by the hour: a person who mistypes does so at once, and whoever guesses has all day. */
const windowsMs: Record<RateLimitKind, number> = {
  principal: minute,
  address: minute,
  sign_in: minute,
  sign_in_address: minute,
  wrong_code: 60 * minute,
  mail: 60 * minute,
};
/** Mails an hour to one address: enough for a person who lost one, too few to bury a mailbox. */
const MAX_MAILS_PER_HOUR = 5;
/** Keys kept per kind and window (~10 MB); beyond it the oldest is forgotten, so that a flood of addresses costs no more memory. */
const maxKeys = 100_000;

type Window = { start: number; counts: Map<string, number> };

/**
 * A limiter of requests per kind, a minute or (wrong codes) an hour; 0 = off (decisions.md, Conventions). Windows are aligned to the
 * clock, so a new one drops all counts at once. rate-limiter-flexible was weighed: it owns its time (Date.now and a timer per key).
 */
export function createRateLimiter(
  limits: { principal: number; address: number; signIn: number; signInPerAddress?: number; wrongCodes: number },
  clock: Clock,
): RateLimiter {
  const limitOf: Record<RateLimitKind, number> = {
    principal: limits.principal,
    address: limits.address,
    sign_in: limits.signIn,
    sign_in_address: limits.signInPerAddress ?? 0,
    wrong_code: limits.wrongCodes,
    mail: MAX_MAILS_PER_HOUR,
  };
  const windows: Record<RateLimitKind, Window> = {
    principal: { start: 0, counts: new Map() },
    address: { start: 0, counts: new Map() },
    sign_in: { start: 0, counts: new Map() },
    sign_in_address: { start: 0, counts: new Map() },
    wrong_code: { start: 0, counts: new Map() },
    mail: { start: 0, counts: new Map() },
  };

  const take = (kind: RateLimitKind, key: string): RateLimitState => {
    const limit = limitOf[kind];
    if (limit === 0) return { limit: 0, remaining: 0, resetSeconds: 0, allowed: true };
    const now = clock.now();
    const windowMs = windowsMs[kind];
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
    // Of a window that is over there is nothing to give back.
    if (used > 0 && window.start === now - (now % windowsMs[kind])) window.counts.set(key, used - 1);
  };

  return { take: async (kind, key) => take(kind, key), giveBack: async (kind, key) => giveBack(kind, key) };
}
