/** `npm run build`: installs, generates and builds what has changed, as `npm start` does before it serves. */
import { readCommandLine, runScript } from './command-line.mjs';
import { build, generate, install } from './prepare.mjs';

await runScript(async () => {
  await install();
  await readCommandLine(
    'npm run build --',
    'Generates the database client and builds the console where they have changed.',
  );
  await generate();
  await build();
  return 0;
});
