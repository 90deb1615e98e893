/** `npm run bench`: brings the checkout up to date and measures (docs/benchmarks.md). bench/options.ts declares its options. */
import { runScript } from './command-line.mjs';
import { build, generate, install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  await generate();
  const names = process.argv.slice(2).filter(argument => !argument.startsWith('-'));
  // The one workload that opens the console.
  if (names.length === 0 || names.includes('run-page')) await build();
  return run(ownNode, ['bench/run.ts', ...process.argv.slice(2)]);
});
