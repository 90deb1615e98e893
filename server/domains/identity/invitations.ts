import type { z } from 'zod';
import type { Context, PublicContext } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { type ProjectRole, projectRoles } from '../../orchestrator/ports/authority.ts';
import { DAY_MS, isoTimestamp } from '../../platform/clock.ts';
import { randomToken, sha256 } from '../../platform/crypto/digest.ts';
import { conflict, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Invitation as InvitationRow } from '../../platform/postgres/generated/client.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { addMember } from './account-store.ts';
import { withAccount } from './address-accounts.ts';
import { requireEveryScope } from './authority.ts';
import { sendConfirmation } from './confirmation.ts';
import {
  acceptOpenInvitation,
  findOpenInvitation,
  readOpenInvitations,
  replaceInvitation,
  withdrawInvitation,
} from './invitation-store.ts';
import { lockTenant } from './lock-queries.ts';
import { hasConfirmedMember } from './member-store.ts';
import { principalCache } from './principal-cache.ts';
import { forgetTokens, replaceUnconfirmedMembers } from './replace-accounts.ts';
import type {
  AcceptInvitationInput,
  AcceptInvitationOutput,
  ById,
  CreateInvitationInput,
  CreateInvitationOutput,
  Invitation,
  ListInvitationsInput,
  ListInvitationsOutput,
} from './schemas.ts';
import { limitAttempts, limitAttemptsFrom, requirePasswordSignIn } from './sign-in.ts';

const VALID_FOR_MS = 7 * DAY_MS;
const tokenHash = (token: string) => new Uint8Array(sha256(token));
/** Returns the same error for a token that is unknown, withdrawn, used or expired. */
const invitationNotFound = () => notFound('Invitation');

/** Returns the role that an invitation gives. */
export function storedRole(row: InvitationRow): ProjectRole {
  const role = projectRoles.find(known => known === row.role);
  if (!role) throw new Error(`Invitation ${row.id} has an unknown role.`);
  return role;
}

const toInvitation = (row: InvitationRow): z.input<typeof Invitation> => ({
  id: row.id,
  email: row.email,
  role: storedRole(row),
  tenant_admin: row.tenantAdmin,
  created_at: isoTimestamp(row.createdAt.getTime()),
  expires_at: isoTimestamp(row.expiresAt.getTime()),
});

/** GET /v1/invitations: returns the open invitations of the workspace, newest first, without their tokens. */
export async function listInvitations(
  { principal, services }: Context,
  input: z.output<typeof ListInvitationsInput>,
): Promise<z.input<typeof ListInvitationsOutput>> {
  const rows = await readOpenInvitations(services.prisma, principal.tenantId, {
    now: new Date(services.clock.now()),
    after: decodeCursor(TimeIdKey, input.cursor),
    take: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.id]);
  return { invitations: page.rows.map(toInvitation), next_cursor: page.next_cursor };
}

/**
 * POST /v1/invitations: invites to the request's project; an earlier open invitation of the same email is replaced. The
 * token is returned only here, in the fragment of a URL, which no server, proxy log or Referer header receives. Throws
 * AppError 409 `already_member`.
 */
export async function createInvitation(
  { principal, services }: Context,
  input: z.output<typeof CreateInvitationInput>,
): Promise<z.input<typeof CreateInvitationOutput>> {
  requireEveryScope(principal);
  const { tenantId, projectId } = principal;
  const now = services.clock.now();
  const token = randomToken();
  const row = await transact(services, async tx => {
    await lockTenant(tx, tenantId); // two concurrent invitations of one address would both remain
    // An unconfirmed member may not own the address: accepting the invitation replaces that account.
    if (await hasConfirmedMember(tx, tenantId, input.email)) {
      throw conflict('already_member', 'This email already belongs to a member of the workspace.');
    }
    return replaceInvitation(tx, {
      id: newId(),
      tenantId,
      projectId,
      email: input.email,
      role: input.role,
      tenantAdmin: input.tenant_admin,
      tokenHash: tokenHash(token),
      createdBy: principal.userId,
      createdAt: new Date(now),
      expiresAt: new Date(now + VALID_FOR_MS),
    });
  });
  return { ...toInvitation(row), token, accept_url: `${services.config.http.url}/accept-invitation#token=${token}` };
}

/** DELETE /v1/invitations/{id}: withdraws it. Throws AppError 404, also for an accepted invitation. */
export async function deleteInvitation(
  { principal, services }: Context,
  { id }: z.output<typeof ById>,
): Promise<undefined> {
  requireEveryScope(principal);
  if (!(await withdrawInvitation(services.prisma, { tenantId: principal.tenantId, id }))) throw invitationNotFound();
}

/**
 * POST /v1/invitations/accept: the account with this address and password joins the workspace; if there is none, an
 * unconfirmed one with this name is created. So the answer does not reveal whether the address has an account, and an
 * inviter who accepts in place of the invited person only gets an account of the workspace. An unconfirmed member with
 * the address is replaced. Throws AppError 404 for a token that is unknown, expired or used; 429 as for sign-in.
 */
export async function acceptInvitation(
  ctx: PublicContext,
  input: z.output<typeof AcceptInvitationInput>,
): Promise<z.input<typeof AcceptInvitationOutput>> {
  const { services } = ctx;
  requirePasswordSignIn(services);
  const address = ctx.clientAddress ?? 'unknown';
  await limitAttemptsFrom(services, { kind: 'invitation', address });
  const link = { tokenHash: tokenHash(input.token), now: new Date(services.clock.now()) };
  const found = await findOpenInvitation(services.prisma, link);
  if (!found) throw invitationNotFound();
  const { email, tenantId, projectId } = found;
  // Limited per email, so that the holder of the link cannot guess the invited person's password with it either.
  await limitAttempts(services, `sign-in:${address}:${email}`);
  const attempt = { email, password: input.password, name: input.name, requester: { address, account: email } };
  const joined = await withAccount(services, attempt, async (tx, account, at) => {
    await lockTenant(tx, tenantId);
    // Of two concurrent acceptances, only one changes the row; the same holds for an acceptance and a withdrawal.
    if (!(await acceptOpenInvitation(tx, link, at))) throw invitationNotFound();
    const replaced = await replaceUnconfirmedMembers(tx, { tenantId, email, keep: account.id }, at);
    const tenantAdmin = found.tenantAdmin || replaced.wasSoleAdmin;
    await addMember(tx, { tenantId, userId: account.id, tenantAdmin, projectId, role: storedRole(found) }, at);
    return { ...account, dead: replaced.dead };
  });
  principalCache(services).clear();
  await forgetTokens(services, joined.dead);
  if (!joined.confirmed) sendConfirmation(services, { id: joined.id, email });
  return { user_id: joined.id, tenant_id: tenantId, email };
}
