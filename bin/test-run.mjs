import { join } from 'node:path';
import { ownNode, root, run } from './process.mjs';

/** Removes Baton's settings from the environment, so that tests use only their own servers and databases. */
export function hideSettings() {
  for (const name of Object.keys(process.env)) {
    if (/^(BATON_(?!TEST_)|DATABASE_URL(_FILE)?$|PORT$|HOST$|NODE_ENV$|NEXTAUTH_)/.test(name)) delete process.env[name];
  }
}

/** Returns a seed for a run of tests without a given seed. */
export const randomSeed = () => 1 + Math.floor(Math.random() * (2 ** 31 - 1));

/** Runs vitest without Baton's settings; resolves to its exit code. */
export function runVitest(args, env) {
  hideSettings();
  return run(ownNode, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...args], { env });
}
