import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clusterUrl, initCluster, listenIn, openCluster, startCluster } from './cluster.ts';
import { reason, StartupError } from './startup-error.ts';

const reaper = fileURLToPath(new URL('./cluster-reaper.ts', import.meta.url));

/** Nothing has to survive a crash here. */
const SETTINGS = {
  max_connections: 20,
  shared_buffers: '64MB',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  autovacuum: 'off',
  jit: 'off',
};

/**
 * Starts a cluster in a new folder of the system's temporary folder (TMPDIR). It is stopped, and its folder removed, by `close`, or
 * however this process ends. Throws StartupError.
 */
export async function openThrowaway(): Promise<{ url: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-throwaway-')).catch((cause: NodeJS.ErrnoException) => {
    throw new StartupError(`The temporary folder ${tmpdir()} cannot be written (${cause.code}): set TMPDIR.`, {
      cause,
    });
  });
  const child = spawn(process.execPath, [reaper, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const reaped = new Promise<void>(resolve => child.once('exit', () => resolve()));
  // Neither the reaper nor its pipe may keep this process alive; closing the pipe ends the reaper.
  child.unref();
  const close = async () => {
    child.ref();
    child.stdin.end();
    await reaped;
  };
  try {
    const cluster = await openCluster(join(folder, 'data'));
    if (cluster.user) await chown(folder, cluster.user.uid, cluster.user.gid);
    const password = randomBytes(12).toString('hex');
    await initCluster(cluster, password, false);
    const listen = await listenIn(folder);
    await startCluster(cluster, listen, SETTINGS, join(folder, 'postgres.log'));
    return { url: clusterUrl(listen, password, 'postgres'), close };
  } catch (cause) {
    await close();
    throw cause instanceof StartupError
      ? cause
      : new StartupError(`A throw-away PostgreSQL could not be started in ${folder}: ${reason(cause)}`, { cause });
  }
}
