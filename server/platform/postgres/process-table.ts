import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The state of a process id: no process, a zombie (ended, but not reaped by its parent), or a live process with its
 * command line. `command` is undefined if the system does not reveal it.
 */
export type ProcessEntry = { state: 'none' } | { state: 'zombie' } | { state: 'live'; command: string | undefined };

/** Looks up a process id. Reads /proc if it exists, because slim containers have no `ps`; macOS only has `ps`. */
export async function lookUpProcess(pid: number): Promise<ProcessEntry> {
  if (!Number.isInteger(pid) || pid <= 0) return { state: 'none' };
  if (process.platform === 'win32') return signalled(pid);
  return existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);
}

/** Returns whether a process with this id exists and has not ended. */
export async function isAlive(pid: number): Promise<boolean> {
  return (await lookUpProcess(pid)).state === 'live';
}

async function fromProc(pid: number): Promise<ProcessEntry> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // `pid (name) state …`: the name may contain parentheses itself.
  const state = stat.charAt(stat.lastIndexOf(')') + 2);
  if (stat === '' || state === 'X') return { state: 'none' };
  if (state === 'Z') return { state: 'zombie' };
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  return { state: 'live', command: command?.replaceAll('\0', ' ').trim() };
}

async function fromPs(pid: number): Promise<ProcessEntry> {
  try {
    const { stdout } = await run('ps', ['-ww', '-o', 'stat=', '-o', 'command=', '-p', String(pid)]);
    const [, state = '', command = ''] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(stdout) ?? [];
    return state.startsWith('Z') ? { state: 'zombie' } : { state: 'live', command };
  } catch (error) {
    // `ps` exits with 1 if there is no such process.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? signalled(pid) : { state: 'none' };
  }
}

function signalled(pid: number): ProcessEntry {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return { state: 'none' };
  }
  return { state: 'live', command: undefined };
}
