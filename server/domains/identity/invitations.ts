import type { z } from 'zod';
import { type Context, type PublicContext, projectRoles } from '../../api/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../api/cursor.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { randomToken, sha256 } from '../../platform/crypto/digest.ts';
import { hashPassword, verifyPassword } from '../../platform/crypto/password.ts';
import { conflict, forbidden, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Invitation as InvitationRow } from '../../platform/postgres/generated/client.ts';
import { addMember, createUser, lockTenant } from './accounts.ts';
import { requireEveryScope } from './authority.ts';
import { principalCache } from './principal-cache.ts';
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
import { limitAttempts, limitAttemptsFrom } from './sign-in.ts';
import { inTransaction, isUniqueViolation, olderThan } from './transaction.ts';

const validForMs = 7 * 24 * 60 * 60 * 1000;
const tokenHash = (token: string) => new Uint8Array(sha256(token));
/** One answer for a token that is unknown, withdrawn, used or expired. */
const gone = () => notFound('Invitation');

function storedRole(row: InvitationRow) {
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

/** GET /v1/invitations: the open ones of the workspace, newest first; never with their tokens. */
export async function listInvitations(
  { principal, services }: Context,
  input: z.output<typeof ListInvitationsInput>,
): Promise<z.input<typeof ListInvitationsOutput>> {
  const open = { tenantId: principal.tenantId, acceptedAt: null, expiresAt: { gt: new Date(services.clock.now()) } };
  const rows = await services.prisma.invitation.findMany({
    where: { ...open, ...olderThan('id', decodeCursor(TimeIdKey, input.cursor)) },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.id]);
  return { invitations: page.rows.map(toInvitation), next_cursor: page.next_cursor };
}

/**
 * POST /v1/invitations: invites to the request's project; an earlier open invitation of the same e-mail is replaced. The
 * token is given once and stands in the URL's fragment, which no server, proxy log or Referer header gets to see.
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
  const row = await inTransaction(services, async tx => {
    await lockTenant(tx, tenantId); // two invitations of one e-mail at once would both survive
    if (await tx.membership.findFirst({ where: { tenantId, user: { email: input.email } } })) {
      throw conflict('already_member', 'This e-mail belongs to a member of the workspace already.');
    }
    await tx.invitation.deleteMany({ where: { tenantId, email: input.email, acceptedAt: null } });
    return tx.invitation.create({
      data: {
        id: newId(),
        tenantId,
        projectId,
        email: input.email,
        role: input.role,
        tenantAdmin: input.tenant_admin,
        tokenHash: tokenHash(token),
        createdBy: principal.userId,
        createdAt: new Date(now),
        expiresAt: new Date(now + validForMs),
      },
    });
  });
  return { ...toInvitation(row), token, accept_url: `${services.config.http.url}/accept-invitation#token=${token}` };
}

/** DELETE /v1/invitations/{id}: withdraws it. AppError 404, also for one that was accepted. */
export async function deleteInvitation(
  { principal, services }: Context,
  { id }: z.output<typeof ById>,
): Promise<undefined> {
  requireEveryScope(principal);
  const where = { id, tenantId: principal.tenantId, acceptedAt: null };
  const { count } = await services.prisma.invitation.deleteMany({ where });
  if (count === 0) throw gone();
}

/**
 * POST /v1/invitations/accept. A new e-mail gets an account with this name and password; one that has an account must give
 * its present password, and keeps its name. AppError 404 for a token that is unknown, expired or used; 403
 * `wrong_password`; 409 `account_exists` when the account was made in this very instant; 429 as for sign-in.
 */
export async function acceptInvitation(
  ctx: PublicContext,
  input: z.output<typeof AcceptInvitationInput>,
): Promise<z.input<typeof AcceptInvitationOutput>> {
  const { services } = ctx;
  const address = ctx.clientAddress ?? 'unknown';
  await limitAttemptsFrom(services, { kind: 'invitation', address });
  const at = new Date(services.clock.now());
  const where = { tokenHash: tokenHash(input.token), acceptedAt: null, expiresAt: { gt: at } };
  const found = await services.prisma.invitation.findFirst({ where });
  if (!found) throw gone();
  const { email, tenantId, projectId, tenantAdmin } = found;
  const user = await services.prisma.user.findUnique({ where: { email } });
  if (user) {
    // The link is for the invited alone, but whoever has it must not guess at their password with it either.
    await limitAttempts(services, `sign-in:${address}:${email}`);
    if (!(await verifyPassword(input.password, user.passwordHash))) {
      throw forbidden('This e-mail has an account already; give its present password.', 'wrong_password');
    }
  }
  // Scrypt before the transaction: it would hold its locks for as long as the hash takes.
  const passwordHash = user ? null : await hashPassword(input.password);
  const userId = await inTransaction(services, async tx => {
    await lockTenant(tx, tenantId);
    // Of two that accept at once, one changes the row; so does one against a withdrawal.
    const { count } = await tx.invitation.updateMany({ where, data: { acceptedAt: at } });
    if (count === 0) throw gone();
    const id = user?.id ?? (await createUser(tx, { email, name: input.name, passwordHash: passwordHash ?? '' }, at));
    await addMember(tx, { tenantId, userId: id, tenantAdmin, projectId, role: storedRole(found) }, at);
    return id;
  }).catch(error => {
    if (isUniqueViolation(error)) throw conflict('account_exists', 'This e-mail has an account by now; accept again.');
    throw error;
  });
  principalCache(services).clear();
  return { user_id: userId, tenant_id: tenantId, email };
}
