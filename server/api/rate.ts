import type { Principal } from '../operation/context.ts';
import type { RequestLimiter } from '../operation/rate-limits.ts';
import { AppError } from '../platform/errors.ts';
import type { RateLimitState } from '../platform/rate-limit.ts';
import { principalKey } from './authenticate.ts';

/** The sender of a request, for the limits. `forwarded`: another node of the cluster has counted the request. */
export type Counted = { address: string; forwarded?: boolean };

const unlimited: RateLimitState = { limit: 0, remaining: 0, resetSeconds: 0, allowed: true };

/** Counts a request: by its principal, or by the client's address if the request is not authenticated. */
export async function takeRequest(
  limiter: RequestLimiter,
  principal: Principal | null,
  { address, forwarded = false }: Counted,
): Promise<RateLimitState> {
  if (forwarded) return unlimited;
  return principal ? limiter.take('principal', principalKey(principal)) : limiter.take('address', `address:${address}`);
}

/** Moves the count of a request from its address to `key`, once the caller is known. */
export async function countAs(
  limiter: RequestLimiter,
  key: string,
  { address, forwarded = false }: Counted,
): Promise<RateLimitState> {
  if (forwarded) return unlimited;
  await limiter.refund('address', `address:${address}`);
  return limiter.take('principal', key);
}

/** Returns the `RateLimit-*` headers of a response; none if the limit is off. */
export function rateHeaders(state: RateLimitState): Record<string, string> {
  if (state.limit === 0) return {};
  return {
    'RateLimit-Limit': String(state.limit),
    'RateLimit-Remaining': String(state.remaining),
    'RateLimit-Reset': String(state.resetSeconds),
  };
}

export function rateLimited(state: RateLimitState): AppError {
  return new AppError(429, 'rate_limited', `More than ${state.limit} requests a minute.`, {
    headers: { 'Retry-After': String(Math.max(1, state.resetSeconds)) },
  });
}
