import { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor } from '../../operation/cursor.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { conflict, forbidden } from '../../platform/errors.ts';
import { isUniqueViolation } from '../../platform/postgres/prisma.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import { addMember, createTenant } from './account-store.ts';
import { lockUser } from './lock-queries.ts';
import type {
  CreateWorkspaceInput,
  CreateWorkspaceOutput,
  ListWorkspacesInput,
  ListWorkspacesOutput,
} from './schemas.ts';
import { countCreatedBy, isAdmin, readWorkspaces } from './workspace-store.ts';

export type NewWorkspace = { slug: string; name: string };

/** The keyset: the creation time of the membership in ms, then the slug. */
const MembershipKey = z.tuple([z.number().int().min(0).max(8.64e15), z.string().max(63)]);

/**
 * Creates a workspace with its first project, with `userId` as its administrator. If the slug is taken, the write fails
 * with Prisma's P2002, which `refuseTakenSlug` converts to the answer.
 */
export async function createWorkspaceRows(
  tx: Transaction,
  { slug, name }: NewWorkspace,
  { userId, createdBy, at }: { userId: string; createdBy?: string; at: Date },
): Promise<{ projectId: string }> {
  const projectId = await createTenant(tx, slug, at, { name, ...(createdBy === undefined ? {} : { createdBy }) });
  await addMember(tx, { tenantId: slug, userId, tenantAdmin: true, projectId, role: 'project_contributor' }, at);
  return { projectId };
}

/** Rethrows the error; a unique violation becomes AppError 409 `workspace_slug_taken`. */
export function refuseTakenSlug(error: unknown): never {
  if (isUniqueViolation(error)) throw conflict('workspace_slug_taken', 'A workspace with this slug already exists.');
  throw error;
}

/** Throws AppError 409 `too_many_workspaces` if the user has created `max`. */
export async function refuseTooManyWorkspaces(tx: Transaction, userId: string, max: number): Promise<void> {
  if ((await countCreatedBy(tx, userId)) >= max)
    throw conflict('too_many_workspaces', `You have created ${max} workspaces, which is the limit.`);
}

/**
 * POST /v1/workspaces. Throws AppError 403 `sign_up_off` or `not_an_administrator`, depending on BATON_SIGN_UP; 409
 * `workspace_slug_taken`, `too_many_workspaces`.
 */
export async function createWorkspace(
  { principal, services }: Context,
  input: z.output<typeof CreateWorkspaceInput>,
): Promise<z.input<typeof CreateWorkspaceOutput>> {
  const { userId, tenantId, role, credential } = principal;
  const { signUp, maxWorkspacesPerUser } = services.config.identity;
  if (signUp === 'off')
    throw forbidden('Only the operator of this deployment creates workspaces; ask them for one.', 'sign_up_off');
  const at = new Date(services.clock.now());
  const projectId = await transact(services, async tx => {
    // Locked, so that a user creates one workspace at a time: concurrent requests together could exceed the limit.
    await lockUser(tx, userId);
    if (signUp === 'invited' && role !== 'tenant_admin') {
      // A token acts only in its own workspace, even if its user administers others.
      if (!(await isAdmin(tx, userId, credential.kind === 'pat' ? tenantId : null)))
        throw forbidden('Only an administrator of a workspace can create another one.', 'not_an_administrator');
    }
    await refuseTooManyWorkspaces(tx, userId, maxWorkspacesPerUser);
    return (await createWorkspaceRows(tx, input, { userId, createdBy: userId, at })).projectId;
  }).catch(refuseTakenSlug);
  services.logger.info({ tenant_id: input.slug, user_id: userId }, 'workspace created');
  return {
    slug: input.slug,
    name: input.name,
    tenant_admin: true,
    created_at: isoTimestamp(at.getTime()),
    project: { id: projectId, name: 'default', created_at: isoTimestamp(at.getTime()) },
  };
}

/** GET /v1/workspaces: the workspaces of the user, the latest joined first. A token sees only its own. */
export async function listWorkspaces(
  { principal, services }: Context,
  input: z.output<typeof ListWorkspacesInput>,
): Promise<z.input<typeof ListWorkspacesOutput>> {
  const { userId, tenantId, credential } = principal;
  const rows = await readWorkspaces(services.prisma, userId, {
    onlyTenantId: credential.kind === 'pat' ? tenantId : null,
    after: decodeCursor(MembershipKey, input.cursor),
    take: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.tenantId]);
  return {
    workspaces: page.rows.map(({ tenant, tenantAdmin }) => ({
      slug: tenant.slug,
      name: tenant.name,
      tenant_admin: tenantAdmin,
      created_at: isoTimestamp(tenant.createdAt.getTime()),
    })),
    next_cursor: page.next_cursor,
  };
}
