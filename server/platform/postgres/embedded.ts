import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../logger.ts';
import {
  type Cluster,
  clusterMajor,
  clusterUrl,
  clusterVersion,
  initCluster,
  isRunning,
  type Listen,
  listenIn,
  postmaster,
  startCluster,
  stopCluster,
} from './cluster.ts';
import { prepareDataFolder } from './data-folder.ts';
import { clearStaleLocks, endOrphans } from './stale-locks.ts';
import { reason, StartupError } from './startup-error.ts';

/** The database in an embedded cluster. */
export const DATABASE = 'baton';
/** A session lock in the `postgres` database, held by the process that owns the data folder. */
const OWNER_LOCK = 4_216_034;
/** The number of attempts to start, up to 30 s, while another process ends a PostgreSQL. */
const START_ATTEMPTS = 60;
const START_INTERVAL_MS = 500;
/** Children of a killed postmaster are still attached to its shared memory. */
const SURVIVORS = /pre-existing shared memory block/;
/** Temporary refusals, because of surviving children or of another start that came first. */
const RETRIED = /pre-existing shared memory block|lock file ".*" (?:already exists|is empty)/;

export type EmbeddedPostgres = {
  url: string;
  /** The data folder, if it is not the requested one. */
  movedTo: string | undefined;
  /** Stops PostgreSQL after a final checkpoint; `immediate`: without one, which a full disk would not let end. */
  close(mode?: 'fast' | 'immediate'): Promise<void>;
};

/**
 * Starts PostgreSQL in `<dataDir>/postgres`, creating the cluster at the first start. A PostgreSQL that a killed Baton
 * left running is adopted; if another living Baton owns it, that is a StartupError. Ownership is a session lock inside
 * PostgreSQL rather than a pid file: the kernel closes a killed process's session, while pids are reused.
 */
export async function startEmbedded(
  dataDir: string,
  maxConnections: number,
  logger: Logger,
): Promise<EmbeddedPostgres> {
  const { folder, moved, cluster } = await prepareDataFolder(dataDir);
  const password = await ensurePassword(join(folder, 'postgres.password'));
  if ((await clusterVersion(cluster.dataDir)) === undefined) {
    logger.info({ folder }, 'making the database');
    await initCluster(cluster, password);
  }
  await checkMajor(cluster, folder);
  const settings = tuning(maxConnections);
  const start = async () => takeOwnership(await ensureRunning(cluster, settings, password), password, folder);

  let owner = await start();
  let closing = false;
  const watch = async (client: pg.Client): Promise<void> => {
    await new Promise<void>(gone => client.once('end', () => gone()));
    while (!closing) {
      logger.error('the embedded PostgreSQL went away; bringing it back');
      try {
        owner = await start();
        return watch(owner.client);
      } catch (error) {
        logger.error({ err: error }, 'the embedded PostgreSQL could not be brought back');
        await delay(1000);
      }
    }
  };
  void watch(owner.client);
  await ensureDatabase(owner.client);
  return {
    url: clusterUrl(owner.listen, password, DATABASE),
    movedTo: moved ? folder : undefined,
    close: async mode => {
      closing = true;
      await stopCluster(cluster, mode);
      await owner.client.end().catch(() => undefined);
    },
  };
}

/**
 * Returns the superuser's password, created at the first start. Of two concurrent first starts only one creates the
 * file, so both use the same password.
 */
