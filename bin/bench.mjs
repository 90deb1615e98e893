/** `npm run bench`: brings the checkout up to date and measures (docs/benchmarks.md). Its options go on to bench/run.ts. */
import { generate, install } from './prepare.mjs';
import { ownNode, run, say } from './process.mjs';

try {
  await install();
  await generate();
  process.exitCode = await run(ownNode, ['bench/run.ts', ...process.argv.slice(2)]);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
