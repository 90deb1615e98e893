import type { Services } from '../../operation/services.ts';
import type { User } from '../../platform/postgres/generated/client.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import { confirmAccount, readAccounts, retireAccount } from './account-store.ts';
import { lockTenant } from './lock-queries.ts';
import { copyMembership } from './member-queries.ts';
import {
  type DeadToken,
  deleteMemberRows,
  hasOtherAdmin,
  readMemberships,
  readUnconfirmedMembers,
} from './member-store.ts';
import { patSecretName } from './pats/token.ts';

/**
 * Ends the memberships of unconfirmed accounts with this address in a workspace, because another account has accepted
 * its invitation of the address. The tenant must be locked. `wasSoleAdmin`: the workspace has no administrator left.
 */
export async function replaceUnconfirmedMembers(
  tx: Transaction,
  { tenantId, email, keep }: { tenantId: string; email: string; keep: string },
  at: Date,
): Promise<{ dead: DeadToken[]; wasSoleAdmin: boolean }> {
  const members = await readUnconfirmedMembers(tx, { tenantId, email, keep });
  const dead: DeadToken[] = [];
  let wasSoleAdmin = false;
  for (const { userId, tenantAdmin } of members) {
    if (tenantAdmin && !(await hasOtherAdmin(tx, { tenantId, userId }))) wasSoleAdmin = true;
    for (const patId of await deleteMemberRows(tx, { tenantId, userId }, at)) dead.push({ tenantId, patId });
    if ((await readMemberships(tx, userId)).length === 0) await retireAccount(tx, userId, at);
  }
  return { dead, wasSoleAdmin };
}

/**
 * Gives an address to the account that has proved it: the confirmed account of the address, if there is one, otherwise
 * `account`, which this confirms. It replaces every other account of the address, and takes over their memberships.
 * The address must be locked.
 */
export async function claimAddress(
  tx: Transaction,
  account: User,
  at: Date,
): Promise<{ survivor: User; dead: DeadToken[] }> {
  const accounts = await readAccounts(tx, account.email);
  const confirmed = accounts.find(({ confirmedAt }) => confirmedAt !== null);
  const dead: DeadToken[] = [];
  const keep = confirmed ?? account;
  for (const { id } of accounts) if (id !== keep.id) dead.push(...(await mergeInto(tx, keep.id, id, at)));
  const survivor = confirmed ?? (await confirmAccount(tx, keep.id, at));
  return { survivor, dead };
}

/**
 * Moves the memberships of one account to another, and replaces it. Its tokens and open invitations are revoked:
 * another person may have them.
 */
async function mergeInto(tx: Transaction, survivorId: string, userId: string, at: Date): Promise<DeadToken[]> {
  const memberships = await readMemberships(tx, userId);
  const dead: DeadToken[] = [];
  for (const { tenantId } of memberships) {
    await lockTenant(tx, tenantId);
    await copyMembership(tx, { tenantId, userId }, survivorId);
    for (const patId of await deleteMemberRows(tx, { tenantId, userId }, at)) dead.push({ tenantId, patId });
  }
  await retireAccount(tx, userId, at);
  return dead;
}

/**
 * Deletes the copies of tokens that were never revealed. The tokens are already revoked, so a failure is only logged.
 */
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
