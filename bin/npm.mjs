import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** How often the parent processes are checked: a signal to npm reaches no other process. */
const INTERVAL_MS = 500;

/** Returns the fields of `/proc/<pid>/stat` after the name, which may contain spaces and parentheses. */
function procStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

const hasProc = existsSync('/proc/self/stat');

/** Returns a value that distinguishes a process from a later one with the same id; undefined once it has ended. */
function identityOf(pid) {
  if (hasProc) {
    const stat = procStat(pid);
    return stat === undefined || stat[0] === 'Z' || stat[0] === 'X' ? undefined : stat[19];
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return undefined;
  }
  return 'alive';
}

/** Returns the parent and the command line of a process, if the system provides them. */
function parentOf(pid) {
  try {
    if (hasProc) {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return { parent: Number(procStat(pid)?.[1]), command };
    }
    const line = execFileSync('ps', ['-ww', '-o', 'ppid=', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    const [, parent, command = ''] = /^\s*(\d+)\s*(.*)/.exec(line) ?? [];
    return { parent: Number(parent), command };
  } catch {
    return { parent: 0, command: '' };
  }
}

/**
 * Returns the processes that run this script for npm: npm, and the shell unless this process has replaced it. Empty if npm did not start
 * this process: then the parent may end at any time (`nohup`, a service manager).
 */
function npmProcesses(env = process.env, script = process.argv[1] ?? '') {
  const lifecycle = env.npm_lifecycle_script;
  if (script === '' || !lifecycle?.includes(basename(script)) || process.ppid <= 0) return [];
  const { parent, command } = parentOf(process.ppid);
  // The shell's command line contains the script; npm's contains its title, such as `npm start`.
  return command.includes(lifecycle) && parent > 0 ? [process.ppid, parent] : [process.ppid];
}

/**
 * Calls `onExit` once npm or its shell has ended: a signal can end both without reaching this process, and its sender
 * then believes that the service has stopped. It watches npm's process and not the terminal, so that `nohup npm start
 * &` continues. Returns a function that ends the watch.
 */
export function watchNpm(onExit) {
  const parent = process.ppid;
  const watched = npmProcesses().map(pid => ({ pid, identity: identityOf(pid) }));
  if (watched.length === 0) return () => undefined;
  const timer = setInterval(() => {
    const ended = watched.find(({ pid, identity }) => identity === undefined || identityOf(pid) !== identity);
    if (ended === undefined && process.ppid === parent) return;
    clearInterval(timer);
    onExit(ended?.pid ?? parent);
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
