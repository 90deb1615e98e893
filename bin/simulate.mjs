/** `npm run simulate`: the simulation in its long form (docs/testing.md). server/orchestrator/simulation/run.ts declares its options. */
import { runScript } from './command-line.mjs';
import { install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  return run(ownNode, ['server/orchestrator/simulation/run.ts', ...process.argv.slice(2)]);
});
