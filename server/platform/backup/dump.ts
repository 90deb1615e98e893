import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { checksumOf, MIGRATION_LOCK, pendingMigrations, readMigrations } from '../postgres/migrate.ts';
import { inOwnSession } from '../postgres/own-session.ts';
import { StartupError } from '../postgres/startup-error.ts';
import { readSequences, readServerVersion, readTables } from './catalog.ts';
import type { Layout, RowSource, TableRows } from './manifest.ts';
import { PORTABLE_TEXT } from './portable-text.ts';

/** Retention replaces partitions; then the tables are listed and locked again. */
const LOCK_ATTEMPTS = 5;
/** The time to wait for a table that a migration rewrites. */
const LOCK_TIMEOUT_MS = 60_000;
const SESSION = { name: 'baton-backup', lockTimeoutMs: LOCK_TIMEOUT_MS };

/** A database at one instant; `client` reads it in the same transaction. */
export type Snapshot = RowSource & { client: Pick<pg.Client, 'query'> };

/**
 * Runs `work` with a database as it was at one instant, in one REPEATABLE READ transaction that only reads. Every table is locked against
 * being dropped or emptied before the snapshot is taken, because TRUNCATE empties a table for older snapshots, too. Writers are not
 * delayed. Throws StartupError if the database holds no Baton data, or was migrated by a newer version.
 */
export async function withSnapshot<T>(
  url: string,
  work: (snapshot: Snapshot) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return inOwnSession(url, { ...SESSION, signal }, async client => {
    await client.query(PORTABLE_TEXT);
    await expectData(client);
    const tables = await lockTables(client);
    const layout = {
      postgres: await readServerVersion(client),
      migrations: await readLevel(client),
      tables,
      sequences: await readSequences(client),
    };
    const counts = new Map<string, number>();
    const result = await work({
      client,
      layout,
      rowsOf: table => counts.get(table),
      tables: () => copyTables(client, layout.tables, counts),
    });
    await client.query('COMMIT');
    return result;
  }).catch(error => {
    throw isLockTimeout(error)
      ? new StartupError('A table of the database is locked by another process, such as a migration: try again later.')
      : error;
  });
}

const isLockTimeout = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03';

async function expectData(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean; idle: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found, pg_try_advisory_lock_shared($1) AS idle`,
    [MIGRATION_LOCK],
  );
  if (!rows[0]?.idle)
    throw new StartupError('The database is being migrated, or restored: try again when that has ended.');
  // Not kept: a start that migrates would wait for it, although the locks of the tables suffice.
  await client.query('SELECT pg_advisory_unlock_shared($1)', [MIGRATION_LOCK]);
  if (!rows[0].found) throw new StartupError('The database holds no Baton data yet: there is nothing to back up.');
}

async function readLevel(client: pg.Client): Promise<Layout['migrations']> {
  const migrations = await readMigrations();
  const pending = await pendingMigrations(client, migrations, { locked: true });
  return migrations
    .filter(({ name }) => !pending.includes(name))
    .map(migration => ({ name: migration.name, checksum: checksumOf(migration) }));
}

/** Begins the transaction. LOCK takes no snapshot, so what the list is compared with afterwards is what will be read. */
async function lockTables(client: pg.Client): Promise<Layout['tables']> {
  for (let attempt = 1; ; attempt++) {
    const listed = await readTables(client);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      const names = listed.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
      await client.query(`LOCK TABLE ${names} IN ACCESS SHARE MODE`);
      const locked = await readTables(client);
      if (JSON.stringify(locked) === JSON.stringify(listed)) return locked;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== '42P01') throw error;
    }
    await client.query('ROLLBACK');
    if (attempt === LOCK_ATTEMPTS)
      throw new StartupError('The tables of the database keep changing: try again when no migration runs.');
  }
}

async function* copyTables(
  client: pg.Client,
  tables: Layout['tables'],
  counts: Map<string, number>,
): AsyncGenerator<TableRows> {
  for (const { name, columns } of tables)
    yield { name, rows: copyRows(client, { name, columns }, rows => counts.set(name, rows)) };
}

async function* copyRows(
  client: pg.Client,
  { name, columns }: { name: string; columns: readonly string[] },
  onEnd: (rows: number) => void,
): AsyncGenerator<Buffer> {
  const list = columns.map(pg.escapeIdentifier).join(', ');
  const stream = client.query(copyTo(`COPY ${pg.escapeIdentifier(name)} (${list}) TO STDOUT`));
  for await (const chunk of stream) yield chunk as Buffer;
  onEnd(stream.rowCount);
}
