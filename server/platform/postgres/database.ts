import pg from 'pg';
import { type Clock, systemClock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { DatabaseClient, writerSearch } from './client.ts';
import { startEmbedded } from './embedded.ts';
import type { PrismaClient } from './generated/client.ts';
import { migrate } from './migrate.ts';
import { expectOwnBackends } from './own-backends.ts';
import { ensurePartitions } from './partitions.ts';
import { createPrismaClient } from './prisma.ts';
import { readOldLogs } from './readable-json.ts';
import { type ReplicationMode, type ReplicationWatch, requireReplication, watchReplication } from './replication.ts';
import { serverName } from './server-list.ts';
import { reason, StartupError } from './startup-error.ts';
import { NoWriterError } from './writer-search.ts';

/**
 * `url`: the URL of an external PostgreSQL; undefined for the embedded one in `dataDir`. `pool` = the maximum number of
 * connections in the pool. `replication`: whether an external one must have a replica; default `warn`.
 */
export type DatabaseOptions = {
  url: string | undefined;
  dataDir: string;
  pool: number;
  replication?: ReplicationMode;
};

export type Database = {
  url: string;
  /** The data folder of the embedded PostgreSQL, if it is not the requested one. */
  movedTo: string | undefined;
  pool: pg.Pool;
  /** Uses the same pool, so `pool` limits all connections of the process. */
  prisma: PrismaClient;
  /** Null for the embedded PostgreSQL, which has no replicas. */
  replication: ReplicationWatch | null;
  /** Closes the pool and stops an embedded PostgreSQL. */
  close(): Promise<void>;
};

/** Connections besides the pool: the leader's session, a migration, psql. */
const SPARE_CONNECTIONS = 10;

/**
 * Opens the database: starts the embedded PostgreSQL or checks the external one (14 or newer), migrates it, and
 * creates the pool and the partitions of the coming months. Throws StartupError with one line for everything that an
 * operator can fix.
 */
export async function openDatabase(
  config: { database: DatabaseOptions },
  logger: Logger,
  clock: Clock = systemClock,
): Promise<Database> {
  const { url: external, dataDir, pool: max, replication: mode = 'warn' } = config.database;
  const embedded = external ? undefined : await startEmbedded(dataDir, max + SPARE_CONNECTIONS, logger);
  try {
    const url = external ?? embedded?.url ?? '';
    if (external) await checkServer(external, mode);
    await migrate(url, logger);
    const pool = createPool(url, max, logger);
    await ensurePartitions(pool, clock, logger).catch(async error => {
      await pool.end();
      throw error;
    });
    const prisma = createPrismaClient(pool);
    const unsubscribe = writerSearch(url)?.onChange((server, before) =>
      logger.warn(
        { from: serverName(before), to: serverName(server) },
        'another server of the database is the primary',
      ),
    );
    const replication = external ? watchReplication({ pool, mode, logger }) : null;
    const close = async () => {
      unsubscribe?.();
      await replication?.close();
      await prisma.$disconnect();
      await pool.end();
      await embedded?.close();
    };
    return { url, movedTo: embedded?.movedTo, pool, prisma, replication, close };
  } catch (error) {
    await embedded?.close();
    throw error;
  }
}

/**
 * Migrates the external PostgreSQL at `url` as `openDatabase` does, and opens nothing: a step before the start. Returns the
 * names of the migrations that it applied. Throws StartupError with one line for everything that an operator can fix.
 */
export async function migrateExternal(
  url: string,
  mode: ReplicationMode | undefined,
  logger: Logger,
): Promise<string[]> {
  await checkServer(url, mode ?? 'warn');
  return migrate(url, logger);
}

/** Creates the pool of the service, with `max` connections. A broken connection never ends the process. */
export function createPool(url: string, max: number, logger: Logger): pg.Pool {
  const pool = new pg.Pool({
    Client: DatabaseClient,
    connectionString: url,
    max,
    application_name: 'baton',
    // If the database hangs, a request waits for a connection and then for an answer, and fails within 15 s.
    connectionTimeoutMillis: 5_000,
    query_timeout: 9_000, // for the case that not even the error of the statement arrives
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // Not sent as connection parameters: poolers such as PgBouncer refuse unknown ones.
    onConnect: async client => {
      await client.query('SET statement_timeout = 8000; SET idle_in_transaction_session_timeout = 60000');
    },
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', error => logger.warn({ err: error }, 'a database connection was lost'));
  // The same applies to a connection that breaks while it is in use; its user gets the error from the next query.
  pool.on('connect', client => void client.on('error', () => undefined));
  return readOldLogs(pool);
}

/** Checks an external server: its version, whether it is reached directly, its replication. Throws StartupError. */
export async function checkServer(url: string, mode: ReplicationMode): Promise<void> {
  const client = newClient(url);
  try {
    await client.connect();
    const { rows } = await client.query<{ number: string; version: string }>(
      "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version",
    );
    checkVersion(Number(rows[0]?.number), rows[0]?.version ?? 'unknown');
    await expectOwnBackends(url);
    if (mode === 'require') await requireReplication(client);
  } catch (cause) {
    if (cause instanceof StartupError) throw cause;
    if (cause instanceof NoWriterError) throw new StartupError(cause.message, { cause });
    throw new StartupError(`The database ${withoutPassword(url)} cannot be reached: ${describeFailure(cause)}`, {
      cause,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

function newClient(url: string): pg.Client {
  try {
    return new DatabaseClient({
      connectionString: url,
      application_name: 'baton-start',
      connectionTimeoutMillis: 10_000,
    });
  } catch (cause) {
    throw new StartupError('DATABASE_URL is not a URL such as postgresql://user:password@host:5432/database.', {
      cause,
    });
  }
}

/** Throws StartupError for a server older than 14 (`number` is server_version_num, such as 140012). */
export function checkVersion(number: number, version: string): void {
  if (number >= 140_000) return;
  throw new StartupError(`The database is PostgreSQL ${version}; Baton needs PostgreSQL 14 or newer.`);
}

function withoutPassword(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname}${port ? `:${port}` : ''}${pathname}`;
  } catch {
    return 'DATABASE_URL';
  }
}

/** Returns the reason of a failed connection. For a host with several addresses, Node throws an AggregateError. */
function describeFailure(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(reason).join(', ') : reason(error);
}
