import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LEADER_LOCK } from '../../orchestrator/cluster/locks.ts';
import { withSnapshot } from '../../platform/backup/dump.ts';
import type { Manifest } from '../../platform/backup/manifest.ts';
import { readArchive } from '../../platform/backup/read-archive.ts';
import { writeArchive } from '../../platform/backup/write-archive.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { MIGRATION_LOCK, migrate } from '../../platform/postgres/migrate.ts';
import { ensurePartitions } from '../../platform/postgres/partitions.ts';
import { DatabaseSecretStore } from '../../platform/secrets/database-secret-store.ts';
import { claimMasterKey } from '../../platform/secrets/installation-key.ts';
import { describeSchema, digestRows, insertOddRows } from '../../testing/backup.ts';
import { runCommand } from '../../testing/commands.ts';
import { createTestServices, createTestTenant, testConfig } from '../../testing/identity.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { query } from '../../testing/postgres-template.ts';
import { declareBackup } from './backup.ts';
import { declareRestore } from './restore.ts';
import type { BackupServices } from './session.ts';

const masterKey = randomBytes(32);
let db: TestDatabase;
let folder: string;
let file: string;

/** Returns what a command is given in a deployment with this database and key. `dataDir` is without a key unless one is written. */
function services(
  url: string,
  key: Uint8Array | null = masterKey,
  signal = new AbortController().signal,
): BackupServices {
  const env: Record<string, string> = { DATABASE_URL: url, BATON_DATA_DIR: join(folder, 'data') };
  if (key !== null) env.BATON_MASTER_KEY = Buffer.from(key).toString('base64');
  return { config: testConfig(env), signal };
}

const backup = (...args: string[]) => runCommand(declareBackup, services(db.url), args);
const restore = (url: string, from: string, key: Uint8Array | null = masterKey, ...args: string[]) =>
  runCommand(declareRestore, services(url, key), [from, ...args]);

