import { oneByOne } from '../load.ts';
import type { Figures, Measure, System, Workload } from '../system/system.ts';
import { CHAIN, cpuFigures, latencies, recording, throughput } from './figures.ts';

type Loops = System & { forEach(count: number): Promise<void> };
type Calls = System & { callRuns(count: number): Promise<void>; recordedRuns(): Promise<number> };
type Requests = System & { requests(url: string): Promise<void> };

const hasLoops = (system: System): system is Loops => system.forEach !== undefined;
const hasCalls = (system: System): system is Calls =>
  system.callRuns !== undefined && system.recordedRuns !== undefined;
const hasRequests = (system: System): system is Requests => system.requests !== undefined;

/** Workloads that the peers share: work that is decided only during a run, and requests. */
export const dynamicWorkloads: readonly Workload[] = [
  { name: 'for-each', title: 'loop over 10,000 items, 100 at a time', size: 10_000, can: hasLoops, run: forEach },
  { name: 'child-runs', title: 'run that calls others, 100 at a time', size: 2_000, can: hasCalls, run: childRuns },
  { name: 'http', title: 'chain of 10 HTTP requests, 64 in flight', size: 500, can: hasRequests, run: http },
  {
    name: 'http-alone',
    title: 'chain of 10 HTTP requests, one at a time',
    size: 100,
    can: hasRequests,
    run: httpAlone,
  },
] as Workload[];

/** Executes one run with a loop over `count` items. */
async function forEach(system: Loops, count: number, measure: Measure): Promise<Figures> {
  const measured = await recording(system, count + 2, () => measure(() => system.forEach(count)));
  return { 'items/s': count / measured.seconds, ...cpuFigures(measured, count, 'items') };
}

/** Executes one run that calls `count` others. */
async function childRuns(system: Calls, count: number, measure: Measure): Promise<Figures> {
  const before = await system.recordedRuns();
  const measured = await measure(() => system.callRuns(count));
  const recorded = (await system.recordedRuns()) - before;
  if (recorded !== count + 1) throw new Error(`${count + 1} runs were to end, and the store holds ${recorded}.`);
  return { 'child runs/s': count / measured.seconds, ...cpuFigures(measured, count, 'child runs') };
}

async function http(system: Requests, count: number, measure: Measure, origin: string): Promise<Figures> {
  const once = () => system.requests(origin);
  return recording(system, count * CHAIN, () => throughput(count, 64, measure, once, 'requests'));
}

async function httpAlone(system: Requests, count: number, measure: Measure, origin: string): Promise<Figures> {
  return recording(system, count * CHAIN, async () => {
    const measured = await measure(() => oneByOne(count, () => system.requests(origin)));
    return latencies(measured.value, cpuFigures(measured, count * CHAIN, 'requests'));
  });
}
