import { setTimeout as delay } from 'node:timers/promises';
import { oneByOne } from '../load.ts';
import { cpuSeconds, memoryBytes } from '../meter.ts';
import type { Figures, Measure, System, Workload } from '../system/system.ts';
import { dynamicWorkloads } from './dynamic.ts';
import { CHAIN, cpuFigures, latencies, recording, throughput } from './figures.ts';

const WIDTH = 500;

type FansOut = System & { fanOut(width: number): Promise<void> };
type Blocks = System & { block(count: number): Promise<{ release(): Promise<void> }> };

const hasChain = (system: System): system is System => system.chain !== undefined;
const canFanOut = (system: System): system is FansOut => system.fanOut !== undefined;
const canBlock = (system: System): system is Blocks => system.block !== undefined;

/** The workloads that Baton and its peers share. */
export const comparedWorkloads: readonly Workload[] = [
  { ...chains(64), name: 'chain', title: 'chain of 10, 64 in flight', size: 2_000, sizeWithPeers: 1_000 },
  { ...chains(256), name: 'chain-256', title: 'chain of 10, 256 in flight', size: 3_000, sizeWithPeers: 1_000 },
  {
    name: 'chain-alone',
    title: 'chain of 10, one at a time',
    size: 200,
    sizeWithPeers: 100,
    can: hasChain,
    run: alone,
  },
  { name: 'fan-out', title: `fan-out of ${WIDTH} and a join`, size: 5, can: canFanOut, run: fanOut } as Workload,
  {
    name: 'blocked',
    title: 'runs that wait for a person',
    size: 10_000,
    sizeWithPeers: 2_000,
    once: true,
    can: canBlock,
    run: blocked,
  } as Workload,
  ...dynamicWorkloads,
];

function chains(inFlight: number): Pick<Workload, 'can' | 'run'> {
  return {
    can: hasChain,
    run: (system, count, measure) =>
      recording(system, count * CHAIN, () => throughput(count, inFlight, measure, () => system.chain())),
  };
}

async function alone(system: System, count: number, measure: Measure): Promise<Figures> {
  return recording(system, count * CHAIN, async () => {
    const measured = await measure(() => oneByOne(count, () => system.chain()));
    return latencies(measured.value, cpuFigures(measured, count * CHAIN, 'steps'));
  });
}

async function fanOut(system: FansOut, count: number, measure: Measure): Promise<Figures> {
  return recording(system, count * (WIDTH + 1), async () => {
    const measured = await measure(() => oneByOne(count, () => system.fanOut(WIDTH)));
    return latencies(measured.value, cpuFigures(measured, count * (WIDTH + 1), 'steps'));
  });
}

/** Measures the memory of waiting runs, the CPU while idle, and the time to answer all of them. */
async function blocked(system: Blocks, count: number, measure: Measure): Promise<Figures> {
  const roots = [process.pid, ...system.processes];
  const memory = () => {
    globalThis.gc?.();
    return { heap: process.memoryUsage().heapUsed, all: memoryBytes(roots) };
  };
  // Created first, so that lasting resources (compiled code, connections, caches) do not count as memory of waiting
  // runs.
  await (await system.block(Math.min(count, 200))).release();
  const before = memory();
  const from = performance.now();
  const waiting = await system.block(count);
  const toBlock = performance.now() - from;
  // The kernel counts CPU time in steps of 10 ms, which is 0.2 % of five seconds.
  const [calm, watched] = count < 1_000 ? [100, 200] : [1_000, 5_000];
  await delay(calm);
  const after = memory();
  const [cpu, since] = [cpuSeconds(roots), performance.now()];
  await delay(watched);
  const idle = (cpuSeconds(roots) - cpu) / ((performance.now() - since) / 1000);
  const released = await measure(() => waiting.release());
  return {
    'ms to release all': released.seconds * 1000,
    'ms to block all': toBlock,
    'heap bytes each': (after.heap - before.heap) / count,
    'KiB each, all processes': (after.all - before.all) / count / 1024,
    'idle CPU %': idle * 100,
    ...cpuFigures(released, count, 'releases'),
  };
}
