/** `npm run fake-model`: a scripted model, to try Baton without a key (docs/fake-model.md). bin/fake-model/run.ts declares its options. */
import { runScript } from './command-line.mjs';
import { install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  return run(ownNode, ['bin/fake-model/run.ts', ...process.argv.slice(2)]);
});
