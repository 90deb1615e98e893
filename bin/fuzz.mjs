/**
 * `npm run fuzz -- --cases N --seed S`: the fuzz test of the edge in its long form: N cases (default 1,000,000) drawn from the seed
 * (default: a new one, printed), sent to a real service. `--first B` begins with the B-th connection, as the message of a failure says.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generate, install } from './prepare.mjs';
import { ownNode, root, run, say } from './process.mjs';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    seed: { type: 'string' },
    first: { type: 'string', default: '0' },
  },
});
const whole = (name, text, least) => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least) return String(number);
  say(`--${name} is a whole number from ${least}, not ${text}`);
  process.exit(2);
};
const cases = whole('cases', values.cases, 1);
const seed = whole('seed', values.seed ?? String(1 + Math.floor(Math.random() * (2 ** 31 - 1))), 1);
const first = whole('first', values.first, 0);

await install();
await generate();
// The test's own server and database are all it may see.
for (const name of Object.keys(process.env)) {
  if (/^(BATON_(?!TEST_)|DATABASE_URL$|PORT$|HOST$|NODE_ENV$|NEXTAUTH_)/.test(name)) delete process.env[name];
}
say(`fuzz: ${cases} cases with seed ${seed}; the same again: npm run fuzz -- --cases ${cases} --seed ${seed}`);
process.exitCode = await run(ownNode, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'e2e/fuzz'], {
  env: { BATON_TEST_FUZZ_CASES: cases, BATON_TEST_FUZZ_SEED: seed, BATON_TEST_FUZZ_FIRST: first },
});
