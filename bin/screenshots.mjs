/** `npm run screenshots`: brings the checkout up to date and takes pictures of the console (CONTRIBUTING.md). */
import { findBrowser } from './browser.mjs';
import { readCommandLine, runScript } from './command-line.mjs';
import { build, generate, install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  const { args } = await readCommandLine('npm run screenshots --', 'Takes pictures of the console.', command => {
    command.argument('[names...]', 'parts of the names of pictures: those alone are taken; kill is the animation');
  });
  await generate();
  await build();
  const env = { BATON_TEST_BROWSER: await findBrowser() };
  return run(ownNode, ['e2e/screenshots/take.ts', ...args], { env });
});
