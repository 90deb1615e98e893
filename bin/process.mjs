import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The Node that Baton runs on. It is an npm dependency, so that the machine's own Node only has to run npm. */
export const ownNode = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** Prints one line for the person at the terminal. */
export function printLine(line) {
  process.stdout.write(`baton: ${line}\n`);
}

const running = new Set();

/** Runs a command to its end, with the terminal of this process. Resolves to its exit code (128 + n after a signal). */
export function run(command, args, { env = {}, stdio = 'inherit' } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio, env: { ...process.env, ...env } });
    running.add(child);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      running.delete(child);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/**
 * Ends the commands that `run` waits for, such as an installation or a build, which can be repeated. `npm ci` sometimes survives SIGTERM.
 */
export function endCommands() {
  for (const child of running) child.kill('SIGKILL');
}
