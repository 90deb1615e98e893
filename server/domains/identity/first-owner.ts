import type { Pool } from 'pg';
import type { Services } from '../../operation/services.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { newId } from '../../platform/ids.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { addMember, createTenant, createUser, hasAccounts, type NewUser } from './account-store.ts';
import { lockFirstOwner } from './lock-queries.ts';
import { insertPat } from './pats/store.ts';
import { patHash } from './pats/token.ts';

/** Returns whether this deployment has any account yet. */
export function hasOwner({ prisma }: Pick<Services, 'prisma'>): Promise<boolean> {
  return hasAccounts(prisma);
}

/**
 * Creates the first tenant and its owner; null if there already is an owner. Of concurrent attempts, in one or several
 * processes, exactly one succeeds.
 */
export async function createFirstOwner(
  services: Pick<Services, 'prisma' | 'clock'>,
  owner: NewUser & { tenantId: string; patToken?: string },
): Promise<{ userId: string; tenantId: string } | null> {
  const at = new Date(services.clock.now());
  const { tenantId, patToken, ...user } = owner;
  return transact(services, async tx => {
    await lockFirstOwner(tx);
    if (await hasAccounts(tx)) return null;
    const projectId = await createTenant(tx, tenantId, at);
    // Confirmed without a mail, because the operator of the deployment chose the address.
    const userId = await createUser(tx, user, at, { confirmed: true });
    await addMember(tx, { tenantId, userId, tenantAdmin: true, projectId, role: 'project_contributor' }, at);
    if (patToken !== undefined) {
      // No copy in the secret store, because the operator knows the token and need not reveal it.
      const tokenHash = new Uint8Array(patHash(patToken));
      const row = { id: newId(), tenantId, projectId, userId, displayName: 'First token', tokenHash, createdAt: at };
      await insertPat(tx, { ...row, scopes: [...scopes] });
    }
    return { userId, tenantId };
  });
}

// The set-up tokens, only in memory, one for each database: a token is lost with the process, and a restart prints
// another.
const setupTokens = new WeakMap<Pool, string>();

/** Keeps the token that POST /v1/setup requires. */
export function holdSetupToken({ pool }: Pick<Services, 'pool'>, token: string): void {
  setupTokens.set(pool, token);
}

/** Returns the token that was printed at start-up; undefined if none was. */
export function heldSetupToken({ pool }: Pick<Services, 'pool'>): string | undefined {
  return setupTokens.get(pool);
}

/** Forgets the token once it has been used. */
export function dropSetupToken({ pool }: Pick<Services, 'pool'>): void {
  setupTokens.delete(pool);
}
