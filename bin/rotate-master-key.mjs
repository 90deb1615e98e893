/** `npm run rotate-master-key`: replaces the generated master key while Baton is stopped (docs/security.md). */
import { install } from './prepare.mjs';
import { ownNode, run, say } from './process.mjs';

try {
  await install();
  process.exitCode = await run(ownNode, ['server/rotate-master-key.ts', ...process.argv.slice(2)]);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
