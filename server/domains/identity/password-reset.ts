import type { z } from 'zod';
import type { PublicContext } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { DAY_MS, HOUR_MS } from '../../platform/clock.ts';
import { matchPassword } from '../../platform/crypto/password.ts';
import { notFound } from '../../platform/errors.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { sendLater } from './account-mail.ts';
import { readAccounts, resetPasswordHash } from './account-store.ts';
import { deleteTokens, findToken, issueToken, spendToken } from './account-token-store.ts';
import { checkPassword } from './address-accounts.ts';
import { lockAddress } from './lock-queries.ts';
import { withdrawGrantsOf } from './member-store.ts';
import { principalCache } from './principal-cache.ts';
import { claimAddress, forgetTokens } from './replace-accounts.ts';
import type { RequestPasswordResetInput, ResetPasswordInput, ResetPasswordOutput } from './schemas.ts';
import { limitAttemptsFrom, requirePasswordSignIn } from './sign-in.ts';

const PURPOSE = 'reset_password';
const MAILED_FOR_MS = HOUR_MS;
/** The lifetime of a link that an operator delivers, perhaps by letter. */
const HANDED_FOR_MS = DAY_MS;

const linkNotFound = () => notFound('Link');
const linkOf = (baseUrl: string, token: string) => `${baseUrl}/reset-password#token=${token}`;

/**
 * POST /v1/password-resets: mails a link to the address if it has an account. The answer is the same either way, and is
 * sent before anything is looked up. Throws AppError 404 if mail is not configured, 429 as for sign-in.
 */
export async function requestPasswordReset(
  ctx: PublicContext,
  { email }: z.output<typeof RequestPasswordResetInput>,
): Promise<undefined> {
  const { services } = ctx;
  requirePasswordSignIn(services);
  await limitAttemptsFrom(services, { kind: 'reset', address: ctx.clientAddress ?? 'unknown', account: email });
  sendLater(services, email, async () => {
    const { prisma, clock, config } = services;
    if ((await readAccounts(prisma, email)).length === 0) return null;
    const token = await issueToken(prisma, { purpose: PURPOSE, email, validForMs: MAILED_FOR_MS }, clock.now());
    return {
      subject: 'Reset your password for Baton',
      text: `Somebody asked for a new password for ${email} at ${config.http.url}.

If it was you, choose one within the hour:
${linkOf(config.http.url, token)}

If it was not, ignore this email: the password stays as it is.
`,
    };
  });
}

/** Issues a link that an operator hands to the owner of an address. Returns null if the address has no account. */
export async function issueResetLink(
  services: Pick<Services, 'prisma' | 'clock'>,
  { email, baseUrl }: { email: string; baseUrl: string },
): Promise<{ url: string; expiresAt: number } | null> {
  if ((await readAccounts(services.prisma, email)).length === 0) return null;
  const now = services.clock.now();
  const token = await issueToken(services.prisma, { purpose: PURPOSE, email, validForMs: HANDED_FOR_MS }, now);
  return { url: linkOf(baseUrl, token), expiresAt: now + HANDED_FOR_MS };
}

/**
 * POST /v1/password-resets/complete: sets the password of the address to which a link was sent. The link proves the
 * address, so this confirms its account and replaces every other account of the address. All sessions end; the tokens
 * of an account that was not confirmed are revoked, because its creator may have them. Throws AppError 404 for a link
 * that is unknown, used or expired; 429 as for sign-in.
 */
export async function resetPassword(
  ctx: PublicContext,
  input: z.output<typeof ResetPasswordInput>,
): Promise<z.input<typeof ResetPasswordOutput>> {
  const { services } = ctx;
  requirePasswordSignIn(services);
  const address = ctx.clientAddress ?? 'unknown';
  await limitAttemptsFrom(services, { kind: 'reset-link', address });
  const found = await findToken(services.prisma, { token: input.token, purpose: PURPOSE }, services.clock.now());
  if (!found) throw linkNotFound();
  const { email } = found;
  const [account] = await readAccounts(services.prisma, email);
  if (!account) throw linkNotFound();
  // Hashed with the salt that all accounts of the address share, and before the transaction, which would otherwise hold
  // its locks meanwhile.
  const requester = { address, account: email };
  const { hash } = await checkPassword(services, () =>
    matchPassword(input.password, [account.passwordHash], requester),
  );
  const dead = await transact(services, async tx => {
    await lockAddress(tx, email);
    const [first] = await readAccounts(tx, email);
    if (!first || !(await spendToken(tx, found))) throw linkNotFound();
    const at = new Date(services.clock.now());
    const revoked = first.confirmedAt === null ? await withdrawGrantsOf(tx, first.id, at) : [];
    const { survivor, dead } = await claimAddress(tx, first, at);
    await resetPasswordHash(tx, survivor.id, hash);
    await deleteTokens(tx, email);
    return [...revoked, ...dead];
  });
  principalCache(services).clear();
  await forgetTokens(services, dead);
  return { email };
}
