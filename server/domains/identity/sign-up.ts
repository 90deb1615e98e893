import type { z } from 'zod';
import type { PublicContext } from '../../api/context.ts';
import { hashPassword } from '../../platform/crypto/password.ts';
import { conflict, notFound } from '../../platform/errors.ts';
import { createUser } from './accounts.ts';
import { hasOwner } from './first-owner.ts';
import type { SignUpInput, SignUpOutput, SignUpStatus } from './schemas.ts';
import { limitAttemptsFrom } from './sign-in.ts';
import { inTransaction, isUniqueViolation } from './transaction.ts';
import { createWorkspaceRows, refuseTakenSlug } from './workspaces.ts';

/** GET /v1/sign-up: whether the console offers to create an account. */
export async function signUpStatus({ services }: PublicContext): Promise<z.input<typeof SignUpStatus>> {
  return { open: services.config.identity.signUp === 'open' };
}

/**
 * POST /v1/sign-up: an account and its first workspace. AppError 404 unless BATON_SIGN_UP=open, and until the first owner is set
 * up; 409 `account_exists`, `workspace_slug_taken`; 429 as for sign-in.
 */
export async function signUp(
  ctx: PublicContext,
  input: z.output<typeof SignUpInput>,
): Promise<z.input<typeof SignUpOutput>> {
  const { services } = ctx;
  if (services.config.identity.signUp !== 'open' || !(await hasOwner(services))) throw notFound('Sign-up');
  await limitAttemptsFrom(services, { kind: 'sign-up', address: ctx.clientAddress ?? 'unknown' });
  const { email, name, slug } = input;
  const taken = () => conflict('account_exists', 'This email has an account: sign in, and create the workspace there.');
  if (await services.prisma.user.findUnique({ where: { email }, select: { id: true } })) throw taken();
  // Before the transaction, which would hold its locks for as long as the hash takes.
  const passwordHash = await hashPassword(input.password);
  const at = new Date(services.clock.now());
  const userId = await inTransaction(services, async tx => {
    // Two sign-ups of one email at once: one of them finds it taken only here.
    const id = await createUser(tx, { email, name, passwordHash }, at).catch(error => {
      throw isUniqueViolation(error) ? taken() : error;
    });
    await createWorkspaceRows(tx, { slug, name: input.workspace_name ?? slug }, { userId: id, createdBy: id, at });
    return id;
  }).catch(refuseTakenSlug);
  services.logger.info({ tenant_id: slug, user_id: userId }, 'account and workspace created');
  return { user_id: userId, tenant_id: slug, email };
}
