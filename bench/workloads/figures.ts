import { keepInFlight, percentile } from '../load.ts';
import type { Figures, Measure, Measured, System } from '../system/system.ts';

export const CHAIN = 10;

/**
 * Returns the CPU seconds per 1,000 units: of all processes of the system together, and of each part by name. `count`:
 * the number of units.
 */
export function cpuFigures({ cpu }: Measured<unknown>, count: number, unit: string): Figures {
  const perThousand = (seconds: number) => (seconds / count) * 1000;
  const { all, ...parts } = cpu;
  return {
    [`CPU s/1,000 ${unit}`]: perThousand(all),
    ...Object.fromEntries(
      Object.entries(parts).map(([name, seconds]) => [`${name} CPU s/1,000 ${unit}`, perThousand(seconds)]),
    ),
  };
}

/** Returns the median and the 99th percentile, together with the figures `more`. */
export function latencies(ascending: readonly number[], more: Figures = {}): Figures {
  return { 'p50 ms': percentile(ascending, 0.5), 'p99 ms': percentile(ascending, 0.99), ...more };
}

/** Measures runs of ten steps, with `inFlight` runs in parallel. `unit`: the name for the work of a step. */
export async function throughput(
  count: number,
  inFlight: number,
  measure: Measure,
  once: () => Promise<void>,
  unit = 'steps',
): Promise<Figures> {
  const measured = await measure(() => keepInFlight(count, inFlight, once));
  const steps = count * CHAIN;
  return { [`${unit}/s`]: steps / measured.seconds, ...cpuFigures(measured, steps, unit) };
}

/** Does `work`, and throws unless the number of ended steps in the store then has increased by exactly `steps`. */
export async function recording<T>(system: System, steps: number, work: () => Promise<T>): Promise<T> {
  const before = await system.recordedSteps();
  const result = await work();
  const recorded = (await system.recordedSteps()) - before;
  if (recorded !== steps) throw new Error(`${steps} steps were to be done, and the store holds ${recorded}.`);
  return result;
}