const relations = (url: string) =>
  query(url, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`);

/** Expects a restore to be refused with one line, and the database to be as empty as before. */
async function expectRefused(from: string, message: RegExp, key: Uint8Array | null = masterKey, ...args: string[]) {
  await using empty = await createEmptyDatabase();
  const error: Error = await restore(empty.url, from, key, ...args).then(
    () => expect.fail('It was restored.'),
    error => error,
  );
  expect(error.message).toMatch(message);
  expect(error.message).not.toContain('\n');
  expect(await relations(empty.url)).toEqual([]);
}

/** Writes the backup again with another manifest, sealed with `key`. */
async function forge(change: (manifest: Manifest) => void, key: Uint8Array = masterKey): Promise<string> {
  const archive = await readArchive(file);
  const manifest = structuredClone(archive.manifest);
  change(manifest);
  const forged = join(folder, `${randomBytes(4).toString('hex')}.baton`);
  await writeArchive(forged, { tables: archive.tables(), manifest: () => manifest, masterKey: key }, false);
  return forged;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-backup-'));
  file = join(folder, 'acme.baton');
  db = await createTestDatabase();
  const claim = { find: async () => masterKey, make: async () => masterKey, at: new Date() };
  await claimMasterKey(db.pool, claim);
  await createTestTenant(createTestServices(db), { slug: 'acme' });
  await ensurePartitions(db.pool, systemClock, createLogger('silent'));
  await insertOddRows(db.pool, 'acme');
  await new DatabaseSecretStore({ pool: db.pool, clock: systemClock, masterKey }).put('acme', 'token', 'a secret');
  expect(await backup(file)).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^Made .*acme\.baton: \d+ rows of \d+ tables/),
  });
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

test('restores every row, the schema with its partitions, and the numbers of sequences; secrets open; the books balance', async () => {
  await using empty = await createEmptyDatabase();
  const { code, text } = await restore(empty.url, file);
  expect(code).toBe(0);
  expect(text).toContain('The audit of balances is clean: ');
  expect(await describeSchema(empty.url)).toEqual(await describeSchema(db.url));
  const digests = await digestRows(empty.url);
  expect(digests).toEqual(await digestRows(db.url));
  expect(Object.keys(digests)).toEqual(expect.arrayContaining(['memory_item_states', 'secrets', 'tenants']));
  expect(await migrate(empty.url)).toEqual([]);
  const pool = new pg.Pool({ connectionString: empty.url, max: 1 });
  const store = new DatabaseSecretStore({ pool, clock: systemClock, masterKey });
  expect(await store.get('acme', 'token')).toBe('a secret');
  await expect(pool.query(`INSERT INTO projects SELECT * FROM projects`)).rejects.toThrow(/duplicate key/);
  await pool.end();
});

test('the file is private, holds no secret and no key, and is replaced only on request', async () => {
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const bytes = await readFile(file);
  for (const text of ['a secret', masterKey.toString('base64'), masterKey.toString('hex')])
    expect(bytes.includes(text)).toBe(false);
  await expect(backup(file)).rejects.toThrow(/acme\.baton exists: .*--replace\.$/);
  expect((await readFile(file)).equals(bytes)).toBe(true);
  expect(await backup(file, '--replace')).toMatchObject({ code: 0 });
  expect((await readdir(folder)).filter(name => name.includes('incomplete'))).toEqual([]);
  await expect(backup(join(folder, 'none', 'x.baton'))).rejects.toThrow(
    /cannot be written: its folder does not exist\./,
  );
  await expect(backup(folder)).rejects.toThrow(/is not a file/);
});

describe('a file is refused before anything is written', () => {
  test('that is missing, or no backup', async () => {
    await expectRefused(join(folder, 'none.baton'), /cannot be read: there is no such file\.$/);
    await expectRefused(folder, /is not a file\.$/);
    const other = join(folder, 'other');
    for (const text of ['', 'baton-backup', 'PGDMP\n', 'baton-backup x\n', 'baton-backup 0\nrest']) {
      await writeFile(other, text);
      await expectRefused(other, /other is not a backup of Baton\.$/);
    }
  });

  test('that is truncated', async () => {
    const bytes = await readFile(file);
    const cut = join(folder, 'cut.baton');
    for (const length of [15, 200, bytes.length >> 1, bytes.length - 171, bytes.length - 1]) {
      await writeFile(cut, bytes.subarray(0, length));
      await expect(readArchive(cut)).rejects.toThrow(/cut\.baton is incomplete: its end is missing\./);
    }
    await expectRefused(cut, /is incomplete/);
  });

  test('of which a byte was changed, wherever', async () => {
    const bytes = await readFile(file);
    const changed = join(folder, 'changed.baton');
    const places = [15, 16, bytes.length - 160, bytes.length - 100, bytes.length - 1];
    for (let n = 0; n < 40; n++) places.push(15 + Math.floor(((bytes.length - 15) * n) / 40));
    for (const at of places) {
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
      await writeFile(changed, copy);
      const refused = await readArchive(changed).then(
        archive => (archive.isSealedBy(masterKey) ? 'accepted' : 'seal'),
        error => String(error.message),
      );
      expect(refused, `byte ${at} of ${bytes.length}`).toMatch(/is (incomplete|damaged)|^seal$/);
    }
  });

  test('that somebody changed together with its checksum, without the master key', async () => {
    const forged = await forge(
      manifest => void Object.assign(manifest, { created_at: '2020-01-01T00:00:00.000Z' }),
      randomBytes(32),
    );
    await expectRefused(forged, /^The backup was changed after it was made: its seal is not that of its master key\.$/);
  });

  test('of a newer format, or with a migration that this version does not have', async () => {
    const newer = join(folder, 'newer.baton');
    await writeFile(newer, (await readFile(file, 'latin1')).replace(/^baton-backup 1/, 'baton-backup 2'), 'latin1');
    await expectRefused(newer, /newer version of Baton \(format 2; this version reads 1\)/);
    const later = { name: '9999_later', checksum: 'ab' };
    await expectRefused(
      await forge(({ layout }) => void layout.migrations.push(later)),
      /has migration 9999_later.*newer version/,
    );
    const edited = await forge(({ layout }) => void Object.assign(layout.migrations[3] ?? {}, { checksum: 'ab' }));
    await expectRefused(edited, /has another migration 0004_monthly_partitions/);
  });
});

test('what does not fit its manifest is rolled back as a whole', async () => {
  await expectRefused(
    await forge(({ rows }) => void Object.assign(rows, { users: 99 })),
    /^The backup has 99 rows of users, but \d+ were loaded\.$/,
  );
  const columns = await forge(
    ({ layout }) => void layout.tables.find(({ name }) => name === 'users')?.columns.push('x'),
  );
  await expectRefused(columns, /^The table users of the backup has other columns than Baton's: x\.$/);
});

describe('the master key', () => {
  const passphrase = 'correct horse battery staple';
  const phrase = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };

  test('of another installation is refused, and so is none', async () => {
    await expectRefused(file, /^The backup belongs to another master key than BATON_MASTER_KEY: /, randomBytes(32));
    await expectRefused(
      file,
      /^The backup needs its master key, which it does not hold: copy master\.key to .*data\/master\.key/,
      null,
    );
    const asked = await phrase('asked', passphrase);
    await expectRefused(file, /does not hold its master key/, null, '--passphrase-file', asked);
    const other = services(db.url, randomBytes(32));
    await expect(runCommand(declareBackup, other, [join(folder, 'x')])).rejects.toThrow(
      /not the one that the database belongs to/,
    );
    await expect(runCommand(declareBackup, services(db.url, null), [join(folder, 'x')])).rejects.toThrow(
      /^The master key is not here/,
    );
    expect(await readdir(folder)).not.toContain('x');
  });

  test('is stored with a passphrase alone, and comes back with it', async () => {
    const held = join(folder, 'held.baton');
    await expect(backup(held, '--with-master-key')).rejects.toThrow(/needs --passphrase-file/);
    const short = await phrase('short', 'short');
    await expect(backup(held, '--with-master-key', '--passphrase-file', short)).rejects.toThrow(
      /at least 16 characters/,
    );
    await expect(backup(held, '--passphrase-file', short)).rejects.toThrow(/is for --with-master-key/);
    const right = await phrase('right', `${passphrase}\n`);
    await backup(held, '--with-master-key', '--passphrase-file', right);
    expect((await readFile(held)).includes(masterKey.toString('hex'))).toBe(false);
    await expectRefused(held, /holds its master key: give its passphrase with --passphrase-file/, null);
    const wrong = await phrase('wrong', `${passphrase}!`);
    await expectRefused(
      held,
      /^The passphrase does not open the master key of the backup\.$/,
      null,
      '--passphrase-file',
      wrong,
    );
    expect(await readdir(folder)).not.toContain('data');

    await using empty = await createEmptyDatabase();
    const { text } = await restore(empty.url, held, null, '--passphrase-file', right);
    const stored = join(folder, 'data', 'master.key');
    expect(text).toContain(`The master key is in ${stored}.`);
    expect(await readFile(stored, 'utf8')).toBe(`${masterKey.toString('base64')}\n`);
    expect((await stat(stored)).mode & 0o777).toBe(0o600);
    await rm(join(folder, 'data'), { recursive: true });
  });
});

test('an older backup is migrated after it was loaded, as a start would; books that do not balance are an exit code', async () => {
  const prisma = join(folder, 'prisma');
  await cp(fileURLToPath(new URL('../../../prisma', import.meta.url)), prisma, { recursive: true });
  for (const name of await readdir(join(prisma, 'migrations')))
    if (/^\d/.test(name) && name >= '0053') await rm(join(prisma, 'migrations', name), { recursive: true });
  await using old = await createEmptyDatabase();
  await migrate(old.url, undefined, prisma);
  const pool = new pg.Pool({ connectionString: old.url, max: 1 });
  await insertOddRows(pool, 'acme');
  await pool.query(`INSERT INTO credit_accounts (tenant_id, trial, created_at) VALUES ('acme', 5, now())`);
  await pool.query('CREATE TABLE mine (n integer); INSERT INTO mine VALUES (1)');
  await pool.end();
  const older = join(folder, 'older.baton');
  await runCommand(declareBackup, services(old.url), [older]);

  await using empty = await createEmptyDatabase();
  const { code, text } = await restore(empty.url, older);
  expect(code).toBe(1);
  expect(text).toMatch(/^Migrated it to this version: 0053_memory_states, .*0064_slots.*\.$/m);
  expect(text).toMatch(/^Left out, because they are not Baton's: mine\.$/m);
  expect(text).toMatch(/^The audit of balances found [1-9] differences? .*billing audit/m);
  expect(await migrate(empty.url)).toEqual([]);
  await using fresh = await createTestDatabase();
  expect(await describeSchema(empty.url)).toEqual(await describeSchema(fresh.url));
  // What migration 0053 makes of the rows.
  expect(await query(empty.url, 'SELECT status FROM memory_item_states')).toEqual([{ status: 'active' }]);
});

describe('a snapshot', () => {
  test('holds one instant, whatever is written meanwhile, and keeps its tables from being emptied', async () => {
    await using live = await createTestDatabase();
    const names: string[] = [];
    await withSnapshot(live.url, async snapshot => {
      for await (const { name, rows } of snapshot.tables()) {
        if (names.length === 0) {
          await live.pool.query(`INSERT INTO rate_counts VALUES ('x', 'x', now(), 1)`);
          await expect(live.pool.query(`SET lock_timeout = 50; TRUNCATE rate_counts`)).rejects.toThrow(/lock timeout/);
        }
        names.push(name);
        for await (const _ of rows);
      }
      expect(names.indexOf('rate_counts')).toBeGreaterThan(0);
      expect(snapshot.rowsOf('rate_counts')).toBe(0);
    });
    const { rows } = await live.pool.query('SELECT kind FROM rate_counts');
    expect(rows).toEqual([{ kind: 'x' }]);
  });

  test('whose session is lost, or that is interrupted, leaves no file', async () => {
    const lost = join(folder, 'lost.baton');
    const write = (stop: (pid: unknown) => unknown, signal?: AbortSignal) =>
      withSnapshot(
        db.url,
        async snapshot => {
          const { rows } = await snapshot.client.query('SELECT pg_backend_pid() AS pid');
          async function* tables() {
            for await (const table of snapshot.tables()) {
              yield table;
              await stop(rows[0]?.pid);
            }
          }
          const manifest = () => expect.fail('not all was read');
          return writeArchive(lost, { tables: tables(), manifest, masterKey }, false);
        },
        signal,
      );
    await expect(write(pid => db.pool.query('SELECT pg_terminate_backend($1)', [pid]))).rejects.toThrow();
    const interruption = new AbortController();
    await expect(write(() => interruption.abort(), interruption.signal)).rejects.toThrow();
    expect((await readdir(folder)).filter(name => name.startsWith('lost'))).toEqual([]);
  });
});

describe('a database is refused', () => {
  test('that is not empty, and stays as it is', async () => {
    const before = await digestRows(db.url);
    await expect(restore(db.url, file)).rejects.toThrow(
      /^The database is not empty \(it has \w+\): nothing was changed\./,
    );
    expect(await digestRows(db.url)).toEqual(before);
    await using other = await createEmptyDatabase();
    await query(other.url, 'CREATE VIEW mine AS SELECT 1 AS one');
    await expect(restore(other.url, file)).rejects.toThrow(/is not empty \(it has mine\)/);
  });

  test.each([
    [
      'a leader holds its lock',
      `SELECT pg_advisory_lock(${LEADER_LOCK})`,
      'some name',
      /^A Baton service uses this database/,
    ],
    ['a service has sessions', 'SELECT 1', 'baton', /^A Baton service uses this database/],
    [
      'another process migrates',
      `SELECT pg_advisory_lock(${MIGRATION_LOCK})`,
      'x',
      /^Another process migrates this database/,
    ],
  ])('where %s', async (_, statement, name, message) => {
    await using empty = await createEmptyDatabase();
    const service = new pg.Client({ connectionString: empty.url, application_name: name });
    await service.connect();
    await service.query(statement);
    await expect(restore(empty.url, file)).rejects.toThrow(message);
    await service.end();
    expect(await relations(empty.url)).toEqual([]);
  });

  test('that cannot be reached, or holds no Baton data to back up', async () => {
    await expect(restore('postgresql://127.0.0.1:1/none', file)).rejects.toThrow(/cannot be reached: /);
    await using empty = await createEmptyDatabase();
    const none = runCommand(declareBackup, services(empty.url), [join(folder, 'x')]);
    await expect(none).rejects.toThrow(/^The database holds no Baton data yet/);
  });
});
