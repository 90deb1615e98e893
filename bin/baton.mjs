#!/usr/bin/env node
/**
 * `npm run baton -- <command>`: the command line for operators. Installs missing dependencies, and continues on the installation's Node and
 * with its commander.
 */
import { runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  await generate();
  return run(ownNode, ['server/commands/baton.ts', ...process.argv.slice(2)]);
});
