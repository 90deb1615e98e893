import type { Services } from '../../operation/services.ts';
import { needsRehash } from '../../platform/crypto/password.ts';
import { AppError, forbidden } from '../../platform/errors.ts';
import type { RateLimitState } from '../../platform/rate-limit.ts';
import { rehashPassword } from './account-store.ts';
import { matchAccount } from './address-accounts.ts';
import { Email, Password } from './schemas.ts';

export type SignInAttempt = { email: string; password: string; address: string };
export type SignedIn = { id: string; email: string; name: string; sessionEpoch: number };

/** Counts one attempt to guess a password or token. Throws AppError 429 with Retry-After beyond the limit of `key`. */
export async function limitAttempts(services: Pick<Services, 'rateLimiter'>, key: string): Promise<void> {
  refuseOverLimit(await services.rateLimiter.take('sign_in', key));
}

/**
 * Counts an attempt from an address like `limitAttempts`, and also counts it towards the address's own limits per
 * minute and per day: without them, one client could try one password on any number of accounts, quickly or slowly. A
 * successful sign-in does not count towards the day.
 */
export async function limitAttemptsFrom(
  services: Pick<Services, 'rateLimiter'>,
  { address, ...attempt }: { kind: string; address: string; account?: string },
): Promise<void> {
  refuseOverLimit(await services.rateLimiter.take('sign_in_address', address));
  const key = [attempt.kind, address, attempt.account].filter(part => part !== undefined);
  await limitAttempts(services, key.join(':'));
  // Checked last, so that attempts refused by the limits per minute do not use up the day's limit.
  const message = 'Too many failed attempts from this address today; try again later.';
  refuseOverLimit(await services.rateLimiter.take('failed_sign_in', address), message);
}

function refuseOverLimit(
  { allowed, resetSeconds }: RateLimitState,
  message = 'Too many attempts; wait a minute and try again.',
): void {
  if (allowed) return;
  throw new AppError(429, 'rate_limited', message, { headers: { 'Retry-After': String(Math.max(1, resetSeconds)) } });
}

/** Throws AppError 403 where people sign in through OpenID Connect only: no password is set, changed or checked. */
export function requirePasswordSignIn({ config }: Pick<Services, 'config'>): void {
  if (config.identity.passwordSignIn) return;
  throw forbidden('Passwords are off on this deployment: sign in with single sign-on.', 'password_sign_in_off');
}

/**
 * Checks email and password for the sign-in form. For an unknown account and for a wrong password the answer is the
 * same, null, after the same work. Throws AppError 429 beyond the limits of the address per minute and per day, beyond
 * the limit of address and account, and when too many checks are waiting.
 */
export async function verifyPassword(services: Services, attempt: SignInAttempt): Promise<SignedIn | null> {
  requirePasswordSignIn(services);
  // Only text that could be an account's email gets a separate limit; all other text shares one.
  const email = Email.safeParse(attempt.email.trim()).data;
  const { address } = attempt;
  const account = email ?? 'malformed';
  await limitAttemptsFrom(services, { kind: 'sign-in', address, account });
  const password = Password.safeParse(attempt.password).data;
  const requester = { address, account };
  const { account: user, passwordHash } = await matchAccount(services, { email, password, requester });
  if (!user) return null;
  await services.rateLimiter.refund('failed_sign_in', address);
  // Rehashed at today's cost, unless the password was changed meanwhile.
  if (needsRehash(user.passwordHash)) await rehashPassword(services.prisma, user, passwordHash);
  return { id: user.id, email: user.email, name: user.name, sessionEpoch: user.sessionEpoch };
}
