import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import type { Services } from '../../operation/services.ts';
import { projectRoles } from '../../orchestrator/ports/authority.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { conflict, notFound } from '../../platform/errors.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { addMember } from './account-store.ts';
import { requireEveryScope } from './authority.ts';
import { lockTenant } from './lock-queries.ts';
import {
  deleteMemberRows,
  findMembership,
  hasOtherAdmin,
  type MemberRow,
  readMembers,
  setTenantAdmin,
  withdrawInvitationsOf,
} from './member-store.ts';
import { deletePersonalSecrets } from './personal-secrets.ts';
import { principalCache } from './principal-cache.ts';
import { forgetTokens } from './replace-accounts.ts';
import type { ListMembersInput, ListMembersOutput, Member, RemoveMemberInput, UpdateMemberInput } from './schemas.ts';

const lastAdmin = () => conflict('last_tenant_admin', 'A workspace must keep at least one administrator.');

function toMember(row: MemberRow): z.input<typeof Member> {
  return {
    user_id: row.userId,
    email: row.email,
    name: row.name,
    confirmed: row.confirmed,
    tenant_admin: row.tenantAdmin,
    role: projectRoles.find(role => role === row.role) ?? null,
    created_at: isoTimestamp(row.createdAt.getTime()),
  };
}

/** GET /v1/members: returns all members of the workspace, with their role on the request's project, newest first. */
export async function listMembers(
  { principal, services }: Context,
  input: z.output<typeof ListMembersInput>,
): Promise<z.input<typeof ListMembersOutput>> {
  const after = decodeCursor(TimeIdKey, input.cursor);
  const rows = await readMembers(services.prisma, principal, { after, take: input.limit + 1 });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.userId]);
  return { members: page.rows.map(toMember), next_cursor: page.next_cursor };
}

/**
 * PATCH /v1/members/{user_id}: `role` on the request's project, `tenant_admin` for the workspace. Takes effect
 * immediately, also for tokens. A demoted administrator remains a contributor on this project unless a role is given.
 * Throws AppError 404, 409 `last_tenant_admin`.
 */
export async function updateMember(
  { principal, services }: Context,
  input: z.output<typeof UpdateMemberInput>,
): Promise<z.input<typeof Member>> {
  requireEveryScope(principal);
  const { tenantId, projectId } = principal;
  const ref = { tenantId, userId: input.user_id };
  const member = await transact(services, async tx => {
    await lockTenant(tx, tenantId);
    const [present] = await readMembers(tx, principal, { userId: ref.userId, after: null, take: 1 });
    if (!present) throw notFound('Member');
    const tenantAdmin = input.tenant_admin ?? present.tenantAdmin;
    if (present.tenantAdmin && !tenantAdmin) {
      if (!(await hasOtherAdmin(tx, ref))) throw lastAdmin();
      await withdrawInvitationsOf(tx, ref);
    }
    await setTenantAdmin(tx, ref, tenantAdmin);
    const known = projectRoles.find(role => role === present.role);
    const role = input.role ?? known ?? (present.tenantAdmin && !tenantAdmin ? 'project_contributor' : undefined);
    if (role !== undefined && role !== known) {
      await addMember(tx, { ...ref, projectId, tenantAdmin, role }, new Date(services.clock.now()));
    }
    return toMember({ ...present, tenantAdmin, role: role ?? null });
  });
  principalCache(services).clear();
  return member;
}

/**
 * DELETE /v1/members/{user_id}: the user immediately loses every role here, and their tokens are revoked. The account
 * remains: it may belong to other workspaces, and past runs name it. Throws AppError 404, 409 `last_tenant_admin`.
 */
export async function removeMember(
  { principal, services }: Context,
  input: z.output<typeof RemoveMemberInput>,
): Promise<undefined> {
  requireEveryScope(principal);
  const { tenantId } = principal;
  const ref = { tenantId, userId: input.user_id };
  const revokedPats = await transact(services, async tx => {
    await lockTenant(tx, tenantId);
    const membership = await findMembership(tx, ref);
    if (!membership) throw notFound('Member');
    if (membership.tenantAdmin && !(await hasOtherAdmin(tx, ref))) throw lastAdmin();
    return deleteMemberRows(tx, ref, new Date(services.clock.now()));
  });
  principalCache(services).clear();
  await forgetTokens(
    services,
    revokedPats.map(patId => ({ tenantId, patId })),
  );
  await forgetWebhook(services, ref);
}

/** Deletes the sealed address of the person's notifications. Nothing is sent there any more, so a failure is only logged. */
export async function forgetWebhook(
  services: Pick<Services, 'secrets' | 'logger'>,
  ref: { tenantId: string; userId: string },
): Promise<void> {
  try {
    await deletePersonalSecrets(services, ref);
  } catch (error) {
    services.logger.warn(
      { err: error, tenant_id: ref.tenantId },
      'the notification webhook of a former member was not deleted',
    );
  }
}
