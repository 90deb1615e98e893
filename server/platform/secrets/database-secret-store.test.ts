import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { ManualClock } from '../clock.ts';
import { DecryptionError } from '../crypto/envelope.ts';
import { DatabaseSecretStore, rotateMasterKey } from './database-secret-store.ts';

let db: TestDatabase;
const masterKey = randomBytes(32);
const clock = new ManualClock();
const openStore = (key: Uint8Array = masterKey) => new DatabaseSecretStore({ pool: db.pool, clock, masterKey: key });

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.pool.query('TRUNCATE secrets, tenant_keys');
});

describe('secret store in the database', () => {
  it('puts, gets, replaces, takes and deletes, also from a fresh process', async () => {
    await openStore().put('acme', 'pat/1', 'geheim 🔑');
    const store = openStore();
    expect(await store.get('acme', 'pat/1')).toBe('geheim 🔑');
    await store.put('acme', 'pat/1', 'second');
    expect(await store.take('acme', 'pat/1')).toBe('second');
    expect(await store.take('acme', 'pat/1')).toBeNull();
    await store.put('acme', 'pat/2', 'x');
    await store.delete('acme', 'pat/2');
    expect(await store.get('acme', 'pat/2')).toBeNull();
  });

  it('separates tenants and stores nothing readable', async () => {
    const store = openStore();
    await store.put('acme', 'n', 'plain-words');
    expect(await store.get('other', 'n')).toBeNull();
    const { rows } = await db.pool.query('SELECT ciphertext FROM secrets');
    expect(rows[0].ciphertext.includes(Buffer.from('plain-words'))).toBe(false);
  });

  it('does not open a row that was copied to another name or tenant', async () => {
    const store = openStore();
    await store.put('acme', 'a', 'mine');
    await store.put('other', 'a', 'theirs');
    await db.pool.query(
      `INSERT INTO secrets SELECT tenant_id, 'b', ciphertext, created_at FROM secrets WHERE tenant_id = 'acme'`,
    );
    await expect(store.get('acme', 'b')).rejects.toThrow(DecryptionError);
    await db.pool.query(
      `UPDATE secrets SET ciphertext = (SELECT ciphertext FROM secrets WHERE tenant_id = 'acme' AND name = 'a') WHERE tenant_id = 'other'`,
    );
    await expect(store.get('other', 'a')).rejects.toThrow(DecryptionError);
    // Even with a copied key, the tenant in the additional data makes decryption fail.
    await db.pool.query(
      `UPDATE tenant_keys SET wrapped_key = (SELECT wrapped_key FROM tenant_keys WHERE tenant_id = 'acme') WHERE tenant_id = 'other'`,
    );
    await expect(openStore().get('other', 'a')).rejects.toThrow(DecryptionError);
  });

  it('gives a secret to only one of many takers', async () => {
    const stores = [openStore(), openStore()];
    await stores[0]?.put('acme', 'once', 'x');
    const taken = await Promise.all(Array.from({ length: 20 }, (_, i) => stores[i % 2]?.take('acme', 'once')));
    expect(taken.filter(value => value === 'x')).toHaveLength(1);
  });

  it('creates one data key when a tenant is new to several processes', async () => {
    await Promise.all(Array.from({ length: 8 }, (_, i) => openStore().put('fresh', `s${i}`, String(i))));
    const store = openStore();
    for (let i = 0; i < 8; i++) expect(await store.get('fresh', `s${i}`)).toBe(String(i));
  });

  it('answers 503 when the database is away', async () => {
    const pool = new pg.Pool({ connectionString: 'postgresql://127.0.0.1:1/none' });
    const store = new DatabaseSecretStore({ pool, clock, masterKey });
    for (const attempt of [
      store.put('t', 'n', 'x'),
      store.get('t', 'n'),
      store.take('t', 'n'),
      store.delete('t', 'n'),
    ]) {
      await expect(attempt).rejects.toMatchObject({ status: 503, code: 'secret_store_unavailable' });
    }
    await expect(rotateMasterKey(pool, { from: masterKey, to: masterKey })).rejects.toMatchObject({ status: 503 });
    await pool.end();
  });
});

describe('master-key rotation', () => {
  it('re-wraps every tenant key, leaves secrets unchanged, and may be repeated', async () => {
    const to = randomBytes(32);
    await openStore().put('acme', 'n', 'a');
    await openStore().put('other', 'n', 'b');
    expect(await openStore().get('acme', 'n')).toBe('a');
    await expect(openStore(to).get('acme', 'n')).rejects.toThrow(DecryptionError);
    expect(await rotateMasterKey(db.pool, { from: masterKey, to })).toBe(2);
    expect(await openStore(to).get('acme', 'n')).toBe('a');
    expect(await openStore(to).get('other', 'n')).toBe('b');
    await expect(openStore().get('acme', 'n')).rejects.toThrow(DecryptionError);
    expect(await rotateMasterKey(db.pool, { from: masterKey, to })).toBe(0);
  });

  it('changes nothing if a tenant key opens with neither master key', async () => {
    const to = randomBytes(32);
    await openStore().put('acme', 'n', 'a');
    await openStore(randomBytes(32)).put('zeta', 'n', 'b');
    await expect(rotateMasterKey(db.pool, { from: masterKey, to })).rejects.toThrow(DecryptionError);
    expect(await openStore().get('acme', 'n')).toBe('a');
  });
});
