import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { deriveKey } from '../../platform/crypto/digest.ts';
import { DecryptionError } from '../../platform/crypto/envelope.ts';
import { createLogger } from '../../platform/logger.ts';
import { MisconfiguredError } from '../../platform/postgres/startup-error.ts';
import { DatabaseSecretStore } from '../../platform/secrets/database-secret-store.ts';
import { testConfig } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { startTestVault } from '../../testing/vault.ts';
import { loadIdentityKeys, openSecretStore, verifyMasterKey } from './keys.ts';

let db: TestDatabase;
let dataDir: string;
beforeAll(async () => {
  db = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'baton-keys-'));
});
afterAll(async () => {
  await db.close();
  await rm(dataDir, { recursive: true });
});

const key = () => randomBytes(32).toString('base64');
const services = (env: Record<string, string>, pool = db.pool) => ({
  config: testConfig({ BATON_DATA_DIR: dataDir, ...env }),
  pool,
  clock: systemClock,
  logger: createLogger('silent'),
});
const start = async (env: Record<string, string>, pool = db.pool) => {
  const { masterKey } = await loadIdentityKeys(services(env, pool));
  return openSecretStore({ ...services(env, pool), masterKey });
};
const folder = () => mkdtemp(join(dataDir, 'folder-'));
const NEVER_OWN = /is not the master key of this database/;

describe('keys of a deployment', () => {
  it('derives a session secret from the master key', async () => {
    await using own = await createTestDatabase();
    const first = key();
    const keys = await loadIdentityKeys(services({ BATON_MASTER_KEY: first }, own.pool));
    expect(Buffer.from(keys.sessionSecret, 'base64')).toHaveLength(32);
    expect(keys.sessionSecret).not.toBe(first);
    expect(await loadIdentityKeys(services({ BATON_MASTER_KEY: first }, own.pool))).toEqual(keys);
    await own.pool.query('DELETE FROM installation');
    const other = await loadIdentityKeys(services({ BATON_MASTER_KEY: key() }, own.pool));
    expect(other.sessionSecret).not.toBe(keys.sessionSecret);
  });

  it('are in no log line, although they are not settings', async () => {
    await using own = await createTestDatabase();
    const { masterKey, sessionSecret } = await loadIdentityKeys(services({ BATON_DATA_DIR: await folder() }, own.pool));
    const lines: string[] = [];
    const logger = createLogger('debug', { destination: { write: line => void lines.push(line) } });
    const texts = [masterKey.toString('base64'), masterKey.toString('hex'), sessionSecret];
    for (const text of texts) logger.error({ err: new Error(`read ${text}`) }, text);
    for (const text of texts) expect(lines.join('')).not.toContain(text);
  });

  it('rotates at start, refuses a foreign key at start, and needs the old one only once', async () => {
    const [old, present] = [key(), key()];
    await (await start({ BATON_MASTER_KEY: old })).put('acme', 'n', 'kept');
    await expect(start({ BATON_MASTER_KEY: present })).rejects.toThrow(NEVER_OWN);
    await expect(start({ BATON_MASTER_KEY: present, BATON_MASTER_KEY_PREVIOUS: key() })).rejects.toThrow(NEVER_OWN);
    const rotated = await start({ BATON_MASTER_KEY: present, BATON_MASTER_KEY_PREVIOUS: old });
    expect(await rotated.get('acme', 'n')).toBe('kept');
    expect(await (await start({ BATON_MASTER_KEY: present })).get('acme', 'n')).toBe('kept');
    await expect(start({ BATON_MASTER_KEY: old })).rejects.toThrow(NEVER_OWN);
  });

  it('uses Vault if configured, even while it is unavailable', async () => {
    const vault = await startTestVault(systemClock);
    const env = {
      BATON_SECRET_STORE: 'vault',
      BATON_VAULT_ADDR: `${vault.address}/`,
      BATON_VAULT_TOKEN: vault.issue(0),
    };
    vault.mood = 'sealed';
    const store = await start({ BATON_MASTER_KEY: key(), ...env });
    await expect(store.get('acme', 'n')).rejects.toMatchObject({ status: 503, code: 'secret_store_unavailable' });
    vault.mood = 'well';
    await store.put('acme', 'n', 'kept');
    expect([...vault.entries.keys()]).toEqual(['baton/acme/n']);
    store.close();
    await vault.close();
  });

  it('says in one line which key is unusable', async () => {
    await expect(start({ BATON_MASTER_KEY: 'short' })).rejects.toThrow(/^BATON_MASTER_KEY: must be base64 of 32 bytes/);
    const previous = start({ BATON_MASTER_KEY: key(), BATON_MASTER_KEY_PREVIOUS: 'short' });
    await expect(previous).rejects.toThrow(/^BATON_MASTER_KEY_PREVIOUS: must be/);
    await writeFile(join(dataDir, 'master.key'), key(), { mode: 0o644 });
    const open = await start({}).catch(error => error);
    expect(open).toBeInstanceOf(MisconfiguredError);
    expect(open.message).toMatch(/can be read by others; run: chmod 600 /);
    const unwritable = await createTestDatabase();
    await expect(start({ BATON_DATA_DIR: '/proc/none' }, unwritable.pool)).rejects.toThrow(
      /cannot be written \(ENOENT\)/,
    );
    await unwritable.close();
  });
});

