import type { Pool } from 'pg';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/clock.ts';
import { createRateLimiter, type RateLimit, type RateLimiter } from '../platform/rate-limit.ts';
import { createSharedLimiter } from './shared-limits-store.ts';

export type RateLimitKind =
  | 'principal'
  | 'address'
  | 'sign_in'
  | 'sign_in_address'
  | 'failed_sign_in'
  | 'wrong_code'
  | 'mail'
  | 'notification_test';
/**
 * Counts requests per caller. Keys are `pat:<id>`, `user:<id>`, `address:<ip>`,
 * `sign-in:<ip>:<email>`, `tenant:<slug>`.
 */
export type RequestLimiter = RateLimiter<RateLimitKind>;

/** The maximum number of mails per hour to one address: enough for a person who lost one, too few to flood a mailbox. */
const MAX_MAILS_PER_HOUR = 5;
/**
 * The maximum number of tests of a person's notifications: enough to set up a channel, too few to burden somebody else's
 * server.
 */
const MAX_NOTIFICATION_TESTS_PER_HOUR = 10;

/**
 * Returns whether a kind is counted for all nodes together. These kinds limit guesses and mails: otherwise each node would
 * allow as many. Each node counts its own requests, because a row for each would cost more than most requests.
 */
const isShared = (kind: RateLimitKind): boolean => kind !== 'principal' && kind !== 'address';

/**
 * Returns the limiter of this process's requests. The limits are per minute, except wrong codes (per hour) and failed
 * sign-ins (per UTC day); 0 = off. `shared`: the database in which the nodes of a cluster count guesses and mails together.
 */
export function createRequestLimiter(
  limits: {
    principal: number;
    address: number;
    signIn: number;
    signInPerAddress?: number;
    failedSignInsPerAddress?: number;
    wrongCodes: number;
  },
  clock: Clock,
  shared: Pool | null = null,
): RequestLimiter {
  const all = limitsOf(limits);
  const own = createRateLimiter(all, clock);
  if (shared === null) return own;
  const common = createSharedLimiter(all, { pool: shared, clock });
  const limiterOf = (kind: RateLimitKind) => (isShared(kind) ? common : own);
  return {
    take: (kind, key) => limiterOf(kind).take(kind, key),
    refund: (kind, key) => limiterOf(kind).refund(kind, key),
  };
}

function limitsOf(limits: Parameters<typeof createRequestLimiter>[0]): Record<RateLimitKind, RateLimit> {
  return {
    principal: { limit: limits.principal, windowMs: MINUTE_MS },
    address: { limit: limits.address, windowMs: MINUTE_MS },
    sign_in: { limit: limits.signIn, windowMs: MINUTE_MS },
    sign_in_address: { limit: limits.signInPerAddress ?? 0, windowMs: MINUTE_MS },
    failed_sign_in: { limit: limits.failedSignInsPerAddress ?? 0, windowMs: DAY_MS },
    // A person who mistypes tries again within a minute; an attacker who guesses has all day.
    wrong_code: { limit: limits.wrongCodes, windowMs: HOUR_MS },
    mail: { limit: MAX_MAILS_PER_HOUR, windowMs: HOUR_MS },
    notification_test: { limit: MAX_NOTIFICATION_TESTS_PER_HOUR, windowMs: HOUR_MS },
  };
}
