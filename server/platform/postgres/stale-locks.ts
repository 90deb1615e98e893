import { execFile } from 'node:child_process';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ClusterUser } from './cluster-user.ts';
import { lookUpProcess, type ProcessEntry } from './process-table.ts';

const run = promisify(execFile);
const PID_FILE = 'postmaster.pid';
/** Greater than every system's largest process id (2^22 on Linux, 99,999 on macOS), and still an int for PostgreSQL. */
const NO_PID = 2_147_483_647;
/** PostgreSQL writes a lock file right after creating it; one that stays empty for longer was left by a crash. */
const EMPTY_LOCK_MS = 1_000;

type Folder = { dataDir: string; user: ClusterUser | undefined };

/** Returns the lines of `postmaster.pid`; undefined if there is none. */
export async function readPidFile(dataDir: string): Promise<string[] | undefined> {
  const text = await readFile(join(dataDir, PID_FILE), 'utf8').catch(() => undefined);
  return text?.split('\n').map(line => line.trim());
}

/**
 * Returns the process id of the postmaster that runs on this folder, or undefined. It does not suffice that the
 * id in `postmaster.pid` is in use: after a crash it may be a zombie, and after a reboot or in a new container
 * it is often another process.
 */
export async function livePostmaster(dataDir: string): Promise<number | undefined> {
  const pid = Number((await readPidFile(dataDir))?.[0]);
  return (await isPostmasterOf(await lookUpProcess(pid), dataDir)) ? pid : undefined;
}

async function isPostmasterOf(entry: ProcessEntry, dataDir: string): Promise<boolean> {
  if (entry.state !== 'live') return false;
  // The command line is unknown (Windows, no ps): like PostgreSQL itself, this takes any live process with the id.
  if (entry.command === undefined) return true;
  // pg_ctl starts `postgres -D <folder> -c …`, and a postmaster keeps its command line; its children replace theirs.
  const folder = /postgres(?:\.exe)?"? -D (.+?)(?: -c .*)?$/s.exec(entry.command)?.[1];
  if (folder === undefined) return false;
  try {
    const [theirs, ours] = await Promise.all([stat(folder), stat(dataDir)]);
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    // The folder was moved while its postmaster ran, or may not be read. Two postmasters on
    // one folder would destroy it.
    return true;
  }
}

/**
 * Makes the lock files of a crash harmless: PostgreSQL refuses to start while any process has one of their process ids.
 * Does nothing while a postmaster runs on the folder. `postmaster.pid` stays, with an id that cannot be in use: it also
 * names the shared memory by which PostgreSQL recognizes surviving children of a killed postmaster.
 */
export async function clearStaleLocks(folder: Folder): Promise<void> {
  if (process.platform === 'win32' || (await livePostmaster(folder.dataDir)) !== undefined) return;
  // The postmaster's socket is in the data folder too, so the socket's lock is also stale. PostgreSQL replaces the socket itself.
  await rm(join(folder.dataDir, '.s.PGSQL.5432.lock'), { force: true });
  const lines = await readPidFile(folder.dataDir);
  if (lines === undefined) return;
  if (!/^-?\d+$/.test(lines[0] ?? '')) return removeUnreadable(folder.dataDir);
  // PostgreSQL itself recognizes a process that has ended.
  if ((await lookUpProcess(Number(lines[0]))).state === 'none') return;
  await replacePid(folder, lines);
}

async function replacePid({ dataDir, user }: Folder, lines: string[]): Promise<void> {
  const file = join(dataDir, PID_FILE);
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, [NO_PID, ...lines.slice(1)].join('\n'), { mode: 0o600 });
  if (user) await chown(draft, user.uid, user.gid);
  // Another start may have succeeded meanwhile: its file must stay.
  const unchanged = (await readPidFile(dataDir))?.join('\n') === lines.join('\n');
  if (unchanged && (await livePostmaster(dataDir)) === undefined) await rename(draft, file);
  else await rm(draft, { force: true });
}

async function removeUnreadable(dataDir: string): Promise<void> {
  await delay(EMPTY_LOCK_MS);
  const lines = await readPidFile(dataDir);
  if (lines !== undefined && !/^-?\d+$/.test(lines[0] ?? '')) await rm(join(dataDir, PID_FILE), { force: true });
}

/**
 * Kills the children of a postmaster that was killed. They end by themselves once they notice, but a busy or stopped
 * one does not notice, and keeps PostgreSQL from starting. Only called if there is no postmaster, so nothing is lost.
 */
export async function endOrphans({ dataDir, user }: Folder): Promise<void> {
  if (process.platform === 'win32' || (await livePostmaster(dataDir)) !== undefined) return;
  // As PostgreSQL's account: root without CAP_SYS_PTRACE (most containers) may not see another
  // process's working directory.
  const script =
    'for p in /proc/[0-9]*; do [ "$p/cwd" -ef "$1" ] && grep -qx postgres "$p/comm" && kill -9 "$(basename "$p")"; done; true';
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  await run('/bin/sh', ['-c', script, 'sh', dataDir], { ...identity, cwd: '/' }).catch(() => undefined);
}
