import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../platform/clock.ts';
import { loadMasterKey } from '../platform/crypto/master-key.ts';
import { createLogger } from '../platform/logger.ts';
import { startEmbedded } from '../platform/postgres/embedded.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { DatabaseSecretStore } from '../platform/secrets/database-secret-store.ts';
import { runBaton } from '../testing/commands.ts';
import { createTestDatabase } from '../testing/postgres.ts';
import { scratchFolder } from '../testing/scratch-folder.ts';
import { createCommandPool } from './open-database.ts';
import { rotateKeyFile } from './rotate-master-key.ts';

const clock = new ManualClock();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(scratchFolder(), 'baton-rotation-'));
  await chmod(folder, 0o755);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const rotate = (env: Record<string, string>) => runBaton(['rotate-master-key'], { BATON_DATA_DIR: folder, ...env });

const key = () => loadMasterKey({ configured: undefined, dataDir: folder });
const store = async (pool: pg.Pool) => new DatabaseSecretStore({ pool, clock, masterKey: await key() });
const keyFiles = async () => (await readdir(folder)).filter(name => name.startsWith('master.key')).sort();

test('replaces the key of an external database: secrets stay, the file is new and private, the old one is kept', async () => {
  await using db = await createTestDatabase();
  const before = await store(db.pool);
  await before.put('acme', 'n', 'kept');
  await before.put('other', 'n', 'kept too');
  const old = await readFile(join(folder, 'master.key'), 'utf8');
  const { code, out, err } = await rotate({ DATABASE_URL: db.url });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('2 workspace keys are wrapped again');
  const [now = '', until = ''] = await keyFiles();
  expect(await keyFiles()).toEqual(['master.key', expect.stringMatching(/^master\.key\.until-\d{4}-.*Z$/)]);
  expect(await readFile(join(folder, until), 'utf8')).toBe(old);
  expect(await readFile(join(folder, now), 'utf8')).not.toBe(old);
  for (const name of [now, until]) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  for (const text of [old, await readFile(join(folder, now), 'utf8')]) expect(out).not.toContain(text.trim());
  const after = await store(db.pool);
  expect([await after.get('acme', 'n'), await after.get('other', 'n')]).toEqual(['kept', 'kept too']);
});

test('refuses while a Baton uses the database, or if the key is configured or missing, and changes nothing', async () => {
  await using db = await createTestDatabase();
  expect((await rotate({ DATABASE_URL: db.url })).err).toMatch(/^baton: There is no master key in .*\n$/);
  await (await store(db.pool)).put('acme', 'n', 'kept');
  const before = await readFile(join(folder, 'master.key'), 'utf8');
  for (const name of ['baton', 'baton-orchestrator']) {
    const server = new pg.Client({ connectionString: db.url, application_name: name });
    await server.connect();
    const refused = await rotate({ DATABASE_URL: db.url });
    await server.end();
    expect(refused).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^baton: A Baton process uses this database/),
    });
  }
  const given = await rotate({ DATABASE_URL: db.url, BATON_MASTER_KEY: randomBytes(32).toString('base64') });
  expect(given.err).toMatch(/^baton: The master key is BATON_MASTER_KEY.*BATON_MASTER_KEY_PREVIOUS/);
  expect((await rotate({ DATABASE_URL: 'postgresql://127.0.0.1:1/none' })).err).toMatch(/^baton: .*cannot be reached/);
  expect(await keyFiles()).toEqual(['master.key']);
  expect(await readFile(join(folder, 'master.key'), 'utf8')).toBe(before);
  expect(await (await store(db.pool)).get('acme', 'n')).toBe('kept');
});

test('a key that is not the database’s is refused, and no new key is left behind', async () => {
  await using db = await createTestDatabase();
  await (await store(db.pool)).put('acme', 'n', 'kept');
  await writeFile(join(folder, 'master.key'), randomBytes(32).toString('base64'));
  await expect(rotateKeyFile(db.pool, folder, clock)).rejects.toThrow(/Nothing was changed/);
  expect(await keyFiles()).toEqual(['master.key']);
});

test('a rotation that was interrupted before or after the transaction continues where it stopped', async () => {
  await using db = await createTestDatabase();
  await (await store(db.pool)).put('acme', 'n', 'kept');
  // A transaction that fails leaves the new key beside the old one, which stays valid.
  await db.pool.query('ALTER TABLE tenant_keys RENAME TO away');
  await expect(rotateKeyFile(db.pool, folder, clock)).rejects.toThrow();
  await db.pool.query('ALTER TABLE away RENAME TO tenant_keys');
  expect(await keyFiles()).toEqual(['master.key', 'master.key.next']);
  expect(await (await store(db.pool)).get('acme', 'n')).toBe('kept');
  const next = await readFile(join(folder, 'master.key.next'), 'utf8');
  // The process ends after the commit and before the swap: the name of the old key is taken, so linking it fails.
  const taken = join(folder, 'master.key.until-2026-01-01T00-00-00.000Z');
  await writeFile(taken, '');
  await expect(rotateKeyFile(db.pool, folder, clock)).rejects.toThrow(/EEXIST/);
  await expect((await store(db.pool)).get('acme', 'n')).rejects.toThrow(/does not decrypt/);
  await rm(taken);
  expect(await rotateKeyFile(db.pool, folder, clock)).toMatchObject({ tenants: 0, previous: taken });
  expect(await readFile(join(folder, 'master.key'), 'utf8')).toBe(next);
  expect(await (await store(db.pool)).get('acme', 'n')).toBe('kept');
});

test('refuses while a server runs on the embedded data folder, and works when it has stopped', async () => {
  expect((await rotate({})).err).toMatch(/^baton: There is no master key in .*\n$/);
  await key();
  const embedded = await startEmbedded(folder, 10, createLogger('silent'));
  await migrate(embedded.url);
  const pool = createCommandPool(embedded.url, { max: 2 });
  await (await store(pool)).put('acme', 'n', 'kept');
  await pool.end();
  expect(await rotate({})).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^baton: Another Baton/) });
  expect(await keyFiles()).toEqual(['master.key']);
  await embedded.close();
  expect(await rotate({})).toMatchObject({ code: 0, err: '' });
  expect((await keyFiles()).length).toBe(2);
  const again = await startEmbedded(folder, 10, createLogger('silent'));
  const reopened = createCommandPool(again.url, { max: 2 });
  expect(await (await store(reopened)).get('acme', 'n')).toBe('kept');
  await reopened.end();
  await again.close();
});
