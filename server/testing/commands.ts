import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from '@commander-js/extra-typings';
import { type Declare, type Outcome, parse, printed } from '../commands/command-line.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

const baton = fileURLToPath(new URL('../commands/baton.ts', import.meta.url));

/** Runs `npm run baton -- <args>` without npm, in a separate process. Returns its exit code and its output. */
export function runBaton(args: readonly string[], env: Record<string, string>) {
  return new Promise<{ code: number; out: string; err: string }>(done => {
    execFile(
      process.execPath,
      [baton, ...args],
      { env: { NODE_ENV: 'production', PATH: process.env.PATH, ...COMPILE_CACHE, ...env } },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** Runs a command on `services` in this process. Returns its outcome with the text as printed; throws UsageError for wrong arguments. */
export async function runCommand<Services>(
  declare: Declare<Services>,
  services: Services,
  args: readonly string[],
): Promise<Outcome & { code: number }> {
  const outcomes: (Outcome & { code: number })[] = [];
  const command = new Command('command').configureOutput({ writeErr: () => undefined });
  declare(command, async (work, options) => {
    const outcome = await work(services);
    outcomes.push({ ...outcome, code: outcome.code ?? 0, text: printed(outcome, options) });
  });
  await parse(command, args);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error('The command did nothing.');
  return outcome;
}
