import type { Queryable } from '../../platform/postgres/transaction.ts';

/**
 * Locks the tenant's row until the transaction ends, so that changes that depend on the number of its administrators or
 * projects happen one after the other: two at once could each remove what the other one takes for the remaining
 * administrator or project. NO KEY: the lock does not block inserts that refer to the tenant.
 */
export async function lockTenant(tx: Queryable, tenantId: string): Promise<void> {
  await tx.query('SELECT slug FROM tenants WHERE slug = $1 FOR NO KEY UPDATE', [tenantId]);
}

/** Locks the user's row until the transaction ends. */
export async function lockUser(tx: Queryable, userId: string): Promise<void> {
  await tx.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
}

/**
 * Locks an address until the transaction ends: no other transaction can create, confirm or replace an account with this
 * address.
 */
export async function lockAddress(tx: Queryable, email: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`baton/address/${email}`]);
}

/** The number of the advisory lock, which every process must use: "baton" and 1. */
const FIRST_OWNER_LOCK = 0x6261746f6e01;

/**
 * Lets one caller at a time, across all processes, look for the first owner and create it, until its transaction ends.
 */
export async function lockFirstOwner(tx: Queryable): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1::bigint)', [FIRST_OWNER_LOCK]);
}

/** Prevents all writes of workflows until the transaction ends. */
export async function lockWorkflows(tx: Queryable): Promise<void> {
  await tx.query('LOCK TABLE workflows IN SHARE MODE');
}
