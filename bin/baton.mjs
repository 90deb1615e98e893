#!/usr/bin/env node
/**
 * `npm run baton -- <command>`: the command line for operators. Installs what is missing and hands over to the Node and the
 * library (commander) that come with the installation.
 */
import { runScript } from './command-line.mjs';
import { generate, install } from './prepare.mjs';
import { ownNode, run } from './process.mjs';

await runScript(async () => {
  await install();
  await generate();
  return run(ownNode, ['server/commands/baton.ts', ...process.argv.slice(2)]);
});
