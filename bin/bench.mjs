/** `npm run bench`: brings the checkout up to date and measures (docs/benchmarks.md). bench/options.ts declares its options. */
import { runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  await generate();
  return run(ownNode, ['bench/run.ts', ...process.argv.slice(2)]);
});
