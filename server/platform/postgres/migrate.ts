import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MigrationList } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import type { Logger } from '../logger.ts';
import { DatabaseClient } from './client.ts';
import { createSchemaEngine } from './schema-engine.ts';
import { reason, StartupError } from './startup-error.ts';

const prismaDir = fileURLToPath(new URL('../../../prisma', import.meta.url));

/** An arbitrary key, and not that of `prisma migrate deploy` (72707369), which that engine locks in its own session. */
export const MIGRATION_LOCK = 4_216_033;

export type Migration = { name: string; script: string };

type AppliedRow = {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  rolled_back_at: Date | null;
  logs: string | null;
};

/** Returns the migration folders under `<dir>/migrations`, oldest first. */
export async function readMigrations(dir = prismaDir): Promise<Migration[]> {
  const entries = await readdir(join(dir, 'migrations'), { withFileTypes: true });
  const names = entries.filter(entry => entry.isDirectory()).map(entry => entry.name);
  return Promise.all(
    names.sort().map(async name => ({
      name,
      script: await readFile(join(dir, 'migrations', name, 'migration.sql'), 'utf8'),
    })),
  );
}

/** Returns the migrations in the form of Prisma's engine. */
async function migrationList(migrations: Migration[], dir = prismaDir): Promise<MigrationList> {
  return {
    baseDir: join(dir, 'migrations'),
    lockfile: {
      path: './migration_lock.toml',
      content: await readFile(join(dir, 'migrations', 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  };
}

/** Returns the content of schema.prisma, as the engine's `[path, content]`. */
export async function readSchema(dir = prismaDir): Promise<[path: string, content: string]> {
  const path = join(dir, 'schema.prisma');
  return [path, await readFile(path, 'utf8')];
}

/**
 * Applies all pending migrations to the database at `url` and returns their names. `_prisma_migrations` is Prisma's
 * own, so `prisma migrate deploy` and this may be mixed. Processes that start concurrently take turns (advisory lock).
 * Throws StartupError for a failed migration, or a database of a newer Baton.
 */
export async function migrate(url: string, logger?: Logger, dir = prismaDir): Promise<string[]> {
  const migrations = await readMigrations(dir);
  const client = new DatabaseClient({ connectionString: url, application_name: 'baton-migrate' });
  await client.connect();
  try {
    if ((await pendingMigrations(client, migrations, { locked: false })).length === 0) return [];
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const names = await pendingMigrations(client, migrations, { locked: true });
    if (names.length === 0) return [];
    logger?.info({ migrations: names }, 'migrating the database');
    return await apply(url, migrations, dir, names);
  } finally {
    await client.end();
  }
}

/**
 * Returns the names of the migrations that the next start would apply; `busy` while another process applies them. Changes
 * nothing, and needs no session of its own. Throws StartupError for what `migrate` refuses.
 */
export async function inspectMigrations(client: pg.Client, dir = prismaDir): Promise<{ due: string[]; busy: boolean }> {
  const { rows } = await client.query<{ busy: boolean }>(
    `SELECT EXISTS (
       SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = $1::bigint::oid AND objsubid = 1 AND granted
     ) AS busy`,
    [MIGRATION_LOCK],
  );
  const busy = rows[0]?.busy === true;
  return { due: await pendingMigrations(client, await readMigrations(dir), { locked: !busy }), busy };
}

/**
 * Returns the names not applied yet. Plain SQL, so that a start with nothing to do never loads the engine. Without the
 * lock, an unfinished migration may be running in another process; with the lock, it has failed.
 */
export async function pendingMigrations(
  client: Pick<pg.Client, 'query'>,
  migrations: readonly Migration[],
  { locked }: { locked: boolean },
): Promise<string[]> {
  const exists = await client.query<{ found: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found",
  );
  if (!exists.rows[0]?.found) return migrations.map(({ name }) => name);
  const { rows } = await client.query<AppliedRow>(
    'SELECT migration_name, checksum, finished_at, rolled_back_at, logs FROM _prisma_migrations ORDER BY started_at',
  );
  const current = rows.filter(row => row.rolled_back_at === null);
  const failed = current.find(row => row.finished_at === null);
  if (failed && !locked) return [failed.migration_name];
  if (failed) {
    throw new StartupError(
      `Migration ${failed.migration_name} failed before (${reason(failed.logs ?? 'no log')}): mend the database, then mark it with "npx prisma migrate resolve --rolled-back ${failed.migration_name}".`,
    );
  }
  const known = new Map(migrations.map(migration => [migration.name, checksumOf(migration)]));
  const unknown = current.find(row => !known.has(row.migration_name));
  if (unknown) {
    throw new StartupError(
      `The database has migration ${unknown.migration_name}, which this version of Baton does not know: it was made by a newer version.`,
    );
  }
  const edited = current.find(row => known.get(row.migration_name) !== row.checksum);
  if (edited) {
    throw new StartupError(
      `Migration ${edited.migration_name} was changed after it had been applied: restore its file.`,
    );
  }
  const applied = new Set(current.map(row => row.migration_name));
  return migrations.map(({ name }) => name).filter(name => !applied.has(name));
}

/** Returns the checksum by which Prisma recognizes an edited migration. */
export const checksumOf = ({ script }: Migration): string => createHash('sha256').update(script).digest('hex');

async function apply(url: string, migrations: Migration[], dir: string, names: string[]): Promise<string[]> {
  const pool = new pg.Pool({
    Client: DatabaseClient,
    connectionString: url,
    max: 2,
    application_name: 'baton-migrate',
  });
  // A failed start stops the embedded PostgreSQL while these sessions are still ending.
  pool.on('error', () => undefined);
  try {
    const engine = await createSchemaEngine(pool, [await readSchema(dir)]);
    try {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: await migrationList(migrations, dir),
        filters: { externalTables: [], externalEnums: [] },
      });
      return appliedMigrationNames;
    } finally {
      engine.free();
    }
  } catch (cause) {
    throw new StartupError(`The database could not be migrated (${names.join(', ')}): ${engineReason(cause)}`, {
      cause,
    });
  } finally {
    await pool.end();
  }
}

/** Returns the engine's message without its Rust span trace. */
function engineReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return reason(message.split(/\n\s+0: /)[0] ?? message);
}
