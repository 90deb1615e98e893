import type { z } from 'zod';
import type { PublicContext } from '../../operation/context.ts';
import { constantTimeEqual } from '../../platform/crypto/digest.ts';
import { hashPassword } from '../../platform/crypto/password.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { createFirstOwner, dropSetupToken, hasOwner, heldSetupToken } from './first-owner.ts';
import type { SetupInput, SetupOutput, SetupStatus } from './schemas.ts';
import { limitAttemptsFrom } from './sign-in.ts';

/** GET /v1/setup: returns whether the console must show the set-up form. */
export async function setupStatus({ services }: PublicContext): Promise<z.input<typeof SetupStatus>> {
  return { required: !(await hasOwner(services)) };
}

/**
 * POST /v1/setup: creates the first owner, once (docs/specification/authentication.md#first-owner). Throws AppError 404
 * as soon as there is an owner; 403 `wrong_setup_token`; 429 as for sign-in. Of several concurrent requests one
 * succeeds, the others get the 404.
 */
export async function setUp(
  ctx: PublicContext,
  input: z.output<typeof SetupInput>,
): Promise<z.input<typeof SetupOutput>> {
  const { services } = ctx;
  // Read first: a request that no longer finds the token finds the owner below, and gets the 404.
  const setupToken = heldSetupToken(services);
  if (await hasOwner(services)) throw notFound('Set-up');
  await limitAttemptsFrom(services, { kind: 'setup', address: ctx.clientAddress ?? 'unknown' });
  if (setupToken === undefined || !constantTimeEqual(input.token, setupToken)) {
    throw forbidden('The set-up token is not the one printed at start-up.', 'wrong_setup_token');
  }
  const owner = await createFirstOwner(services, {
    tenantId: input.tenant ?? services.config.identity.tenant,
    email: input.email,
    name: input.name,
    passwordHash: await hashPassword(input.password),
  });
  if (!owner) throw notFound('Set-up');
  dropSetupToken(services);
  return { user_id: owner.userId, tenant_id: owner.tenantId };
}
