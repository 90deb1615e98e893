import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { MIGRATION_LOCK } from '../postgres/migrate.ts';
import { inOwnSession } from '../postgres/own-session.ts';
import { partitionStatements } from '../postgres/partitions.ts';
import { reason, StartupError } from '../postgres/startup-error.ts';
import { findObject, readForeignKeys, readSequenceNames, readTables, readTriggeredTables } from './catalog.ts';
import type { Layout, RowSource } from './manifest.ts';
import { PORTABLE_TEXT } from './portable-text.ts';
import { applyLater, createSchema, type Plan } from './schema.ts';

const SESSION = { name: 'baton-restore' };

export type Target = {
  url: string;
  /** The lock that the session of a leading service holds. */
  leaderLock: number;
  plan: Plan;
  at: Date;
  /** Called when everything is loaded, before it is committed. What it returns is called if that was certainly rolled back. */
  beforeCommit?(): Promise<() => Promise<void>>;
  signal?: AbortSignal | undefined;
};

/** `leftOut`: the tables that are no tables of Baton. */
export type Loaded = { rows: number; tables: number; leftOut: string[] };

/**
 * Creates the schema of a backup in an empty database, loads its rows and the numbers of its sequences, and applies the migrations that
 * came later: all in one transaction, so that the database stays empty if anything fails, or the process is killed. Throws StartupError
 * if the database is not empty, a service uses it, or something does not fit.
 */
export async function loadInto(target: Target, source: RowSource): Promise<Loaded> {
  const { url, plan, at, signal } = target;
  let undo: (() => Promise<void>) | undefined;
  try {
    return await inOwnSession(url, { ...SESSION, signal }, async client => {
      await client.query(PORTABLE_TEXT);
      await expectEmpty(client, target.leaderLock);
      await client.query('BEGIN');
      const loaded = await load(client, source, plan);
      await applyLater(client, plan, at);
      undo = await target.beforeCommit?.();
      await commit(client);
      return loaded;
    });
  } catch (error) {
    if (error instanceof UnknownOutcome) throw error;
    await undo?.();
    if (signal?.aborted) throw new StartupError('Interrupted: nothing was restored.');
    if (error instanceof StartupError) throw error;
    throw new DatabaseFailedError(lineOf(error), { cause: error });
  }
}

/** The database refused a statement, or was lost: it may not be able to stop in order. */
export class DatabaseFailedError extends StartupError {}

/** The connection was lost after COMMIT was sent: either all or nothing was restored. */
class UnknownOutcome extends StartupError {}

async function commit(client: pg.Client): Promise<void> {
  await client.query('COMMIT').catch(cause => {
    if (cause instanceof pg.DatabaseError) throw cause;
    throw new UnknownOutcome(
      `The database was lost while the restore was committed (${reason(cause)}): it has everything, or it is empty. Restore again: a database that is not empty is refused.`,
      { cause },
    );
  });
}

function lineOf(error: unknown): string {
  if (!(error instanceof pg.DatabaseError))
    return `The database was lost meanwhile (${reason(error)}): nothing was restored. Its log says why, such as a full disk.`;
  return error.code === '53100'
    ? 'The disk of the database is full: nothing was restored.'
    : `The backup cannot be loaded: ${reason(error)}. Nothing was restored.`;
}

