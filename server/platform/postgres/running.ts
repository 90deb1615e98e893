import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from '../logger.ts';
import { clusterUrl, isRunning, openCluster, postmaster } from './cluster.ts';
import type { DatabaseOptions } from './database.ts';
import { DATABASE, startEmbedded } from './embedded.ts';
import { livePostmaster } from './stale-locks.ts';
import { StartupError } from './startup-error.ts';

/** The maximum number of connections: a command needs one or two. */
const CONNECTIONS = 10;

/**
 * Opens the database for a command: the external one, or the embedded one, which is used if it is running (started by
 * any process) and otherwise started until `close`. Applies no migrations. Throws StartupError.
 */
export async function reachDatabase(
  { url, dataDir }: Pick<DatabaseOptions, 'url' | 'dataDir'>,
  logger: Logger,
): Promise<{ url: string; close(): Promise<void> }> {
  if (url !== undefined) return { url, close: async () => undefined };
  const folder = resolve(dataDir);
  const password = await readFile(join(folder, 'postgres.password'), 'utf8').catch(() => undefined);
  if (password === undefined) {
    throw new StartupError(
      `There is no database in ${folder}: set BATON_DATA_DIR or DATABASE_URL to the one that Baton uses.`,
    );
  }
  const cluster = await openCluster(join(folder, 'postgres'));
  const running = (await isRunning(cluster)) ? await postmaster(cluster.dataDir) : undefined;
  if (running) return { url: clusterUrl(running.listen, password.trim(), DATABASE), close: async () => undefined };
  return startEmbedded(dataDir, CONNECTIONS, logger);
}

/** Where the embedded database of a data folder is, or why it cannot be asked. `folder` is absolute. */
export type FoundEmbedded =
  | { state: 'running'; folder: string; url: string; password: string }
  | { state: 'absent' | 'stopped'; folder: string }
  | { state: 'unreadable'; folder: string; code: string };

/** Finds the embedded database without starting or creating anything. */
export async function findEmbedded(dataDir: string): Promise<FoundEmbedded> {
  const folder = resolve(dataDir);
  let password: string;
  try {
    password = (await readFile(join(folder, 'postgres.password'), 'utf8')).trim();
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { state: 'absent', folder } : { state: 'unreadable', folder, code };
  }
  const cluster = join(folder, 'postgres');
  const running = (await livePostmaster(cluster)) === undefined ? undefined : await postmaster(cluster);
  if (running === undefined) return { state: 'stopped', folder };
  return { state: 'running', folder, password, url: clusterUrl(running.listen, password, DATABASE) };
}

/**
 * Stops the embedded PostgreSQL that a killed Baton left running in `dataDir`; does nothing if none is running. Throws
 * StartupError if another Baton uses it.
 */
export async function stopLeftBehind(dataDir: string, logger: Logger): Promise<void> {
  if (!(await isRunning(await openCluster(join(resolve(dataDir), 'postgres'))))) return;
  // Starting it makes this process its owner, waits for a PostgreSQL that still recovers, and fails if it is in use.
  const { close } = await startEmbedded(dataDir, CONNECTIONS, logger);
  await close();
}
