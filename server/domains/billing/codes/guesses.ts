import type { Services } from '../../../contract/services.ts';
import { AppError } from '../../../platform/errors.ts';

/** Who tries a code. */
export type Guesser = { tenantId: string; userId: string };

/**
 * Runs `attempt` and counts it against the user and the workspace where it comes to nothing (null). Counted before it begins and given
 * back where it was no wrong code, so that many at once are no way around. AppError 429 with Retry-After over
 * BATON_RATE_LIMIT_WRONG_CODES_PER_HOUR of either, also for a code that would be right: the answer is no way to tell.
 */
export async function limitGuesses<T>(
  { rateLimiter }: Pick<Services, 'rateLimiter'>,
  { tenantId, userId }: Guesser,
  attempt: () => Promise<T | null>,
): Promise<T | null> {
  const keys = [`user:${userId}`, `tenant:${tenantId}`];
  const states = await Promise.all(keys.map(key => rateLimiter.take('wrong_code', key)));
  const refund = () => Promise.all(keys.map(key => rateLimiter.refund('wrong_code', key)));
  const over = states.find(({ allowed }) => !allowed);
  if (over !== undefined) {
    // It was not tried: one's limit does not use up the other's.
    await refund();
    throw new AppError(429, 'too_many_wrong_codes', 'Too many wrong codes; try again later.', {
      headers: { 'Retry-After': String(over.resetSeconds) },
    });
  }
  let right = true;
  try {
    const found = await attempt();
    right = found !== null;
    return found;
  } finally {
    if (right) await refund();
  }
}
