#!/usr/bin/env node
/**
 * `npm run baton -- <command>`: the command line for operators. Installs what is missing and hands over to the Node and the
 * library (commander) that come with the installation.
 */
import { generate, install } from './prepare.mjs';
import { ownNode, run, say } from './process.mjs';

try {
  await install();
  await generate();
  process.exitCode = await run(ownNode, ['server/commands/baton.ts', ...process.argv.slice(2)]);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
