import { AGENT_CALLS } from '../baton/agent-callers.ts';
import { BenchService } from '../baton/service.ts';
import { chain, type Kind, layers } from '../graphs.ts';
import { keepInFlight, oneByOne } from '../load.ts';
import type { Figures, Measure, System, Workload } from '../system/system.ts';
import { CHAIN, cpuFigures, latencies, recording, throughput } from './figures.ts';
import { memory } from './memory.ts';
import { oldRuns } from './old-runs.ts';
import { recovery } from './recovery.ts';

const WIDTH = 500;
const LONG = 1_000;
const can = (system: System): system is BenchService => system instanceof BenchService;

/** Workloads that only Baton runs: the peers have no Lua, and their recovery and growth are not measured here. */
export const batonWorkloads: readonly Workload[] = [
  { name: 'lua', title: 'chain of 10 Lua, 64 in flight', size: 500, can, run: lua },
  { name: 'lua-alone', title: 'chain of 10 Lua, one at a time', size: 100, can, run: luaAlone },
  { name: 'fan-out-lua', title: `fan-out of ${WIDTH} Lua and a join`, size: 5, can, run: luaFanOut },
  { name: 'long-chain', title: `chain of ${LONG} beside chains of 10`, size: 5, can, run: longChain },
  { name: 'large-graph', title: 'start of a graph of 2,000 steps', size: 10, can, run: largeGraph },
  { name: 'agents', title: `agents with ${AGENT_CALLS} calls, 64 in flight`, size: 500, can, run: agents },
  { name: 'recovery', title: 'running runs after kill -9', size: 10_000, once: true, can, run: recovery },
  { name: 'old-runs', title: 'chains beside old runs in the database', size: 100_000, once: true, can, run: oldRuns },
  { name: 'memory', title: 'search and recall of memories', size: 100_000, once: true, can, run: memory },
] as Workload[];

const LUA: Kind = 'lua_script';

/** Measures agents whose model and tool answer immediately. A turn includes its call. */
async function agents(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  const turns = count * AGENT_CALLS;
  // The recorded steps: the turns and their calls, the turn that answers, and the agent itself.
  const measured = await recording(service, 2 * turns + 2 * count, () =>
    measure(() => keepInFlight(count, 64, () => service.agent())),
  );
  return { 'turns/s': turns / measured.seconds, ...cpuFigures(measured, turns, 'turns') };
}

function lua(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  return recording(service, count * CHAIN, () => throughput(count, 64, measure, () => service.chain(LUA)));
}

async function luaAlone(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  const measured = await measure(() => oneByOne(count, () => service.chain(LUA)));
  return latencies(measured.value, cpuFigures(measured, count * CHAIN, 'steps'));
}

async function luaFanOut(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  const measured = await measure(() => oneByOne(count, () => service.fanOut(WIDTH, LUA)));
  return latencies(measured.value, cpuFigures(measured, count * (WIDTH + 1), 'steps'));
}

/**
 * Compares chains of 10 and 1,000 steps, because the cost of a step must not grow with the length. Each chain runs without others, and the
 * total number of steps is the same.
 */
async function longChain(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  const long = service.declareOnce('long', () => chain('condition', LONG));
  const short = await measure(() => oneByOne((count * LONG) / CHAIN, () => service.chain()));
  const measured = await measure(() => oneByOne(count, () => service.complete(long)));
  const [ofTen, ofThousand] = [short, measured].map(({ seconds }) => (seconds * 1000) / (count * LONG));
  return {
    'ms a step of 10': ofTen ?? Number.NaN,
    'ms a step of 1,000': ofThousand ?? Number.NaN,
    'times as long': (ofThousand ?? Number.NaN) / (ofTen ?? Number.NaN),
    'times the CPU': measured.cpu.all / short.cpu.all,
  };
}

/** Measures the acknowledged start of a graph that is new to the process, and a second start of the same graph. */
async function largeGraph(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  const graph = layers('condition', 20, 100);
  const { value } = await measure(async () => {
    const times: { cold: number; warm: number; end: number }[] = [];
    for (let n = 0; n < count; n += 1) {
      const workflow = service.declare(graph);
      const [first, second] = [service.ref(workflow), service.ref(workflow)];
      const ends = [service.ended(first), service.ended(second)];
      const from = performance.now();
      await service.start(first);
      const cold = performance.now() - from;
      await ends[0];
      const end = performance.now() - from;
      const again = performance.now();
      await service.start(second);
      times.push({ cold, warm: performance.now() - again, end });
      await ends[1];
    }
    return times;
  });
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] ?? Number.NaN;
  return {
    'ms to start, new graph': median(value.map(({ cold }) => cold)),
    'ms to start, known graph': median(value.map(({ warm }) => warm)),
    'ms to the end': median(value.map(({ end }) => end)),
  };
}
