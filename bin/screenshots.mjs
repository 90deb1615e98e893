/** `npm run screenshots`: brings the checkout up to date and renews the pictures of README.md and docs/tour.md. */
import { findBrowser } from './browser.mjs';
import { readCommandLine, runScript } from './command-line.mjs';
import { build, generate, install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  await readCommandLine('npm run screenshots --', 'Renews the pictures of README.md and docs/tour.md.');
  await generate();
  await build();
  return run(ownNode, ['e2e/screenshots/take.ts'], { env: { BATON_TEST_BROWSER: await findBrowser() } });
});
