import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { giveWay } from './give-way.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

/** Most mutations are noticed within ten seeds. */
const SEEDS = 1_500;
const MAX_PROCESSES = 4;

const mutant = fileURLToPath(new URL('./mutant.ts', import.meta.url));
const run = promisify(execFile);

type Violation = { seed?: number; checker?: string; message?: string };

/** One line for each mutation, sorted: those noticed by one of the checkers named in `caughtBy`, and all others. */
export type BrokenEngines = { noticed: string[]; unnoticed: string[] };

/**
 * Breaks the engine with each mutation in a separate process, and simulates until a checker notices. Returns which
 * mutations were noticed by one of the checkers in `caughtBy`. Throws if a mutation's text is not in its file.
 */
export async function breakEngine(mutations: readonly Mutation[]): Promise<BrokenEngines> {
  const waiting = [...mutations];
  const broken: BrokenEngines = { noticed: [], unnoticed: [] };
  const worker = async () => {
    for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
      const { seed, checker, message } = await firstViolation(mutation);
      const line = `${mutation.name}: ${seed === undefined ? 'nobody' : `seed ${seed}, ${message?.slice(0, 120)}`}`;
      (mutation.caughtBy.includes(checker ?? '') ? broken.noticed : broken.unnoticed).push(line);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), MAX_PROCESSES) }, worker));
  return { noticed: broken.noticed.sort(), unnoticed: broken.unnoticed.sort() };
}

async function firstViolation(mutation: Mutation): Promise<Violation> {
  const args = [mutant, String(MUTATIONS.indexOf(mutation)), String(SEEDS)];
  // A limit for engines that never end. It is long because a process with low priority waited for minutes under load.
  const running = run(process.execPath, args, { timeout: 900_000 });
  giveWay(running.child);
  return JSON.parse((await running).stdout);
}
