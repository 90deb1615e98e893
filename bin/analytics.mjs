/** `npm run analytics`: rebuilds or recounts the sums that analytics answer from (docs/analytics.md). */
import { install } from './prepare.mjs';
import { ownNode, run, say } from './process.mjs';

try {
  await install();
  process.exitCode = await run(ownNode, ['server/analytics-command.ts', ...process.argv.slice(2)]);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
