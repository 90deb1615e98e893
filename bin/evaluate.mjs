/**
 * `npm run evaluate -- --model provider/model --attempts 3`: gives Autopilot goals that a machine checks, and prints the results, tokens
 * and credits. With --injections, agents read texts that contain a stranger's orders, and it prints which attacks succeeded. The model's
 * key is read from EVALUATE_API_KEY. Without a model, a script plays the model: it solves the goals, or attacks.
 */
import { readCommandLine, runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { printLine } from './process.mjs';
import { runVitest } from './test-run.mjs';

await runScript(async () => {
  await install();
  const command = await readCommandLine(
    'npm run evaluate --',
    'Asks Autopilot to reach goals that machines check (docs/autopilot.md).',
    (declared, wholeNumber) =>
      declared
        .option('--model <provider/model>', 'who solves them; default: a script')
        .option('--url <address>', 'the base URL of an openai_compatible server')
        .option('--attempts <number>', 'at each goal', wholeNumber(1), 3)
        .option('--goals <names>', 'some of them, separated by commas')
        .option(
          '--injections [cases]',
          'instead of the goals: attacks by texts that agents read; default: all of them',
          wholeNumber(1),
        ),
  );
  const { model, url, attempts, goals, injections } = command.opts();
  const key = process.env.EVALUATE_API_KEY;
  await generate();
  const isAttack = injections !== undefined;
  const who = model ?? 'the script';
  printLine(
    isAttack ? `evaluate: injections into agents of ${who}` : `evaluate: ${attempts} attempts at each goal with ${who}`,
  );
  return runVitest([isAttack ? 'bench/evaluate/injections' : 'bench/evaluate/evaluate.test.ts'], {
    ...(isAttack
      ? { BATON_TEST_EVALUATE_INJECTIONS: injections === true ? 'all' : String(injections) }
      : { BATON_TEST_EVALUATE_ATTEMPTS: String(attempts) }),
    ...(model && { BATON_TEST_EVALUATE_MODEL: model }),
    ...(url && { BATON_TEST_EVALUATE_URL: url }),
    ...(key && { BATON_TEST_EVALUATE_KEY: key }),
    ...(goals && { BATON_TEST_EVALUATE_GOALS: goals }),
  });
});
