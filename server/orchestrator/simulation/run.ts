import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { parseArguments } from '../../../bin/command-line.mjs';
import { Coverage } from './coverage.ts';
import { describeFailure, failureOf } from './failure.ts';
import { simulate } from './simulate.ts';

/**
 * Simulates seeds from `seed` on until at least `runs` runs were simulated. Prints the first failing seed with
 * everything needed to understand it, made smaller with `--shrink`; the exit code is then 1.
 */
const command = new Command('npm run simulate --')
  .description('Simulates the engine with crashes, and checks every guarantee (docs/reliability.md).')
  .option('--seed <number>', 'the first seed; default: a new one, printed', wholeNumber)
  .option('--runs <number>', 'how many runs at least', wholeNumber, 20_000)
  .option('--shrink', 'make a failing seed smaller', false);
const { seed: first = Date.now() % 1_000_000_000, runs: wanted, shrink } = parseArguments(command).opts();
// Stack traces of the thousands of errors that the simulation causes on purpose would take a fifth of the time.
Error.stackTraceLimit = 0;
const coverage = new Coverage();
const sum = { seeds: 0, runs: 0, events: 0, processes: 0 };
const begun = performance.now();
console.log(`from seed ${first} on`);
while (sum.runs < wanted) {
  const seed = first + sum.seeds;
  try {
    const tally = await simulate(seed);
    sum.seeds += 1;
    sum.runs += tally.runs;
    sum.events += tally.events;
    sum.processes += tally.processes;
    coverage.add(tally.coverage);
  } catch (error) {
    Error.stackTraceLimit = 20;
    const again = await failureOf(seed);
    console.error(await describeFailure(seed, { shrink }));
    console.error(again instanceof Error ? again.stack : error);
    process.exit(1);
  }
}
const seconds = (performance.now() - begun) / 1_000;
const cpuSeconds = process.cpuUsage().user / 1e6;
for (const [what, times] of [...coverage.counts].sort()) console.log(`${String(times).padStart(9)}  ${what}`);
console.log(
  `${sum.seeds} seeds held: ${sum.runs} runs, ${sum.events} events, ${sum.processes} processes; ` +
    `${Math.round(sum.runs / seconds)} runs/s, ${Math.round(sum.runs / cpuSeconds)} runs in a second of CPU`,
);

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}
