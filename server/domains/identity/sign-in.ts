import { hashPassword, needsRehash, verifyPassword as passwordMatches } from '../../platform/crypto/password.ts';
import { AppError } from '../../platform/errors.ts';
import type { Services } from '../../services.ts';
import { Email, Password } from './schemas.ts';

export type SignInAttempt = { email: string; password: string; address: string };
export type SignedIn = { id: string; email: string; name: string; sessionEpoch: number };

/**
 * Counts one attempt to guess a password or token; AppError 429 with Retry-After over the limit
 * (decisions.md, Conventions: 10 a minute per address and account).
 */
export async function limitAttempts(services: Pick<Services, 'rateLimiter'>, key: string): Promise<void> {
  const state = await services.rateLimiter.take('sign_in', key);
  if (state.allowed) return;
  throw new AppError(429, 'rate_limited', 'Too many attempts; wait a minute and try again.', {
    headers: { 'Retry-After': String(state.resetSeconds) },
  });
}

/**
 * Checks e-mail and password for the sign-in form. An unknown account and a wrong password give the same answer, null,
 * after the same work. AppError 429 over 10 attempts a minute for this address and account.
 */
export async function verifyPassword(services: Services, attempt: SignInAttempt): Promise<SignedIn | null> {
  // Only what could be an account's e-mail is a key of its own: anything else shares one.
  const email = Email.safeParse(attempt.email.trim()).data;
  await limitAttempts(services, `sign-in:${attempt.address}:${email ?? 'malformed'}`);
  const password = Password.safeParse(attempt.password).data;
  const user = email === undefined ? null : await services.prisma.user.findUnique({ where: { email } });
  const present = user?.passwordHash ?? null;
  const matches = await passwordMatches(password ?? '', password === undefined ? null : present);
  if (!user || !matches) return null;
  if (password !== undefined && needsRehash(user.passwordHash)) await strengthen(services, user, password);
  return { id: user.id, email: user.email, name: user.name, sessionEpoch: user.sessionEpoch };
}

/** Hashes anew at today's cost, unless the password was changed meanwhile. */
async function strengthen(
  { prisma }: Services,
  user: { id: string; passwordHash: string },
  password: string,
): Promise<void> {
  const passwordHash = await hashPassword(password);
  await prisma.user.updateMany({ where: { id: user.id, passwordHash: user.passwordHash }, data: { passwordHash } });
}
