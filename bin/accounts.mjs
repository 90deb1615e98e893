/** `npm run accounts`: lists accounts and resets passwords, for operators (docs/operations.md). */
import { install } from './prepare.mjs';
import { ownNode, run, say } from './process.mjs';

try {
  await install();
  process.exitCode = await run(ownNode, ['server/accounts-command.ts', ...process.argv.slice(2)]);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
