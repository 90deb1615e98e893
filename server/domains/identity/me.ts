import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { matchPassword, verifyPassword } from '../../platform/crypto/password.ts';
import { forbidden, unauthenticated } from '../../platform/errors.ts';
import { changePasswordHash, readAccount, renameAccount } from './account-store.ts';
import { deleteTokens } from './account-token-store.ts';
import { checkPassword } from './address-accounts.ts';
import { carriedScopes, requireEveryScope } from './authority.ts';
import { type ReachableRow, readReachable } from './principal-queries.ts';
import type { ChangePasswordInput, Me, UpdateMeInput, UpdateMeOutput } from './schemas.ts';
import { limitAttempts, requirePasswordSignIn } from './sign-in.ts';

/**
 * GET /v1/me: returns the user and what the user can reach. A token sees only the tenant to which it is bound, not the
 * other tenants of its user.
 */
export async function getMe(ctx: Context): Promise<z.input<typeof Me>> {
  const { principal } = ctx;
  const tenants = await readReachable(ctx.services.pool, principal.userId);
  const tenant = tenants.find(({ slug }) => slug === principal.tenantId);
  const project = tenant?.projects.find(({ id }) => id === principal.projectId);
  // The membership or project was removed after the credential was checked.
  if (!tenant || !project) throw unauthenticated();
  const visible = principal.credential.kind === 'pat' ? [{ ...tenant, projects: [project] }] : tenants;
  return {
    user: { id: principal.userId, email: principal.email, name: principal.name, confirmed: tenant.confirmed },
    tenant: { id: tenant.slug, name: tenant.name },
    project: { id: project.id, name: project.name },
    role: principal.role,
    scopes: [...carriedScopes(principal)],
    can_create_workspaces: mayCreate(ctx, visible),
    billing: ctx.services.config.billing.mode,
    agents: ctx.services.config.agents,
    memory: ctx.services.config.memory.on,
    tenants: visible.map(({ slug, name, tenant_admin, projects }) => ({ id: slug, name, tenant_admin, projects })),
  };
}

/** Returns whether the user may create a workspace, by the same rules as `createWorkspace`. */
function mayCreate({ principal, services }: Context, visible: readonly ReachableRow[]): boolean {
  if (!carriedScopes(principal).includes('pat:manage')) return false;
  const { signUp } = services.config.identity;
  return signUp === 'open' || (signUp === 'invited' && visible.some(({ tenant_admin }) => tenant_admin));
}

/** PATCH /v1/me: changes the user's own name. */
export async function updateMe(
  { principal, services }: Context,
  input: z.output<typeof UpdateMeInput>,
): Promise<z.input<typeof UpdateMeOutput>> {
  requireEveryScope(principal);
  const user = await renameAccount(services.prisma, principal.userId, input.name);
  return { id: user.id, email: user.email, name: user.name, confirmed: user.confirmedAt !== null };
}

/**
 * POST /v1/me/password: requires the current password, limited like sign-in. Ends every session of the user, including
 * this one (the epoch advances); tokens stay valid. Throws AppError 403 `wrong_password`, 429.
 */
export async function changePassword(
  { principal, services, clientAddress }: Context,
  input: z.output<typeof ChangePasswordInput>,
): Promise<undefined> {
  requireEveryScope(principal);
  requirePasswordSignIn(services);
  const { prisma } = services;
  await limitAttempts(services, `password:${principal.userId}`);
  const user = await readAccount(prisma, principal.userId);
  const wrong = () => forbidden('The current password is wrong.', 'wrong_password');
  const requester = { address: clientAddress ?? 'unknown', account: user.email };
  const matches = await checkPassword(services, () =>
    verifyPassword(input.current_password, user.passwordHash, requester),
  );
  if (!matches) throw wrong();
  // Hashed with the existing salt, which all accounts of the address share.
  const { hash } = await checkPassword(services, () =>
    matchPassword(input.new_password, [user.passwordHash], requester),
  );
  // Fails for the second of two concurrent changes, because the password that it was given is no longer current.
  if (!(await changePasswordHash(prisma, user, hash))) throw wrong();
  // Voids the reset links that were requested before.
  await deleteTokens(prisma, user.email, 'reset_password');
}