describe('a database belongs to one master key', () => {
  it('from its first start on, before there is any secret, and one key cannot be told from what is stored', async () => {
    await using own = await createTestDatabase();
    const first = key();
    await start({ BATON_MASTER_KEY: first }, own.pool);
    const refused = await start({ BATON_MASTER_KEY: key() }, own.pool).catch(error => error);
    expect(refused).toBeInstanceOf(MisconfiguredError);
    expect(refused.message).toMatch(/^BATON_MASTER_KEY is not the master key of this database: [^\n]+$/);
    const { rows } = await own.pool.query('SELECT master_key_fingerprint AS stored FROM installation');
    expect(rows).toHaveLength(1);
    const raw = Buffer.from(first, 'base64');
    for (const purpose of ['tenant-keys', 'session']) expect(rows[0].stored).not.toEqual(deriveKey(raw, purpose));
    expect(rows[0].stored).not.toEqual(raw);
    await start({ BATON_MASTER_KEY: first }, own.pool);
  });

  it('a process without the key is refused, and writes none', async () => {
    await using own = await createTestDatabase();
    const [here, elsewhere] = [await folder(), await folder()];
    await (await start({ BATON_DATA_DIR: here }, own.pool)).put('acme', 'n', 'kept');
    await expect(start({ BATON_DATA_DIR: elsewhere }, own.pool)).rejects.toThrow(/there is none in /);
    const previous = { BATON_MASTER_KEY_PREVIOUS: key() };
    await expect(start({ BATON_DATA_DIR: elsewhere, ...previous }, own.pool)).rejects.toThrow(/there is none in/);
    expect(await readdir(elsewhere)).toEqual([]);
    await cp(here, elsewhere, { recursive: true });
    expect(await (await start({ BATON_DATA_DIR: elsewhere }, own.pool)).get('acme', 'n')).toBe('kept');
    // Moves the key from the environment to a file.
    const moved = await folder();
    const present = (await readFile(join(here, 'master.key'), 'utf8')).trim();
    const rotated = await start({ BATON_DATA_DIR: moved, BATON_MASTER_KEY_PREVIOUS: present }, own.pool);
    expect(await rotated.get('acme', 'n')).toBe('kept');
    expect(await readdir(moved)).toEqual(['master.key']);
    await expect(start({ BATON_DATA_DIR: here }, own.pool)).rejects.toThrow(
      /master\.key is not the one of this database/,
    );
  });

  it('after several first starts: those in one folder share its key, and of two folders, one is refused', async () => {
    await using own = await createTestDatabase();
    const folders = [await folder(), await folder()];
    const starts = await Promise.allSettled(
      [0, 0, 0, 1, 1, 1].map(at => start({ BATON_DATA_DIR: folders[at] ?? '' }, own.pool)),
    );
    const states = starts.map(({ status }) => status).join();
    const [won, lost] = ['fulfilled,fulfilled,fulfilled', 'rejected,rejected,rejected'];
    expect([`${won},${lost}`, `${lost},${won}`]).toContain(states);
    const files = await Promise.all(folders.map(name => readdir(name)));
    expect(files.flat()).toEqual(['master.key']);
  });

  it('that has not recorded its key is claimed only by a key that opens a stored one', async () => {
    await using own = await createTestDatabase();
    const [first, second] = [key(), key()];
    for (const [tenant, masterKey] of [
      ['acme', first],
      ['beta', second],
    ] as const) {
      const raw = Buffer.from(masterKey, 'base64');
      await new DatabaseSecretStore({ pool: own.pool, clock: systemClock, masterKey: raw }).put(tenant, 'n', tenant);
    }
    await expect(start({ BATON_MASTER_KEY: key() }, own.pool)).rejects.toThrow(NEVER_OWN);
    expect((await own.pool.query('SELECT FROM installation')).rowCount).toBe(0);
    const store = await start({ BATON_MASTER_KEY: first }, own.pool);
    await expect(store.get('beta', 'n')).rejects.toThrow(DecryptionError);
    // Secrets that a second process wrote under another key become readable by naming that key as the previous one.
    const both = await start({ BATON_MASTER_KEY: first, BATON_MASTER_KEY_PREVIOUS: second }, own.pool);
    expect([await both.get('acme', 'n'), await both.get('beta', 'n')]).toEqual(['acme', 'beta']);
    await expect(start({ BATON_MASTER_KEY: second }, own.pool)).rejects.toThrow(NEVER_OWN);
  });

  it('after a rotation, a process with the old key neither leads nor creates keys that no process could open', async () => {
    await using own = await createTestDatabase();
    const [old, present] = [key(), key()];
    const before = await start({ BATON_MASTER_KEY: old }, own.pool);
    const verify = (masterKey: string) => verifyMasterKey(services({}, own.pool), Buffer.from(masterKey, 'base64'));
    await verify(old);
    await start({ BATON_MASTER_KEY: present, BATON_MASTER_KEY_PREVIOUS: old }, own.pool);
    await expect(verify(old)).rejects.toThrow(/was replaced while this process was running: restart/);
    await verify(present);
    await expect(before.put('new', 'n', 'x')).rejects.toMatchObject({ code: 'secret_store_unavailable' });
    expect((await own.pool.query('SELECT FROM tenant_keys')).rowCount).toBe(0);
  });

  it('except with Vault, where the key only signs sessions and may be any key', async () => {
    await using own = await createTestDatabase();
    const vault = { BATON_SECRET_STORE: 'vault', BATON_VAULT_ADDR: 'http://127.0.0.1:1', BATON_VAULT_TOKEN: 't' };
    for (const masterKey of [key(), key()]) {
      const keys = await loadIdentityKeys(services({ ...vault, BATON_MASTER_KEY: masterKey }, own.pool));
      await verifyMasterKey(services(vault, own.pool), keys.masterKey);
    }
    expect((await own.pool.query('SELECT FROM installation')).rowCount).toBe(0);
  });
});
