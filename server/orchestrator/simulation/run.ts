import { parseArgs } from 'node:util';
import { describeFailure } from './failure.ts';
import { simulate } from './simulate.ts';

/**
 * node server/orchestrator/simulation/run.ts [--seed N] [--runs N]
 * Simulates `runs` seeds from `seed` on. A failing seed is printed with all that it takes to understand it; exit code 1.
 */
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, runs: { type: 'string', default: '10000' } },
});
const first = wholeNumber('seed', values.seed);
const count = wholeNumber('runs', values.runs);

const begun = performance.now();
const sum = { runs: 0, events: 0, processes: 0, completed: 0, failed: 0, stopped: 0 };
for (let seed = first; seed < first + count; seed++) {
  try {
    const tally = simulate(seed);
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += tally[key];
  } catch (error) {
    console.error(describeFailure(seed, error));
    process.exit(1);
  }
}
const seconds = (performance.now() - begun) / 1000;
console.log(
  `${count} seeds held: ${sum.runs} runs (${sum.completed} completed, ${sum.failed} failed, ${sum.stopped} stopped), ` +
    `${sum.events} events, ${sum.processes} processes; ${Math.round(sum.runs / seconds)} runs/s`,
);

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) {
    console.error(`--${name} takes a whole number, not "${text}".`);
    process.exit(2);
  }
  return Number(text);
}
