import type { Services } from '../../../operation/services.ts';
import { AppError } from '../../../platform/errors.ts';

/** The user and the workspace that try a code. */
export type Guesser = { tenantId: string; userId: string };

/**
 * Runs `attempt` and counts it against the user and the workspace if it fails (null). It counts before it starts and is
 * refunded if it was not a wrong code, so concurrent attempts cannot exceed the limit. AppError 429 with Retry-After
 * over BATON_RATE_LIMIT_WRONG_CODES_PER_HOUR of either, also for a right code: the answer must not reveal which it is.
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
    // The attempt was not made, so the limit of the one must not use up that of the other.
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
