/**
 * `npm run faults -- --rounds N --seed S`: the faults on the real process in their long form. Every fault is injected N times
 * as often as in `npm test` (default 5), at instants drawn from the seed (default: a new one, printed). What follows `--` goes
 * to vitest, such as the name of a file.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generate, install } from './prepare.mjs';
import { ownNode, root, run, say } from './process.mjs';

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const whole = (name, text) => {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return String(number);
  say(`--${name} is a whole number above 0, not ${text}`);
  process.exit(2);
};
const seed = whole('seed', values.seed ?? String(1 + Math.floor(Math.random() * (2 ** 31 - 1))));
const rounds = whole('rounds', values.rounds);

await install();
await generate();
// The tests' own servers and databases are all they may see.
for (const name of Object.keys(process.env)) {
  if (/^(BATON_(?!TEST_)|DATABASE_URL$|PORT$|HOST$|NODE_ENV$|NEXTAUTH_)/.test(name)) delete process.env[name];
}
say(`faults: ${rounds} rounds with seed ${seed}; the same again: npm run faults -- --rounds ${rounds} --seed ${seed}`);
process.exitCode = await run(
  ownNode,
  // One file at a time: what a fault is to find at work should not have to wait for another one's.
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--no-file-parallelism',
    ...(positionals.length > 0 ? positionals : ['e2e/faults']),
  ],
  { env: { BATON_TEST_FAULT_SEED: seed, BATON_TEST_FAULT_ROUNDS: rounds } },
);
