/**
 * `npm run faults -- --rounds N --seed S`: the long form of the fault tests of the real process. Every fault is
 * injected N times as often as in `npm test` (default 5), at instants drawn from the seed (default: a new one,
 * printed).
 */
import { readCommandLine, runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { printLine } from './process.mjs';
import { randomSeed, runVitest } from './test-run.mjs';

await runScript(async () => {
  await install();
  const command = await readCommandLine(
    'npm run faults --',
    'Injects faults into the real process (docs/testing.md).',
    (declared, wholeNumber) =>
      declared
        .option('--rounds <number>', 'how often each fault is injected', wholeNumber(1), 5)
        .option('--seed <number>', 'what their instants are drawn from; default: a new one, printed', wholeNumber(1))
        .argument('[files...]', 'test files', ['e2e/faults']),
  );
  const { rounds, seed = randomSeed() } = command.opts();
  const [files] = command.processedArgs;
  await generate();
  printLine(
    `faults: ${rounds} rounds with seed ${seed}; the same again: npm run faults -- --rounds ${rounds} --seed ${seed}`,
  );
  // One file at a time, because a fault for the process of one file would slow down the process of another.
  return runVitest(['--no-file-parallelism', ...files], {
    BATON_TEST_SEED: String(seed),
    BATON_TEST_FAULT_ROUNDS: String(rounds),
  });
});
