/**
 * `npm run fuzz -- --cases N --seed S`: the long form of the fuzz test of the edge. Sends N cases (default 1,000,000), drawn from the seed
 * (default: a new one, printed), to a real service. `--first B` starts with the B-th connection, which the message of a failure names.
 */
import { readCommandLine, runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { printLine } from './process.mjs';
import { randomSeed, runVitest } from './test-run.mjs';

await runScript(async () => {
  await install();
  const command = await readCommandLine(
    'npm run fuzz --',
    'Sends seeded bytes to a real service (docs/testing.md).',
    (declared, wholeNumber) =>
      declared
        .option('--cases <number>', 'how many', wholeNumber(1), 1_000_000)
        .option('--seed <number>', 'what they are drawn from; default: a new one, printed', wholeNumber(1))
        .option('--first <number>', 'the connection to begin with', wholeNumber(0), 0),
  );
  const { cases, seed = randomSeed(), first } = command.opts();
  await generate();
  printLine(`fuzz: ${cases} cases with seed ${seed}; the same again: npm run fuzz -- --cases ${cases} --seed ${seed}`);
  return runVitest(['e2e/fuzz'], {
    BATON_TEST_FUZZ_CASES: String(cases),
    BATON_TEST_SEED: String(seed),
    BATON_TEST_FUZZ_FIRST: String(first),
  });
});
