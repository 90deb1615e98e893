import { AppError } from '../platform/errors.ts';
import type { RateLimiter, RateLimitState } from '../platform/rate-limit.ts';
import { principalKey } from './authenticate.ts';
import type { Principal } from './context.ts';

/** Counts a request: by its principal, or by the client's address where nobody has been authenticated. */
export function takeRequest(
  limiter: RateLimiter,
  principal: Principal | null,
  address: string,
): Promise<RateLimitState> {
  return principal ? limiter.take('principal', principalKey(principal)) : limiter.take('address', `address:${address}`);
}

/** Counts a request as one of `key` that was counted as one of its address before it had proved who it is. */
export async function countAs(limiter: RateLimiter, key: string, address: string): Promise<RateLimitState> {
  await limiter.giveBack('address', `address:${address}`);
  return limiter.take('principal', key);
}

/** `RateLimit-*` of a response; none where the limit is off. */
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

/**
 * The client's address: the peer's, or with `trustedProxies` n the n-th entry of X-Forwarded-For from its end, since everything
 * before that is the client's own word. IPv6 counts by its /64, which one client owns whole.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const forwarded = trustedProxies > 0 ? (forwardedFor ?? '').split(',').at(-trustedProxies)?.trim() : undefined;
  const address = (forwarded || peer || 'unknown').replace(/^::ffff:(?=\d+\.)/i, '');
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
