/** `npm run retention`: lets go of what is past its retention, or shows what would go (docs/operations.md). */
import { install } from './prepare.mjs';
import { ownNode, run, say } from './process.mjs';

try {
  await install();
  process.exitCode = await run(ownNode, ['server/retention-command.ts', ...process.argv.slice(2)]);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
