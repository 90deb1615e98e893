/**
 * `npm run consents -- --histories N --seed S`: the long form of the property tests of the permissions of agents and
 * Autopilot. An attacker writes the model's answers in N histories (default 10,000) of agents and a twentieth of that
 * of Autopilot. The histories are drawn from the seed (default: a new one, printed).
 */
import { readCommandLine, runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { printLine } from './process.mjs';
import { randomSeed, runVitest } from './test-run.mjs';

await runScript(async () => {
  await install();
  const command = await readCommandLine(
    'npm run consents --',
    'Lets an attacker speak for the models of agents and of Autopilot (docs/testing.md).',
    (declared, wholeNumber) =>
      declared
        .option('--histories <number>', 'how many of agents; of Autopilot a twentieth', wholeNumber(1), 10_000)
        .option('--seed <number>', 'what they are drawn from; default: a new one, printed', wholeNumber(1)),
  );
  const { histories, seed = randomSeed() } = command.opts();
  await generate();
  printLine(
    `consents: ${histories} histories with seed ${seed}; the same again: npm run consents -- --histories ${histories} --seed ${seed}`,
  );
  return runVitest(['server/domains/agents/hostile-histories', 'server/domains/autopilot/agent/hostile-histories'], {
    BATON_TEST_CONSENTS: String(histories),
    BATON_TEST_SEED: String(seed),
  });
});
