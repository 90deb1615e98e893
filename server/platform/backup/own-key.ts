import type { Queryable } from '../postgres/transaction.ts';
import { compareMasterKey } from '../secrets/installation-key.ts';
import { canOpen, keyPlace, wrappingKey } from '../secrets/tenant-keys.ts';

/**
 * Returns whether a database belongs to a master key: by the fingerprint that its first start recorded, or, where an older version has
 * recorded none, by a stored tenant key. A database without secrets belongs to every key.
 */
export async function isKeyOf(db: Queryable, masterKey: Uint8Array): Promise<boolean> {
  const { rows } = await db.query<{ recorded: boolean }>(`SELECT to_regclass('installation') IS NOT NULL AS recorded`);
  const standing = rows[0]?.recorded ? await compareMasterKey(db, masterKey) : 'unclaimed';
  if (standing !== 'unclaimed') return standing === 'own';
  const keys = await db.query<{ tenant_id: string; wrapped_key: Buffer }>(
    'SELECT tenant_id, wrapped_key FROM tenant_keys',
  );
  const wrapping = wrappingKey(masterKey);
  return keys.rowCount === 0 || keys.rows.some(row => canOpen(wrapping, row.wrapped_key, keyPlace(row.tenant_id)));
}
