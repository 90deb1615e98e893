import { breakEngine } from './break-engine.ts';
import { MUTATIONS } from './mutations.ts';

/**
 * npm run mutations
 * Breaks the engine in every way that mutations.ts lists. Prints which checker noticed each; the exit code is 1 if none
 * of those in `caughtBy` did. The tests try a sample.
 */
const { noticed, unnoticed } = await breakEngine(MUTATIONS);
console.log(noticed.join('\n'));
console.log(`${noticed.length} of ${MUTATIONS.length} mutations were noticed`);
if (unnoticed.length > 0) {
  console.error(['Not noticed by a checker that is meant to:', ...unnoticed].join('\n'));
  process.exitCode = 1;
}
