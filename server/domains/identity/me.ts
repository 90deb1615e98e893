import type { z } from 'zod';
import { type Context, projectRoles } from '../../contract/context.ts';
import { matchPassword, verifyPassword } from '../../platform/crypto/password.ts';
import { forbidden, unauthenticated } from '../../platform/errors.ts';
import { checkPassword } from './address-accounts.ts';
import { carriedScopes, requireEveryScope } from './authority.ts';
import type { ChangePasswordInput, Me, UpdateMeInput, UpdateMeOutput } from './schemas.ts';
import { limitAttempts } from './sign-in.ts';

type TenantRow = {
  slug: string;
  name: string;
  tenant_admin: boolean;
  /** Of the user, the same in every row. */
  confirmed: boolean;
  projects: z.input<typeof Me>['tenants'][0]['projects'];
};

// Prepared: planning its joins anew took PostgreSQL longer than running it.
const reachableQuery = {
  name: 'reachable_workspaces',
  text: `SELECT t.slug, t.name, m.tenant_admin, u.confirmed_at IS NOT NULL AS confirmed,
                coalesce(json_agg(json_build_object('id', p.id, 'name', p.name,
                  'role', CASE WHEN m.tenant_admin THEN $2 ELSE pm.role END) ORDER BY p.created_at, p.id)
                  FILTER (WHERE p.id IS NOT NULL), '[]') AS projects
         FROM memberships m
         JOIN users u ON u.id = m.user_id
         JOIN tenants t ON t.slug = m.tenant_id
         LEFT JOIN (projects p LEFT JOIN project_members pm ON pm.project_id = p.id AND pm.user_id = $1)
           ON p.tenant_id = m.tenant_id AND (m.tenant_admin OR pm.role IS NOT NULL)
         WHERE m.user_id = $1
         GROUP BY t.slug, t.name, m.tenant_admin, m.created_at, u.confirmed_at
         ORDER BY m.created_at, t.slug`,
};

/** Everything the user can switch to: tenants by age; in each, the projects on which they have a role, by age. */
async function reachable({ services }: Context, userId: string): Promise<TenantRow[]> {
  const { rows } = await services.pool.query<TenantRow>({ ...reachableQuery, values: [userId, projectRoles[1]] });
  return rows;
}

/** GET /v1/me. A token sees only the tenant it is bound to, not where else its user belongs. */
export async function getMe(ctx: Context): Promise<z.input<typeof Me>> {
  const { principal } = ctx;
  const tenants = await reachable(ctx, principal.userId);
  const tenant = tenants.find(({ slug }) => slug === principal.tenantId);
  const project = tenant?.projects.find(({ id }) => id === principal.projectId);
  // Removed in the instant since the credential was checked.
  if (!tenant || !project) throw unauthenticated();
  const visible = principal.credential.kind === 'pat' ? [{ ...tenant, projects: [project] }] : tenants;
  return {
    user: { id: principal.userId, email: principal.email, name: principal.name, confirmed: tenant.confirmed },
    tenant: { id: tenant.slug, name: tenant.name },
    project: { id: project.id, name: project.name },
    role: principal.role,
    scopes: [...carriedScopes(principal)],
    can_create_workspaces: mayCreate(ctx, visible),
    tenants: visible.map(({ slug, name, tenant_admin, projects }) => ({ id: slug, name, tenant_admin, projects })),
  };
}

/** As `createWorkspace` decides. */
function mayCreate({ principal, services }: Context, visible: readonly TenantRow[]): boolean {
  if (!carriedScopes(principal).includes('pat:manage')) return false;
  const { signUp } = services.config.identity;
  return signUp === 'open' || (signUp === 'invited' && visible.some(({ tenant_admin }) => tenant_admin));
}

/** PATCH /v1/me: the user's own name. */
export async function updateMe(
  { principal, services }: Context,
  input: z.output<typeof UpdateMeInput>,
): Promise<z.input<typeof UpdateMeOutput>> {
  requireEveryScope(principal);
  const user = await services.prisma.user.update({ where: { id: principal.userId }, data: { name: input.name } });
  return { id: user.id, email: user.email, name: user.name, confirmed: user.confirmedAt !== null };
}

/**
 * POST /v1/me/password: needs the present password, limited like sign-in. Ends every session of the user, this one
 * included (the epoch moves on); tokens stay. AppError 403 `wrong_password`, 429.
 */
export async function changePassword(
  { principal, services, clientAddress }: Context,
  input: z.output<typeof ChangePasswordInput>,
): Promise<undefined> {
  requireEveryScope(principal);
  const { prisma } = services;
  await limitAttempts(services, `password:${principal.userId}`);
  const user = await prisma.user.findUniqueOrThrow({ where: { id: principal.userId } });
  const wrong = () => forbidden('The present password is wrong.', 'wrong_password');
  const requester = { address: clientAddress ?? 'unknown', account: user.email };
  const matches = await checkPassword(services, () =>
    verifyPassword(input.current_password, user.passwordHash, requester),
  );
  if (!matches) throw wrong();
  // With the salt that it has, which all accounts of the address share.
  const { hash } = await checkPassword(services, () =>
    matchPassword(input.new_password, [user.passwordHash], requester),
  );
  // Of two changes at once, the second was given a password that is no longer the present one.
  const { count } = await prisma.user.updateMany({
    where: { id: user.id, passwordHash: user.passwordHash },
    data: { passwordHash: hash, sessionEpoch: { increment: 1 } },
  });
  if (count === 0) throw wrong();
  // A link to reset the password that was asked for before is void.
  await prisma.accountToken.deleteMany({ where: { email: user.email, purpose: 'reset_password' } });
}
