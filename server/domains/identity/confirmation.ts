import type { z } from 'zod';
import type { Context, PublicContext } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { DAY_MS } from '../../platform/clock.ts';
import { verifyPassword } from '../../platform/crypto/password.ts';
import { conflict, forbidden, notFound } from '../../platform/errors.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { sendLater } from './account-mail.ts';
import { findPresentAccount, readAccount } from './account-store.ts';
import { findToken, issueToken, spendToken } from './account-token-store.ts';
import { checkPassword } from './address-accounts.ts';
import { requireEveryScope } from './authority.ts';
import { lockAddress } from './lock-queries.ts';
import { principalCache } from './principal-cache.ts';
import { claimAddress, forgetTokens } from './replace-accounts.ts';
import type { ConfirmAddressInput, ConfirmAddressOutput } from './schemas.ts';
import { limitAttempts, limitAttemptsFrom, requirePasswordSignIn } from './sign-in.ts';

const PURPOSE = 'confirm_address';
const VALID_FOR_MS = 3 * DAY_MS;

/** Returns the same error for a link that is unknown, used or expired, and for an account that was replaced since. */
const linkNotFound = () => notFound('Link');

/** Mails a link that confirms the account's address; does nothing if mail is not configured. */
export function sendConfirmation(services: Services, { id, email }: { id: string; email: string }): void {
  sendLater(services, email, async () => {
    const { prisma, clock, config } = services;
    const issued = { purpose: PURPOSE, email, userId: id, validForMs: VALID_FOR_MS } as const;
    const token = await issueToken(prisma, issued, clock.now());
    return {
      subject: 'Confirm your email address for Baton',
      text: `An account for ${email} was made at ${config.http.url}.

If it is yours, confirm the address within three days:
${config.http.url}/confirm-address#token=${token}

The page asks for the password of the account. If you did not choose one, somebody else made the account: ignore this email. They
cannot use your address as theirs.
`,
    };
  });
}

/**
 * POST /v1/me/confirmation: mails the link again. Throws AppError 404 if mail is not configured, 409
 * `already_confirmed`, 429.
 */
export async function requestConfirmation({ principal, services }: Context): Promise<undefined> {
  requireEveryScope(principal);
  await limitAttempts(services, `confirmation:${principal.userId}`);
  const user = await readAccount(services.prisma, principal.userId);
  if (user.confirmedAt !== null) throw conflict('already_confirmed', 'Your address is already confirmed.');
  sendConfirmation(services, user);
}

/**
 * POST /v1/confirmations: confirms the account of a mailed link. The link proves the address and the password proves
 * the account, so a person cannot confirm an account that another person created with their address. It replaces other
 * accounts of the address; if one of them is already confirmed, that one replaces this one. Throws AppError 404 for the
 * link, 403 `wrong_password`, 429 as for sign-in.
 */
export async function confirmAddress(
  ctx: PublicContext,
  input: z.output<typeof ConfirmAddressInput>,
): Promise<z.input<typeof ConfirmAddressOutput>> {
  const { services } = ctx;
  requirePasswordSignIn(services);
  const address = ctx.clientAddress ?? 'unknown';
  await limitAttemptsFrom(services, { kind: 'confirmation', address });
  const found = await findToken(services.prisma, { token: input.token, purpose: PURPOSE }, services.clock.now());
  if (found?.userId == null) throw linkNotFound();
  const { email, userId } = found;
  await limitAttempts(services, `sign-in:${address}:${email}`);
  const user = await findPresentAccount(services.prisma, userId);
  if (!user) throw linkNotFound();
  const requester = { address, account: email };
  if (!(await checkPassword(services, () => verifyPassword(input.password, user.passwordHash, requester))))
    throw forbidden('This is not the password of the account.', 'wrong_password');
  const dead = await transact(services, async tx => {
    await lockAddress(tx, email);
    if (!(await spendToken(tx, found))) throw linkNotFound();
    const present = await findPresentAccount(tx, userId);
    if (!present) throw linkNotFound();
    return (await claimAddress(tx, present, new Date(services.clock.now()))).dead;
  });
  principalCache(services).clear();
  await forgetTokens(services, dead);
  return { email };
}