async function ensurePassword(file: string): Promise<string> {
  // Written completely under another name, then linked: a crash never leaves an empty file.
  const draft = `${file}.${process.pid}`;
  try {
    await rm(draft, { force: true });
    await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

async function checkMajor(cluster: Cluster, folder: string): Promise<void> {
  const [made, ours] = await Promise.all([clusterVersion(cluster.dataDir), clusterMajor(cluster.binaries)]);
  if (made === ours) return;
  throw new StartupError(
    `The data folder ${folder} was made by PostgreSQL ${made} and this version of Baton brings PostgreSQL ${ours}: dump it with the old version and load it into a new folder (docs/operations.md).`,
  );
}

/** Ensures that a postmaster runs on the folder, ours or an adopted one, and returns where it listens. */
async function ensureRunning(
  cluster: Cluster,
  settings: Record<string, string | number>,
  password: string,
): Promise<Listen> {
  for (let attempt = 1; ; attempt++) {
    const running = (await isRunning(cluster)) ? await postmaster(cluster.dataDir) : undefined;
    if (running && (await acceptsConnection(running.listen, password))) return running.listen;
    // It is about to listen or to end: the next attempt will show which.
    const failure = running
      ? `process ${running.pid} runs on ${cluster.dataDir} and does not answer`
      : await tryStart(cluster, settings);
    if (typeof failure !== 'string') return failure.listen;
    if (attempt === START_ATTEMPTS || !(running || RETRIED.test(failure)))
      throw new StartupError(`PostgreSQL did not start: ${failure} (see ${startupLog(cluster)})`);
    await delay(START_INTERVAL_MS);
  }
}

const startupLog = (cluster: Cluster) => join(cluster.dataDir, 'startup.log');

/** Starts PostgreSQL. Returns where it listens, or why it ended. */
async function tryStart(
  cluster: Cluster,
  settings: Record<string, string | number>,
): Promise<{ listen: Listen } | string> {
  const listen = await listenIn(cluster.dataDir);
  const logFile = startupLog(cluster);
  // Read below, so it must contain only the messages of this start.
  await rm(logFile, { force: true });
  await clearStaleLocks(cluster);
  try {
    await startCluster(cluster, listen, settings, logFile);
    return { listen };
  } catch (cause) {
    const log = await readFile(logFile, 'utf8').catch(() => '');
    const failures = log
      .trim()
      .split('\n')
      .filter(line => /FATAL|PANIC|ERROR/.test(line));
    if (failures.some(line => SURVIVORS.test(line))) await endOrphans(cluster);
    return failures.at(-1) ?? reason(cause);
  }
}

/** Returns whether a running server accepts our connection, waiting while it starts or recovers; false if it ends. */
async function acceptsConnection(listen: Listen, password: string): Promise<boolean> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const client = connection(listen, password);
    try {
      await client.connect();
      return true;
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === '28P01') throw new StartupError('The file postgres.password does not fit the database beside it.');
      if (code !== '57P03') return false; // anything but "is starting up" or "is shutting down"
      await delay(200);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return false;
}

type Owner = { client: pg.Client; listen: Listen };

/**
 * Acquires the folder's lock on a session that stays open. The session of a killed predecessor takes a moment to end.
 */
async function takeOwnership(listen: Listen, password: string, folder: string): Promise<Owner> {
  const client = connection(listen, password);
  client.on('error', () => undefined); // 'end' follows, to which the watch reacts
  await client.connect();
  for (let attempt = 0; attempt < 20; attempt++) {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [OWNER_LOCK]);
    if (rows[0]?.locked) return { client, listen };
    await delay(100);
  }
  const { rows } = await client.query<{ application_name: string }>(
    `SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.objid = $1 AND l.granted`,
    [OWNER_LOCK],
  );
  await client.end();
  throw new StartupError(
    `Another Baton (${rows[0]?.application_name.replace('baton-', '') ?? 'unknown process'}) uses the data folder ${folder}: stop it, or set BATON_DATA_DIR to another folder.`,
  );
}

function connection(listen: Listen, password: string): pg.Client {
  return new pg.Client({
    connectionString: clusterUrl(listen, password, 'postgres'),
    application_name: `baton-process ${process.pid}`,
    connectionTimeoutMillis: 10_000,
  });
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
  if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
}

/**
 * Durability is PostgreSQL's default, and set explicitly to make it clear: a commit is on disk before it is
 * acknowledged. The other settings suit a machine shared with the application: an eighth of its memory, fewer and
 * longer checkpoints.
 */
function tuning(maxConnections: number): Record<string, string | number> {
  const megabytes = Math.floor(totalmem() / 1024 / 1024);
  return {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    max_connections: Math.max(50, maxConnections + 20),
    shared_buffers: `${Math.min(512, Math.max(64, Math.floor(megabytes / 8)))}MB`,
    effective_cache_size: `${Math.max(128, Math.floor(megabytes / 2))}MB`,
    wal_buffers: '16MB',
    min_wal_size: '256MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    random_page_cost: 1.1,
    jit: 'off', // every query is short; compiling one costs more than running it
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%a.log', // seven files, each overwritten a week later
    log_truncate_on_rotation: 'on',
    log_rotation_age: '1d',
    log_rotation_size: 0,
    log_min_error_statement: 'panic', // statements and row values may contain data that must not be in a log
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
  };
}
