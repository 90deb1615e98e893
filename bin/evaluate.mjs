/**
 * `npm run evaluate -- --model provider/model --attempts 3`: asks Autopilot to reach goals, each of which a machine checks, and prints
 * what passed, and its tokens and credits. The model's key is read from EVALUATE_API_KEY. Without a model, a script solves the goals.
 */
import { readCommandLine, runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { say } from './process.mjs';
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
        .option('--goals <names>', 'some of them, separated by commas'),
  );
  const { model, url, attempts, goals } = command.opts();
  const key = process.env.EVALUATE_API_KEY;
  await generate();
  say(`evaluate: ${attempts} attempts at each goal with ${model ?? 'the script'}`);
  return runVitest(['bench/evaluate'], {
    BATON_TEST_EVALUATE_ATTEMPTS: String(attempts),
    ...(model && { BATON_TEST_EVALUATE_MODEL: model }),
    ...(url && { BATON_TEST_EVALUATE_URL: url }),
    ...(key && { BATON_TEST_EVALUATE_KEY: key }),
    ...(goals && { BATON_TEST_EVALUATE_GOALS: goals }),
  });
});
