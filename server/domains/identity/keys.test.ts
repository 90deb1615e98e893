import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../config.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '../../platform/postgres/testing.ts';
import { startTestVault } from '../../platform/secrets/testing-vault.ts';
import { loadIdentityKeys, openSecretStore } from './keys.ts';
import { testConfig } from './testing.ts';

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
const start = async (env: Record<string, string>) => {
  const config = testConfig({ BATON_DATA_DIR: dataDir, ...env });
  const { masterKey } = await loadIdentityKeys(config);
  return openSecretStore({ config, pool: db.pool, clock: systemClock, logger: createLogger('silent'), masterKey });
};

describe('keys of a deployment', () => {
  it('derives a session secret that follows the master key and is not it', async () => {
    const first = key();
    const keys = await loadIdentityKeys(testConfig({ BATON_MASTER_KEY: first }));
    expect(Buffer.from(keys.sessionSecret, 'base64')).toHaveLength(32);
    expect(keys.sessionSecret).not.toBe(first);
    expect(await loadIdentityKeys(testConfig({ BATON_MASTER_KEY: first }))).toEqual(keys);
    const other = await loadIdentityKeys(testConfig({ BATON_MASTER_KEY: key() }));
    expect(other.sessionSecret).not.toBe(keys.sessionSecret);
  });

  it('rotates at start, refuses a foreign key at start, and needs the old one only once', async () => {
    const [old, present] = [key(), key()];
    await (await start({ BATON_MASTER_KEY: old })).put('acme', 'n', 'kept');
    await expect(start({ BATON_MASTER_KEY: present })).rejects.toThrow(ConfigError);
    await expect(start({ BATON_MASTER_KEY: present, BATON_MASTER_KEY_PREVIOUS: key() })).rejects.toThrow(ConfigError);
    const rotated = await start({ BATON_MASTER_KEY: present, BATON_MASTER_KEY_PREVIOUS: old });
    expect(await rotated.get('acme', 'n')).toBe('kept');
    expect(await (await start({ BATON_MASTER_KEY: present })).get('acme', 'n')).toBe('kept');
    await expect(start({ BATON_MASTER_KEY: old })).rejects.toThrow(ConfigError);
  });

  it('opens Vault where that is configured, also while it is away', async () => {
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
    await expect(start({ BATON_MASTER_KEY: 'short' })).rejects.toThrow(/^BATON_MASTER_KEY must be base64 of 32 bytes/);
    const previous = start({ BATON_MASTER_KEY: key(), BATON_MASTER_KEY_PREVIOUS: 'short' });
    await expect(previous).rejects.toThrow(/^BATON_MASTER_KEY_PREVIOUS must be/);
    await writeFile(join(dataDir, 'master.key'), key(), { mode: 0o644 });
    const open = await start({}).catch(error => error);
    expect(open).toBeInstanceOf(ConfigError);
    expect(open.message).toMatch(/can be read by others; run: chmod 600 /);
  });
});
