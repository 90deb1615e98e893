import fc from 'fast-check';
import type { RunEvent } from '../core/index.ts';
import type { Log } from './log.ts';
import { FULL, type Knobs } from './scenario.ts';
import { type Options, simulate } from './simulate.ts';

/** What a person needs to work on a failing seed: the smallest way to make it fail, the violation and the logs. */
export function describeFailure(seed: number, error: unknown, options: Options = {}): string {
  const knobs = shrink(seed, options);
  let logs = '';
  const smallest = violation(seed, { ...options, knobs, inspect: log => (logs = describeLogs(log)) }) ?? error;
  return [
    `Seed ${seed} breaks a guarantee: ${smallest instanceof Error ? smallest.message : String(smallest)}`,
    `Replay: node server/orchestrator/simulation/run.ts --seed ${seed} --runs 1`,
    `Smallest: ${JSON.stringify(knobs)}`,
    logs,
  ].join('\n');
}

/** The least of everything with which the seed still fails. Another size is another simulation, so this is a search. */
function shrink(seed: number, options: Options): Knobs {
  const knob = (name: keyof Knobs, least: number) => fc.integer({ min: least, max: FULL[name] });
  const arbitrary = fc.record({
    runs: knob('runs', 1),
    steps: knob('steps', 0),
    faults: knob('faults', 0),
    commands: knob('commands', 0),
    failures: knob('failures', 0),
  });
  const holds = (knobs: Knobs) => violation(seed, { ...options, knobs }) === undefined;
  const details = fc.check(fc.property(arbitrary, holds), { examples: [[FULL]], numRuns: 1 });
  return details.counterexample?.[0] ?? FULL;
}

function violation(seed: number, options: Options): unknown {
  try {
    simulate(seed, options);
    return undefined;
  } catch (error) {
    return error;
  }
}

function describeLogs(log: Log): string {
  return [...log.runs.values()]
    .map(({ id, history, events }) =>
      [`${id}: ${JSON.stringify(history.graph)}`, ...events.map(describeEvent)].join('\n'),
    )
    .join('\n\n');
}

function describeEvent(event: RunEvent, index: number): string {
  const step = 'step' in event ? ` ${event.step}#${event.attempt ?? '-'}` : '';
  return `  ${String(index + 1).padStart(3)}  ${String(event.at).padStart(6)} ms  ${event.type}${step} ${JSON.stringify(event.data)}`;
}
