import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock } from '../clock.ts';
import { open, seal } from '../crypto/envelope.ts';
import { fingerprint, transferInstallation } from './installation-key.ts';
import { type SecretStore, secretStoreUnavailable } from './secret-store.ts';
import { canOpen, keyPlace, wrappingKey } from './tenant-keys.ts';

type Dependencies = { pool: Pick<Pool, 'query'>; clock: Clock; masterKey: Uint8Array };

const secretPlace = (tenantId: string, name: string) => ['secret', tenantId, name];

/**
 * Secrets in PostgreSQL (docs/specification/connections.md#secret-store): AES-256-GCM under a data key per tenant,
 * which is itself wrapped by the master key. Tenant and name are authenticated with the ciphertext, so a row that is
 * copied to another tenant or name does not decrypt. Every method throws AppError 503 if the database is unavailable.
 */
export class DatabaseSecretStore implements SecretStore {
  readonly #pool: Dependencies['pool'];
  readonly #clock: Clock;
  readonly #wrappingKey: Buffer;
  readonly #fingerprint: Buffer;
  /**
   * Unwrapped data keys. They never change (rotation re-wraps them), so they are cached forever: 32 bytes per tenant.
   */
  readonly #dataKeys = new Map<string, Buffer>();

  constructor({ pool, clock, masterKey }: Dependencies) {
    this.#pool = pool;
    this.#clock = clock;
    this.#wrappingKey = wrappingKey(masterKey);
    this.#fingerprint = fingerprint(masterKey);
  }

  async put(tenantId: string, name: string, plaintext: string): Promise<void> {
    const key = await this.#dataKey(tenantId);
    const sealed = seal(key, Buffer.from(plaintext, 'utf8'), secretPlace(tenantId, name));
    await this.#query(
      `INSERT INTO secrets (tenant_id, name, ciphertext, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (tenant_id, name) DO UPDATE SET ciphertext = excluded.ciphertext, created_at = excluded.created_at`,
      [tenantId, name, sealed, new Date(this.#clock.now())],
    );
  }

  async get(tenantId: string, name: string): Promise<string | null> {
    return this.#open(
      tenantId,
      name,
      await this.#query('SELECT ciphertext AS bytes FROM secrets WHERE tenant_id = $1 AND name = $2', [tenantId, name]),
    );
  }

  async take(tenantId: string, name: string): Promise<string | null> {
    // The key is read first: once the row is deleted nothing may fail any more, or the secret would be lost.
    await this.#dataKey(tenantId);
    return this.#open(
      tenantId,
      name,
      await this.#query('DELETE FROM secrets WHERE tenant_id = $1 AND name = $2 RETURNING ciphertext AS bytes', [
        tenantId,
        name,
      ]),
    );
  }

  async delete(tenantId: string, name: string): Promise<void> {
    await this.#query('DELETE FROM secrets WHERE tenant_id = $1 AND name = $2', [tenantId, name]);
  }

  /** Does nothing: the pool belongs to the caller. */
  close(): void {}

  async #open(tenantId: string, name: string, rows: { bytes: Buffer }[]): Promise<string | null> {
    const row = rows[0];
    if (!row) return null;
    return open(await this.#dataKey(tenantId), row.bytes, secretPlace(tenantId, name)).toString('utf8');
  }

  async #dataKey(tenantId: string): Promise<Buffer> {
    const known = this.#dataKeys.get(tenantId);
    if (known) return known;
    const wrapped = (await this.#wrapped(tenantId)) ?? (await this.#createKey(tenantId));
    const key = open(this.#wrappingKey, wrapped, keyPlace(tenantId));
    this.#dataKeys.set(tenantId, key);
    return key;
  }

  async #wrapped(tenantId: string): Promise<Buffer | undefined> {
    const rows = await this.#query('SELECT wrapped_key AS bytes FROM tenant_keys WHERE tenant_id = $1', [tenantId]);
    return rows[0]?.bytes;
  }

  /**
   * If two processes create a tenant's key at the same time, the first wins, and both then read the winner's key. A
   * process that still has the master key from before a rotation creates none, because no process could open it.
   */
  async #createKey(tenantId: string): Promise<Buffer> {
    const wrapped = seal(this.#wrappingKey, randomBytes(32), keyPlace(tenantId));
    await this.#query(
      `INSERT INTO tenant_keys (tenant_id, wrapped_key, created_at) SELECT $1, $2, $3
       WHERE NOT EXISTS (SELECT FROM installation WHERE master_key_fingerprint <> $4) ON CONFLICT DO NOTHING`,
      [tenantId, wrapped, new Date(this.#clock.now()), this.#fingerprint],
    );
    const stored = await this.#wrapped(tenantId);
    if (stored === undefined) throw secretStoreUnavailable(new Error('The master key of the database was replaced.'));
    return stored;
  }

  async #query(text: string, values: unknown[]): Promise<{ tenant_id?: string; bytes: Buffer }[]> {
    try {
      return (await this.#pool.query<{ tenant_id?: string; bytes: Buffer }>(text, values)).rows;
    } catch (error) {
      throw secretStoreUnavailable(error);
    }
  }
}

/**
 * Re-wraps the data keys of all tenants, or of none, from one master key to another, and returns their number. Secrets
 * themselves are unchanged. Keys that are already wrapped with `to` are skipped, so a repeated rotation is harmless. Throws
 * DecryptionError and changes nothing if neither master key opens a key, or the database belongs to neither.
 */
export async function rotateMasterKey(pool: Pool, keys: { from: Uint8Array; to: Uint8Array }): Promise<number> {
  const from = wrappingKey(keys.from);
  const to = wrappingKey(keys.to);
  const client = await pool.connect().catch(error => {
    throw secretStoreUnavailable(error);
  });
  try {
    await client.query('BEGIN');
    // No key may be added under the old master key while the others are re-wrapped.
    await client.query('LOCK TABLE tenant_keys IN SHARE ROW EXCLUSIVE MODE');
    const { rows } = await client.query<{ tenant_id: string; wrapped_key: Buffer }>(
      'SELECT tenant_id, wrapped_key FROM tenant_keys ORDER BY tenant_id',
    );
    await transferInstallation(client, keys);
    let rotated = 0;
    for (const row of rows) {
      const place = keyPlace(row.tenant_id);
      if (canOpen(to, row.wrapped_key, place)) continue;
      const wrapped = seal(to, open(from, row.wrapped_key, place), place);
      await client.query('UPDATE tenant_keys SET wrapped_key = $2 WHERE tenant_id = $1', [row.tenant_id, wrapped]);
      rotated += 1;
    }
    await client.query('COMMIT');
    client.release();
    return rotated;
  } catch (error) {
    await client.query('ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
    );
    throw error;
  }
}
