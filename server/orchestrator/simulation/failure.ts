import fc from 'fast-check';
import type { RunEvent } from '../core/index.ts';
import type { AuditedRun } from './auditor.ts';
import { Violation } from './checkers/violation.ts';
import { FULL, type Knobs } from './scenario.ts';
import { EPOCH } from './server.ts';
import { simulate } from './simulate.ts';

/** Runs the simulation of a seed. Returns the violation that it finds, or undefined. */
export async function failureOf(seed: number, knobs: Knobs = FULL): Promise<Error | undefined> {
  try {
    await simulate(seed, { knobs });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Describes a failing seed: the violation, the smallest knobs that reproduce it, and the logs of the runs. */
export async function describeFailure(seed: number, options: { shrink: boolean }): Promise<string> {
  const knobs = options.shrink ? await shrink(seed) : FULL;
  let logs = '';
  const inspect = (runs: readonly AuditedRun[], story: readonly string[]) => {
    logs = [describeLogs(runs), 'What happened besides:', ...story.filter(line => !isInLog(line))].join('\n');
  };
  const error: unknown = await simulate(seed, { knobs, inspect }).then(
    () => new Error('the seed no longer fails: the simulation depends on something outside the seed'),
    (caught: unknown) => caught,
  );
  return [
    `Seed ${seed} breaks a guarantee: ${error instanceof Error ? error.message : String(error)}`,
    `Replay: npm run simulate -- --seed ${seed} --runs 1${options.shrink ? ' --shrink' : ''}`,
    ...(options.shrink ? [`Smallest: ${JSON.stringify(knobs)}`] : []),
    logs,
  ].join('\n');
}

const checkerOf = (error: Error | undefined) => (error instanceof Violation ? error.checker : error?.name);

/**
 * Returns the smallest knobs with which the seed still fails. Other knobs give another simulation, so the knobs have to be searched.
 */
async function shrink(seed: number): Promise<Knobs> {
  const original = checkerOf(await failureOf(seed));
  const knob = (name: keyof Knobs, least: number) => fc.integer({ min: least, max: FULL[name] });
  const arbitrary = fc.record({
    runs: knob('runs', 1),
    steps: knob('steps', 0),
    faults: knob('faults', 0),
    commands: knob('commands', 0),
    failures: knob('failures', 0),
    oddities: knob('oddities', 0),
    hostile: knob('hostile', 0),
    deployments: knob('deployments', 0),
    heavy: knob('heavy', 0),
    growth: knob('growth', 0),
    calls: knob('calls', 0),
    agents: knob('agents', 0),
    largeEnds: knob('largeEnds', 0),
    clusters: knob('clusters', 0),
  });
  const failsLikeOriginal = async (knobs: Knobs) => checkerOf(await failureOf(seed, knobs)) !== original;
  const details = await fc.check(fc.asyncProperty(arbitrary, failsLikeOriginal), { examples: [[FULL]], numRuns: 1 });
  return details.counterexample?.[0] ?? FULL;
}

/** Returns whether a line of the story describes an event. The logs contain these already. */
const isInLog = (line: string): boolean => / ms {2}(step_|task_|run_|state_|run |skip |cancel |step failed)/.test(line);

/** The logs of the runs as text, equal for equal simulations. */
export function describeLogs(runs: readonly AuditedRun[]): string {
  return runs
    .map(({ id, tenantId, history, stored }) =>
      [
        `${id} of ${tenantId}: ${JSON.stringify(history.graph)}`,
        ...history.events.map((event, index) => describeEvent(event, index, stored.events[index]?.writer)),
      ].join('\n'),
    )
    .join('\n\n');
}

function describeEvent(event: RunEvent, index: number, writer = ''): string {
  const step = 'step' in event ? ` ${event.step}#${event.attempt ?? '-'}` : '';
  const data = JSON.stringify(event.data);
  const shown = data.length > 300 ? `${data.slice(0, 300)}… (${data.length} characters)` : data;
  const place = `${String(index + 1).padStart(3)}  ${String(event.at - EPOCH).padStart(7)} ms  ${writer.padEnd(22)}`;
  return `  ${place}  ${event.type}${step} ${shown}`;
}
