import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '../bin/node-flags.mjs';

/** A system that can be measured: the file of its process, its settings, and the flags for its Node (default: none). */
export type Candidate = {
  name: string;
  file: string;
  env: Record<string, string>;
  flags?: readonly string[];
  needs?: () => string | undefined;
};

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const baton: Candidate = { name: 'baton', file: file('./baton/system.ts'), env: {}, flags: nodeFlags };

/** Baton without prices, to measure the cost of charging. */
export const free: Candidate = { ...baton, name: 'baton-free', env: { BENCH_FREE: '1' } };

/** Returns Baton in another checkout, with that checkout's dependencies and flags. */
export const checkout = (folder: string): Candidate => ({
  name: 'baton-beside',
  file: join(folder, 'bench/baton/system.ts'),
  env: {},
  flags: flagsOf(folder),
});

/** Returns the flags with which a checkout starts its service; none if the checkout is older than the file with the flags. */
function flagsOf(folder: string): readonly string[] {
  const declared = join(folder, 'bin/node-flags.mjs');
  if (!existsSync(declared)) return [];
  const loaded: { nodeFlags: readonly string[] } = createRequire(import.meta.url)(declared);
  return loaded.nodeFlags;
}

/** The peers that install from npm. `needs` names what is missing on this machine. */
export const peers: readonly Candidate[] = [
  { name: 'bullmq', file: file('./peers/bullmq/system.mjs'), env: {}, needs: redisServer },
  { name: 'restate', file: file('./peers/restate/system.mjs'), env: {} },
  { name: 'restate-1', file: file('./peers/restate/system.mjs'), env: { BENCH_RESTATE_PARTITIONS: '1' } },
  { name: 'dbos', file: file('./peers/dbos/system.mjs'), env: {} },
  { name: 'graphile-worker', file: file('./peers/graphile-worker/system.mjs'), env: {} },
];

function redisServer(): string | undefined {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no redis-server on this machine';
  }
}

/** Returns whether the peers are installed in bench/peers. */
export function peersAreInstalled(): boolean {
  return existsSync(file('./peers/node_modules/.package-lock.json'));
}

/**
 * Installs the exact versions of bench/peers/package-lock.json, in a separate folder: they are never dependencies of the product. `npm ci`
 * would refuse a lock file that lacks the binaries of platforms other than the one where it was created.
 */
export function installPeers(): void {
  const npm = process.env.npm_execpath;
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const [command, before] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  execFileSync(command, [...before, ...args], { cwd: file('./peers'), stdio: ['ignore', 'ignore', 'inherit'] });
}
