import { createHash } from 'node:crypto';
import { chmod, readlink, realpath, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../make-folder.ts';
import { type Cluster, clusterVersion, openCluster } from './cluster.ts';
import { type ClusterUser, closedFolder, clusterUser, SYSTEM_FOLDER } from './cluster-user.ts';
import { reason, StartupError } from './startup-error.ts';

const checkout = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '');

/** The folders in which a clone and the system keep data; tests use others. */
export type Places = { checkout: string; system: string };
const places: Places = { checkout, system: SYSTEM_FOLDER };

export type DataFolder = {
  /** The actual folder, without symbolic links: PostgreSQL's account may not be able to follow them. */
  folder: string;
  /** Whether it is another folder than the requested one. */
  moved: boolean;
  cluster: Cluster;
};

/**
 * Returns the data folder, which exists, can be written and can be reached by PostgreSQL's account. The default one
 * (`.data` in the clone) is replaced by a folder in `/var/lib/baton` if root has cloned into a folder that is closed to
 * that account, such as /root; `.data` is then a link to it. Throws StartupError.
 */
export async function prepareDataFolder(dataDir: string, at: Places = places): Promise<DataFolder> {
  const wanted = resolve(dataDir);
  const linked = await withoutLinks(wanted);
  const user = await clusterUser();
  const closed = user && (await closedFolder(dirname(linked), user));
  const elsewhere = closed !== undefined && (await mayMove(wanted, linked, at));
  const folder = elsewhere ? await moveToSystem(wanted, at) : linked;
  await makeWritable(folder, user);
  const stillClosed = user && (await closedFolder(folder, user));
  if (user && stillClosed) {
    throw new StartupError(
      `PostgreSQL does not run as root but as the account "${user.name}", which may not enter ${stillClosed}: set BATON_DATA_DIR to a folder elsewhere, such as BATON_DATA_DIR=/var/lib/baton, or start Baton as an ordinary user.`,
    );
  }
  const moved = folder !== join(await withoutLinks(dirname(wanted)), basename(wanted));
  return { folder, moved, cluster: await openCluster(join(folder, 'postgres')) };
}

/** Returns the path behind symbolic links, even if it, or the target of a link, does not exist. */
async function withoutLinks(path: string): Promise<string> {
  const target = await readlink(path).catch(() => undefined);
  const followed = target === undefined ? path : resolve(dirname(path), target);
  const found = await realpath(followed).catch(() => undefined);
  if (found !== undefined || dirname(followed) === followed) return found ?? followed;
  return join(await withoutLinks(dirname(followed)), basename(followed));
}

/**
 * Returns whether another folder may replace a closed one: only the default folder, and never one that contains a
 * database.
 */
async function mayMove(wanted: string, linked: string, at: Places): Promise<boolean> {
  return wanted === join(at.checkout, '.data') && (await clusterVersion(join(linked, 'postgres'))) === undefined;
}

/**
 * Moves the data folder to the system's. Its name is derived from the clone's path, so the clone finds its data
 * again even without the link.
 */
async function moveToSystem(wanted: string, at: Places): Promise<string> {
  const clone = await realpath(at.checkout);
  const name = `${basename(clone)}-${createHash('sha256').update(clone).digest('hex').slice(0, 8)}`;
  const folder = join(at.system, name);
  try {
    await makeFolder(folder, 0o711);
    await chmod(at.system, 0o755); // PostgreSQL's account must be able to enter, independently of the umask
    // Fails, and changes nothing, if the folder is not empty.
    await rmdir(wanted).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await symlink(folder, wanted);
  } catch (cause) {
    throw new StartupError(
      `PostgreSQL's account cannot reach ${wanted}, and ${folder} cannot take its place (${reason(cause)}): set BATON_DATA_DIR to a folder elsewhere, or start Baton as an ordinary user.`,
      { cause },
    );
  }
  return folder;
}

async function makeWritable(folder: string, user: ClusterUser | undefined): Promise<void> {
  const probe = join(folder, `.writable-${process.pid}`);
  try {
    await makeFolder(folder, 0o700);
    await writeFile(probe, '');
    await rm(probe);
    if (user) await chmod(folder, 0o711); // as root: the account may enter the folder but not list it
  } catch (cause) {
    throw new StartupError(
      `The data folder ${folder} cannot be written (${reason(cause)}): set BATON_DATA_DIR to a folder that can.`,
      { cause },
    );
  }
}
