import type { Services } from '../../contract/services.ts';
import type { Prisma, User } from '../../platform/postgres/generated/client.ts';
import { patSecretName } from '../pats/token.ts';
import { lockTenant } from './accounts.ts';
import { readAccounts } from './address-accounts.ts';
import { deleteMemberRows, hasOtherAdmin } from './member-store.ts';

type Tx = Prisma.TransactionClient;
/** Tokens that died, whose copies in the secret store are to be deleted after the transaction. */
export type DeadToken = { tenantId: string; patId: string };

/**
 * Ends the memberships that unconfirmed accounts with this address have in a workspace, because somebody else has accepted its
 * invitation of the address; the tenant is locked. `wasSoleAdmin`: the workspace has no administrator left.
 */
export async function replaceUnconfirmedMembers(
  tx: Tx,
  { tenantId, email, keep }: { tenantId: string; email: string; keep: string },
  at: Date,
): Promise<{ dead: DeadToken[]; wasSoleAdmin: boolean }> {
  const where = { tenantId, userId: { not: keep }, user: { email, confirmedAt: null } };
  const members = await tx.membership.findMany({ where });
  const dead: DeadToken[] = [];
  let wasSoleAdmin = false;
  for (const { userId, tenantAdmin } of members) {
    if (tenantAdmin && !(await hasOtherAdmin(tx, { tenantId, userId }))) wasSoleAdmin = true;
    for (const patId of await deleteMemberRows(tx, { tenantId, userId }, at)) dead.push({ tenantId, patId });
    if ((await tx.membership.findFirst({ where: { userId } })) === null) await retire(tx, userId, at);
  }
  return { dead, wasSoleAdmin };
}

/**
 * Gives an address to the account that has proved it: the confirmed one of the address, else `account`, which is confirmed by this.
 * Every other account of the address is replaced by it, and its memberships become the survivor's. The address is locked.
 */
export async function claimAddress(tx: Tx, account: User, at: Date): Promise<{ survivor: User; dead: DeadToken[] }> {
  const accounts = await readAccounts(tx, account.email);
  const confirmed = accounts.find(({ confirmedAt }) => confirmedAt !== null);
  const dead: DeadToken[] = [];
  const keep = confirmed ?? account;
  for (const { id } of accounts) if (id !== keep.id) dead.push(...(await mergeInto(tx, keep.id, id, at)));
  const survivor = confirmed ?? (await tx.user.update({ where: { id: keep.id }, data: { confirmedAt: at } }));
  return { survivor, dead };
}

/** Moves the memberships of one account to another, and replaces it. Its tokens and open invitations die: somebody else may hold them. */
async function mergeInto(tx: Tx, survivorId: string, userId: string, at: Date): Promise<DeadToken[]> {
  const memberships = await tx.membership.findMany({ where: { userId }, orderBy: { tenantId: 'asc' } });
  const dead: DeadToken[] = [];
  for (const { tenantId } of memberships) {
    await lockTenant(tx, tenantId);
    await tx.$executeRaw`
      INSERT INTO memberships (tenant_id, user_id, tenant_admin, created_at)
      SELECT tenant_id, ${survivorId}::uuid, tenant_admin, created_at FROM memberships
      WHERE tenant_id = ${tenantId} AND user_id = ${userId}::uuid
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET tenant_admin = memberships.tenant_admin OR excluded.tenant_admin`;
    await tx.$executeRaw`
      INSERT INTO project_members (project_id, user_id, tenant_id, role, created_at)
      SELECT project_id, ${survivorId}::uuid, tenant_id, role, created_at FROM project_members
      WHERE tenant_id = ${tenantId} AND user_id = ${userId}::uuid
      ON CONFLICT (project_id, user_id) DO NOTHING`;
    for (const patId of await deleteMemberRows(tx, { tenantId, userId }, at)) dead.push({ tenantId, patId });
  }
  await retire(tx, userId, at);
  return dead;
}

/** The account cannot sign in any more, and its sessions end. Past runs still name it. */
async function retire(tx: Tx, userId: string, at: Date): Promise<void> {
  await tx.user.update({ where: { id: userId }, data: { replacedAt: at, sessionEpoch: { increment: 1 } } });
  await tx.accountToken.deleteMany({ where: { userId } });
}

/** Revokes the tokens of an account and withdraws its open invitations, in every workspace. */
export async function withdrawGrantsOf(tx: Tx, userId: string, at: Date): Promise<DeadToken[]> {
  await tx.invitation.deleteMany({ where: { createdBy: userId, acceptedAt: null } });
  const pats = await tx.pat.updateManyAndReturn({ where: { userId, revokedAt: null }, data: { revokedAt: at } });
  return pats.map(({ id, tenantId }) => ({ tenantId, patId: id }));
}

/** Deletes the copies that were never revealed. The tokens are dead already, so a failure here is only logged. */
export async function forgetTokens(
  { secrets, logger }: Pick<Services, 'secrets' | 'logger'>,
  dead: readonly DeadToken[],
): Promise<void> {
  for (const { tenantId, patId } of dead) {
    try {
      await secrets.delete(tenantId, patSecretName(patId));
    } catch (error) {
      return logger.warn({ err: error, tenant_id: tenantId }, 'copies of revoked tokens were not deleted');
    }
  }
}
