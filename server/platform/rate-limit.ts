export type RateLimitState = { limit: number; remaining: number; resetSeconds: number; allowed: boolean };

/** Fixed windows of a minute, in memory: one process serves, and a restart that forgets a minute harms nobody. */
export interface RateLimiter {
  /** Counts one request of `key` (`pat:<id>`, `user:<id>`, `address:<ip>`, `sign-in:<ip>:<email>`). */
  take(kind: 'principal' | 'address' | 'sign_in', key: string): Promise<RateLimitState>;
}
