import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The Node that Baton runs on: an npm dependency, so that the machine's own only has to run npm. */
export const ownNode = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** One line for the person at the terminal. */
export function say(line) {
  process.stdout.write(`baton: ${line}\n`);
}

/** Runs a command to its end with our terminal; resolves to its exit code (128 + n after a signal). */
export function run(command, args, { env = {}, stdio = 'inherit' } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio, env: { ...process.env, ...env } });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === 'SIGINT' ? 2 : 15)));
  });
}

/**
 * Runs a command in our place: signals go on to it and its exit code becomes ours. It gets a process group of its own,
 * because Ctrl-C reaches a whole group, and npm passes it on once more: the command would see it three times.
 */
export function become(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: root,
    detached: process.platform !== 'win32',
    // The channel tells the command when we are killed without a chance to pass anything on.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  const last = new Map();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const now = Date.now();
      if (now - (last.get(signal) ?? 0) > 1000) child.kill(signal);
      last.set(signal, now);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}
