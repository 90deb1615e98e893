/** `npm run mutations`: breaks the engine in every way that the simulation has to notice (docs/testing.md). */
import { readCommandLine, runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  await readCommandLine(
    'npm run mutations --',
    'Breaks the engine in every way that the simulation has to notice, and prints what noticed each.',
  );
  await generate();
  return run(ownNode, ['server/orchestrator/simulation/mutate.ts']);
});
