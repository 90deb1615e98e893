import type { z } from 'zod';
import type { PublicContext } from '../../operation/context.ts';
import { notFound } from '../../platform/errors.ts';
import { withAccount } from './address-accounts.ts';
import { sendConfirmation } from './confirmation.ts';
import { hasOwner } from './first-owner.ts';
import type { SignUpInput, SignUpOutput, SignUpStatus } from './schemas.ts';
import { limitAttempts, limitAttemptsFrom, requirePasswordSignIn } from './sign-in.ts';
import { createWorkspaceRows, refuseTakenSlug, refuseTooManyWorkspaces } from './workspaces.ts';

/** GET /v1/sign-up: returns whether the console offers to create an account. */
export async function signUpStatus({ services }: PublicContext): Promise<z.input<typeof SignUpStatus>> {
  const { signUp, passwordSignIn } = services.config.identity;
  return { open: signUp === 'open' && passwordSignIn };
}

/**
 * POST /v1/sign-up: creates an account and its first workspace. The account is unconfirmed. An existing account with
 * this address and password gets the workspace instead, so the answer does not reveal whether the address has an
 * account. Throws AppError 404 unless BATON_SIGN_UP=open, and until the first owner is set up; 409
 * `workspace_slug_taken`; 429 as for sign-in.
 */
export async function signUp(
  ctx: PublicContext,
  input: z.output<typeof SignUpInput>,
): Promise<z.input<typeof SignUpOutput>> {
  const { services } = ctx;
  if (services.config.identity.signUp !== 'open' || !(await hasOwner(services))) throw notFound('Sign-up');
  requirePasswordSignIn(services);
  const address = ctx.clientAddress ?? 'unknown';
  const { email, name, slug, password } = input;
  await limitAttemptsFrom(services, { kind: 'sign-up', address });
  await limitAttempts(services, `sign-in:${address}:${email}`);
  const attempt = { email, password, name, requester: { address, account: email } };
  const workspace = { slug, name: input.workspace_name ?? slug };
  const account = await withAccount(services, attempt, async (tx, account, at) => {
    await refuseTooManyWorkspaces(tx, account.id, services.config.identity.maxWorkspacesPerUser);
    await createWorkspaceRows(tx, workspace, { userId: account.id, createdBy: account.id, at });
    return account;
  }).catch(refuseTakenSlug);
  if (!account.confirmed) sendConfirmation(services, { id: account.id, email });
  services.logger.info({ tenant_id: slug, user_id: account.id }, 'account and workspace created');
  return { user_id: account.id, tenant_id: slug, email };
}
