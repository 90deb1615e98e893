import type { Services } from '../../../operation/services.ts';
import { AppError } from '../../../platform/errors.ts';

/** The user and the workspace that try a code. */
export type Guesser = { tenantId: string; userId: string };

/**
 * Runs `attempt`, and counts it against the user and the workspace if it fails (null). An attempt is counted before it
 * starts and refunded if the code was not wrong, so concurrent attempts cannot exceed the limit. Throws AppError 429 with
 * Retry-After if either has made more than BATON_RATE_LIMIT_WRONG_CODES_PER_HOUR, even for a valid code: the answer
 * must not reveal whether a code is valid.
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
    // The attempt was refused, so it counts against neither: the user's limit must not use up the workspace's.
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
