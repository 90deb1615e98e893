import { enableCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MUTATIONS } from './mutations.ts';

/**
 * node mutant.ts <index> <seeds>: breaks the engine as the mutation says when its file is loaded, and simulates seeds
 * from 1 on until a checker notices. Prints one line of JSON: `{seed, checker, message}`, or `{}`.
 */
// Half of the time of most mutants is the compilation of unchanged files. The cache is keyed by content.
enableCompileCache();
const [index, seeds] = process.argv.slice(2).map(Number);
const mutation = MUTATIONS[index ?? -1];
if (mutation === undefined || seeds === undefined) throw new Error('usage: mutant.ts <index> <seeds>');
const target = new URL(`../${mutation.file}`, pathToFileURL(import.meta.filename)).href;
let isBroken = false;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url !== target || loaded.source === null || loaded.source === undefined) return loaded;
    const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
    if (source.split(mutation.find).length !== 2)
      throw new Error(`"${mutation.find}" is not to be found exactly once in ${mutation.file}`);
    isBroken = true;
    return { ...loaded, source: source.replace(mutation.find, () => mutation.replace) };
  },
});

const { simulate } = await import('./simulate.ts');
const { FULL } = await import('./scenario.ts');
const { Violation } = await import('./checkers/violation.ts');
if (!isBroken) throw new Error(`${mutation.file} is not part of the simulation`);
Error.stackTraceLimit = 0;
// A broken engine may also leave rejected promises unhandled.
process.on('unhandledRejection', () => undefined);

async function firstViolation(most: number): Promise<{ seed?: number; checker?: string; message?: string }> {
  for (let seed = 1; seed <= most; seed++) {
    try {
      await simulate(seed, { knobs: { ...FULL, ...mutation?.knobs } });
    } catch (error) {
      const checker = error instanceof Violation ? error.checker : 'none';
      return { seed, checker, message: error instanceof Error ? error.message : String(error) };
    }
  }
  return {};
}

console.log(JSON.stringify(await firstViolation(seeds)));
process.exit(0);
