import type { Pool } from 'pg';
import { constantTimeEqual, deriveKey } from '../crypto/digest.ts';
import { DecryptionError } from '../crypto/envelope.ts';
import { type Queryable, transact } from '../postgres/transaction.ts';
import { canOpen, keyPlace, wrappingKey } from './tenant-keys.ts';

/** A master key that is not the one to which this database belongs. */
export class ForeignMasterKeyError extends Error {
  constructor() {
    super('The master key is not the one that the database belongs to.');
    this.name = 'ForeignMasterKeyError';
  }
}

/**
 * Returns an identifier of a master key for the database. HKDF cannot be inverted, and keys derived for other
 * purposes do not follow from it.
 */
export const fingerprint = (masterKey: Uint8Array) => deriveKey(masterKey, 'fingerprint');

async function readFingerprint(db: Queryable | Pool): Promise<Buffer | null> {
  const { rows } = await db.query<{ bytes: Buffer }>('SELECT master_key_fingerprint AS bytes FROM installation');
  return rows[0]?.bytes ?? null;
}

/** Returns whether the database belongs to this master key; `unclaimed` if it belongs to none yet. */
export async function compareMasterKey(
  db: Queryable | Pool,
  masterKey: Uint8Array,
): Promise<'own' | 'foreign' | 'unclaimed'> {
  const stored = await readFingerprint(db);
  if (stored === null) return 'unclaimed';
  return constantTimeEqual(stored, fingerprint(masterKey)) ? 'own' : 'foreign';
}

export type Claim = {
  /** Returns the master key of this process; null if it has none. Called again once the database is locked. */
  find(): Promise<Buffer | null>;
  /** Creates a key, for a database that belongs to none and holds no secrets. */
  make(): Promise<Buffer>;
  at: Date;
};

/**
 * Returns the master key of the database. A database that belongs to no key yet is claimed for the key found, if that
 * opens a stored tenant key; if no tenant key is stored, for the key found or else a new one. Processes that start
 * concurrently take turns. `unopened` counts the tenant keys that the claiming key does not open. Throws
 * ForeignMasterKeyError without creating anything.
 */
export async function claimMasterKey(pool: Pool, claim: Claim): Promise<{ masterKey: Buffer; unopened: number }> {
  const present = await claim.find();
  if (present !== null && (await compareMasterKey(pool, present)) === 'own') return { masterKey: present, unopened: 0 };
  return transact(pool, async db => {
    await db.query('LOCK TABLE installation IN SHARE ROW EXCLUSIVE MODE');
    // Another process on the same data folder may have created the key meanwhile.
    const found = await claim.find();
    const stored = await readFingerprint(db);
    if (stored !== null) {
      if (found === null || !constantTimeEqual(stored, fingerprint(found))) throw new ForeignMasterKeyError();
      return { masterKey: found, unopened: 0 };
    }
    const { rows } = await db.query<{ tenant_id: string; wrapped_key: Buffer }>(
      'SELECT tenant_id, wrapped_key FROM tenant_keys',
    );
    const wrapping = found === null ? null : wrappingKey(found);
    const opened = rows.filter(row => wrapping !== null && canOpen(wrapping, row.wrapped_key, keyPlace(row.tenant_id)));
    if (rows.length > 0 && opened.length === 0) throw new ForeignMasterKeyError();
    const masterKey = found ?? (await claim.make());
    await db.query('INSERT INTO installation (id, master_key_fingerprint, created_at) VALUES (1, $1, $2)', [
      fingerprint(masterKey),
      claim.at,
    ]);
    return { masterKey, unopened: rows.length - opened.length };
  });
}

/**
 * Transfers the database to the master key `to`, in the transaction that re-wraps the tenant keys. Throws
 * DecryptionError if it belongs to neither key. A database that belongs to none is claimed by its next start.
 */
export async function transferInstallation(db: Queryable, keys: { from: Uint8Array; to: Uint8Array }): Promise<void> {
  await db.query('LOCK TABLE installation IN SHARE ROW EXCLUSIVE MODE');
  if ((await compareMasterKey(db, keys.to)) !== 'foreign') return;
  if ((await compareMasterKey(db, keys.from)) !== 'own') throw new DecryptionError();
  await db.query('UPDATE installation SET master_key_fingerprint = $1', [fingerprint(keys.to)]);
}
