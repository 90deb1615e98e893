import { execFile } from 'node:child_process';
import { access, chmod, constants, cp, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder } from '../make-folder.ts';
import type { ClusterBinaries } from './cluster.ts';
import { reason, StartupError } from './startup-error.ts';

const run = promisify(execFile);
const NAME = 'postgres';
/** The folder in which root keeps files that PostgreSQL's account must reach but cannot reach in the clone. */
export const SYSTEM_FOLDER = '/var/lib/baton';

export type ClusterUser = { name: string; uid: number; gid: number };

async function lookUp(): Promise<ClusterUser> {
  const id = async (flag: string) => Number.parseInt((await run('id', [flag, NAME])).stdout, 10);
  return { name: NAME, uid: await id('-u'), gid: await id('-g') };
}

/**
 * Returns the account PostgreSQL runs under: undefined (our own) unless we are root, which PostgreSQL refuses. As root
 * the system's `postgres` account is used, and created if it is missing (`useradd`, or BusyBox's `adduser`).
 */
export async function clusterUser(): Promise<ClusterUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  try {
    return await lookUp();
  } catch {
    const commands: [string, string[]][] = [
      ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', NAME]],
      ['adduser', ['-S', '-D', '-H', NAME]],
    ];
    for (const [command, args] of commands) {
      const made = await run(command, args).then(lookUp, () => undefined);
      if (made) return made;
    }
    throw new StartupError(
      `PostgreSQL does not run as root and the account "${NAME}" could not be made: start Baton as an ordinary user.`,
    );
  }
}

/** Returns the first folder on the way to `path` that `user` may not enter, or undefined if there is none. */
export async function closedFolder(path: string, user: ClusterUser): Promise<string | undefined> {
  const parent = dirname(path);
  if (parent !== path) {
    const closed = await closedFolder(parent, user);
    if (closed) return closed;
  }
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) return undefined;
  const shift = found.uid === user.uid ? 6 : found.gid === user.gid ? 3 : 0;
  return (found.mode >> shift) & 1 ? undefined : path;
}

/**
 * Returns the folder for the copies. The temporary folder is only the fallback, because cleaning it removes files of running
 * programs.
 */
async function copies(): Promise<string> {
  try {
    await makeFolder(SYSTEM_FOLDER, 0o755);
    await chmod(SYSTEM_FOLDER, 0o755); // independently of the umask
    return SYSTEM_FOLDER;
  } catch {
    const folder = join(tmpdir(), 'baton-postgres');
    await mkdir(folder, { mode: 0o755 }).catch(() => undefined);
    return folder;
  }
}

/**
 * Returns binaries that `user` can execute. It cannot reach node_modules below a home folder of mode 0700 (`/root` in
 * most containers), so they are copied once into a folder that it can reach.
 */
export async function reachableBinaries(
  binaries: ClusterBinaries,
  user: ClusterUser | undefined,
): Promise<ClusterBinaries> {
  const bin = dirname(binaries.postgres);
  if (!user || (await closedFolder(bin, user)) === undefined) return binaries;
  const native = dirname(bin);
  const { mtimeMs, size } = await stat(binaries.postgres);
  const target = join(await copies(), `postgres-${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}`);
  const copy = { initdb: 'initdb', pg_ctl: 'pg_ctl', postgres: 'postgres' };
  const place = (name: string) => join(target, 'bin', basename(name));
  try {
    const present = await stat(target).catch(() => undefined);
    // A folder of that name that belongs to another user must not be executed.
    if (present && present.uid !== 0) throw new Error(`${target} belongs to another user`);
    if (!present) {
      const building = await mkdtemp(`${target}.`);
      await cp(native, building, { recursive: true, verbatimSymlinks: true });
      await run('chmod', ['-R', 'a+rX', building]);
      await rename(building, target).catch(() => rm(building, { recursive: true, force: true }));
    }
    await access(place('postgres'), constants.X_OK);
  } catch (cause) {
    throw new StartupError(
      `PostgreSQL runs as the account "${user.name}", which cannot reach ${bin}, and the binaries could not be copied: ${reason(cause)}.`,
      { cause },
    );
  }
  return { initdb: place(copy.initdb), pg_ctl: place(copy.pg_ctl), postgres: place(copy.postgres) };
}
