import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { z } from 'zod';
import { parseArguments, runScript } from '../command-line.mjs';
import { Script } from './script.ts';
import { startFakeModel } from './server.ts';

/** `npm run fake-model`: serves until it is interrupted. */
const command = new Command('npm run fake-model --')
  .description(
    'Serves a scripted, OpenAI-compatible model on this machine, to try Baton without a key (docs/fake-model.md).',
  )
  .option('--port <number>', 'where it listens', portNumber, 4100)
  .option('--script <file>', 'its answers, as JSON; default: it uses the tools that are offered, then answers')
  .option('--pause <ms>', 'how long it waits before each piece of an answer', milliseconds);
const { port, script: file, pause } = parseArguments(command).opts();

await runScript(async () => {
  const script = { ...readScript(file), ...(pause === undefined ? {} : { pause_ms: pause }) };
  const fake = await startFakeModel({ port, script });
  console.log(`The fake model serves ${fake.url}. Press Ctrl-C to stop it.`);
  await new Promise<void>(resolve => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  await fake.close();
  return 0;
});

function readScript(path: string | undefined) {
  if (path === undefined) return undefined;
  const script = Script.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  if (script.success) return script.data;
  throw new Error(`${path} is no script:\n${z.prettifyError(script.error)}`);
}

function portNumber(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 65_535) return number;
  throw new InvalidArgumentError('It takes a port.');
}

function milliseconds(text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= 60_000) return number;
  throw new InvalidArgumentError('It takes a whole number of milliseconds, at most 60000.');
}
