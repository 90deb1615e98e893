import type { Services } from '../../../operation/services.ts';
import type { SignOnSettings } from '../../../operation/sign-on-settings.ts';
import { randomToken } from '../../../platform/crypto/digest.ts';
import { hashPassword } from '../../../platform/crypto/password.ts';
import type { Invitation, User } from '../../../platform/postgres/generated/client.ts';
import { type Transaction, transact } from '../../../platform/postgres/transaction.ts';
import { addMember, createUser, findPresentAccount, readAccount, readAccounts } from '../account-store.ts';
import { acceptOpenInvitation } from '../invitation-store.ts';
import { storedRole } from '../invitations.ts';
import { lockAddress, lockTenant } from '../lock-queries.ts';
import { type DeadToken, readMemberships } from '../member-store.ts';
import { forgetWebhook } from '../members.ts';
import { principalCache } from '../principal-cache.ts';
import { claimAddress, forgetTokens } from '../replace-accounts.ts';
import { endAllSessions } from '../session-store.ts';
import type { Person } from './claims.ts';
import { type Ended, followGroups, resolveGrants } from './follow-groups.ts';
import { grantedBy, mappedWorkspaces } from './grants.ts';
import { SignOnRefused } from './refusal.ts';
import { findIdentity, hasIdentity, readInvitationsOf, saveIdentity } from './store.ts';

type Work = { services: Services; tx: Transaction; at: Date };
type Applied = { account: User | null; userId: string | null; ended: Ended };

/**
 * Returns the account of a person, after its roles have followed the person's groups. The first sign-in links the
 * confirmed account of the verified address, or makes one. Throws SignOnRefused: `sign_on_no_role` for a person to whom
 * nothing gives a role, whose account then loses its sessions and the roles that groups gave it; anything else changes
 * nothing.
 */
export async function admitPerson(services: Services, person: Person, settings: SignOnSettings): Promise<User> {
  // Hashed before the transaction, which would otherwise hold its locks meanwhile.
  const hash = await unknownPassword(services, person);
  const { account, userId, ended } = await transact(services, async tx => {
    await lockAddress(tx, person.email);
    return apply({ services, tx, at: new Date(services.clock.now()) }, { person, settings, hash });
  });
  principalCache(services).clear();
  await forgetTokens(services, ended.tokens);
  if (userId !== null) for (const tenantId of ended.left) await forgetWebhook(services, { tenantId, userId });
  if (account === null)
    throw new SignOnRefused('sign_on_no_role', 'neither the groups of the person nor an invitation give a role');
  return account;
}

/** Returns the hash of a password that nobody knows, for a new account; null if the address has an account. */
async function unknownPassword({ prisma }: Services, { email }: Person): Promise<string | null> {
  const accounts = await readAccounts(prisma, email);
  return accounts.some(({ confirmedAt }) => confirmedAt !== null) ? null : hashPassword(randomToken());
}

async function apply(
  work: Work,
  { person, settings, hash }: { person: Person; settings: SignOnSettings; hash: string | null },
): Promise<Applied> {
  const { tx, at } = work;
  const { issuer } = settings.oauth;
  const workspaces = mappedWorkspaces(settings.roleMap);
  const granted = await resolveGrants(tx, grantedBy(person.groups, settings.roleMap));
  const isFree = (tenantId: string) => !workspaces.includes(tenantId);
  const known = await knownAccount(tx, person, issuer);
  const invitations = (await readInvitationsOf(tx, person.email, at)).filter(({ tenantId }) => isFree(tenantId));
  const hasRole = granted.size > 0 || invitations.length > 0 || (await tenantsOf(tx, known, person)).some(isFree);
  if (!hasRole) {
    // An account that never signed in here loses nothing: it may be the operator's, who tries the settings.
    if (known === null || !(await hasIdentity(tx, known.id, issuer)))
      return { account: null, userId: null, ended: { tokens: [], left: [] } };
    const ended = await followGroups(work, known.id, { workspaces, granted });
    await endAllSessions(tx, known.id);
    return { account: null, userId: known.id, ended };
  }
  const { account, dead } = await claimFor(work, { person, known, hash });
  const ended = await followGroups(work, account.id, { workspaces, granted });
  for (const invitation of invitations) await acceptInvitationFor(tx, account.id, invitation, at);
  await saveIdentity(tx, { issuer, subject: person.subject, userId: account.id }, at);
  return { account, userId: account.id, ended: { ...ended, tokens: [...ended.tokens, ...dead] } };
}

/**
 * Returns the account of the person, or the confirmed account of the address. Throws SignOnRefused if that account
 * signs in as another person: an address that is given to somebody else must not open the account of its former owner.
 */
async function knownAccount(tx: Transaction, { subject, email }: Person, issuer: string): Promise<User | null> {
  const taken = () => new SignOnRefused('sign_on_address_taken', 'the account signs in as another person');
  const identity = await findIdentity(tx, { issuer, subject });
  if (identity !== null) {
    const account = await findPresentAccount(tx, identity.userId);
    if (account === null) throw taken();
    return account;
  }
  const confirmed = (await readAccounts(tx, email)).find(({ confirmedAt }) => confirmedAt !== null);
  if (confirmed === undefined) return null;
  if (await hasIdentity(tx, confirmed.id, issuer)) throw taken();
  return confirmed;
}

/** Returns the tenants of the account, or of the unconfirmed accounts of the address, which a new one replaces. */
async function tenantsOf(tx: Transaction, known: User | null, { email }: Person): Promise<string[]> {
  const accounts = known === null ? await readAccounts(tx, email) : [known];
  const memberships = await Promise.all(accounts.map(({ id }) => readMemberships(tx, id)));
  return memberships.flat().map(({ tenantId }) => tenantId);
}

/** Returns the account that signs in, made if there is none. It replaces the unconfirmed accounts of the address. */
async function claimFor(
  { services, tx, at }: Work,
  { person, known, hash }: { person: Person; known: User | null; hash: string | null },
): Promise<{ account: User; dead: DeadToken[] }> {
  const { email, name } = person;
  if (known !== null && known.email !== email) return { account: known, dead: [] };
  if (known !== null) return { account: known, dead: (await claimAddress(tx, known, at)).dead };
  if (hash === null) throw new SignOnRefused('sign_on_unavailable', 'the account of the address was just removed');
  const id = await createUser(tx, { email, name, passwordHash: hash }, at, { confirmed: true });
  const account = await readAccount(tx, id);
  services.logger.info({ user_id: id }, 'sign-on: account created');
  return { account, dead: (await claimAddress(tx, account, at)).dead };
}

/** Accepts an invitation of the address, which the issuer has verified. */
async function acceptInvitationFor(tx: Transaction, userId: string, row: Invitation, at: Date): Promise<void> {
  const { tenantId, projectId, tenantAdmin } = row;
  await lockTenant(tx, tenantId);
  // Withdrawn meanwhile.
  if (!(await acceptOpenInvitation(tx, { tokenHash: new Uint8Array(row.tokenHash), now: at }, at))) return;
  await addMember(tx, { tenantId, userId, tenantAdmin, projectId, role: storedRole(row) }, at);
}