/** A start waits for the lock of the migrations until the restore has ended. */
async function expectEmpty(client: pg.Client, leaderLock: number): Promise<void> {
  const { rows } = await client.query<{ in_use: boolean; locked: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = $1::bigint::oid AND objsubid = 1
                      AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
         OR EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
                      AND application_name IN ('baton', 'baton-orchestrator')) AS in_use,
            pg_try_advisory_lock($2) AS locked`,
    [leaderLock, MIGRATION_LOCK],
  );
  if (rows[0]?.in_use)
    throw new StartupError('A Baton service uses this database: nothing was changed. Restore into an empty one.');
  if (!rows[0]?.locked)
    throw new StartupError('Another process migrates this database or restores into it: nothing was changed.');
  const found = await findObject(client);
  if (found !== null)
    throw new StartupError(
      `The database is not empty (it has ${found}): nothing was changed. Restore into an empty one.`,
    );
}

async function load(client: pg.Client, source: RowSource, plan: Plan): Promise<Loaded> {
  const { layout } = source;
  await createSchema(client, plan);
  await createPartitions(client, layout);
  const own = new Map((await readTables(client)).map(table => [table.name, table.columns]));
  expectColumns(layout, own);
  const keys = await readForeignKeys(client);
  for (const { table, name } of keys) await client.query(`ALTER TABLE ${quote(table)} DROP CONSTRAINT ${quote(name)}`);
  const triggered = await readTriggeredTables(client);
  for (const table of triggered) await client.query(`ALTER TABLE ${quote(table)} DISABLE TRIGGER USER`);
  // Some migrations insert rows, which the backup has as well, or no longer has.
  await client.query(`TRUNCATE ${[...own.keys()].map(quote).join(', ')}`);
  const loaded: Loaded = { rows: 0, tables: 0, leftOut: [] };
  let next = 0;
  for await (const { name, rows } of source.tables()) {
    const table = layout.tables[next++];
    if (table?.name !== name) throw new StartupError('The rows of the backup are not in the order of its manifest.');
    if (!own.has(name)) {
      loaded.leftOut.push(name);
      continue;
    }
    const count = await copyRows(client, table, rows);
    if (count !== source.rowsOf(name))
      throw new StartupError(`The backup has ${source.rowsOf(name)} rows of ${name}, but ${count} were loaded.`);
    loaded.rows += count;
    loaded.tables += 1;
  }
  if (next !== layout.tables.length) throw new StartupError('The backup lacks the rows of a table.');
  for (const table of triggered) await client.query(`ALTER TABLE ${quote(table)} ENABLE TRIGGER USER`);
  for (const { table, name, definition } of keys)
    await client.query(`ALTER TABLE ${quote(table)} ADD CONSTRAINT ${quote(name)} ${definition}`);
  await setSequences(client, layout);
  return loaded;
}

const quote = (name: string) => pg.escapeIdentifier(name);

/** Creates the partitions of months, which no migration creates; those of an empty database's migrations are the DEFAULT ones. */
async function createPartitions(client: pg.Client, { tables }: Layout): Promise<void> {
  for (const { name, partition } of tables) {
    if (partition === undefined) continue;
    const { of: table, from, to } = partition;
    const month = { table, name: quote(name), from: from ?? Number.NEGATIVE_INFINITY, to };
    const { create, attach } = partitionStatements(month);
    await client.query(create);
    await client.query(attach);
  }
}

/** A table that the migrations do not create is not Baton's. A table of Baton's has exactly the columns that they create. */
function expectColumns(layout: Layout, own: ReadonlyMap<string, readonly string[]>): void {
  const given = new Map(layout.tables.map(({ name, columns }) => [name, columns]));
  for (const [name, columns] of own) {
    const found = given.get(name);
    if (found === undefined) throw new StartupError(`The backup lacks the table ${name}.`);
    const differing = [
      ...found.filter(column => !columns.includes(column)),
      ...columns.filter(c => !found.includes(c)),
    ];
    if (differing.length > 0)
      throw new StartupError(
        `The table ${name} of the backup has other columns than Baton's: ${differing.join(', ')}.`,
      );
  }
}

async function copyRows(
  client: pg.Client,
  { name, columns }: { name: string; columns: readonly string[] },
  rows: AsyncIterable<Buffer>,
): Promise<number> {
  const into = client.query(copyFrom(`COPY ${quote(name)} (${columns.map(quote).join(', ')}) FROM STDIN`));
  await pipeline(Readable.from(rows, { objectMode: false }), into);
  return into.rowCount;
}

async function setSequences(client: pg.Client, { sequences }: Layout): Promise<void> {
  const own = await readSequenceNames(client);
  for (const { name, value, called } of sequences)
    if (own.includes(name))
      await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [quote(name), value, called]);
  const missing = own.find(name => !sequences.some(sequence => sequence.name === name));
  if (missing !== undefined) throw new StartupError(`The backup lacks the sequence ${missing}.`);
}
