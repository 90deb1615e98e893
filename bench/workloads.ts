import { setTimeout as delay } from 'node:timers/promises';
import { condition } from '../server/orchestrator/steps/condition.ts';
import type { StepType } from '../server/orchestrator/steps/step-type.ts';
import { blocked, chain, fanOut, type Kind } from './graphs.ts';
import type { BenchService } from './service.ts';

/** Named numbers of one repetition. */
export type Figures = Record<string, number>;
export type Workload = { name: string; run(service: BenchService): Promise<Figures> };

const CHAIN = 10;

export const workloads: readonly Workload[] = [
  { name: 'chain', run: service => chains(service, 'condition', 2_000, 64) },
  { name: 'chain-256', run: service => chains(service, 'condition', 3_000, 256) },
  { name: 'chain-alone', run: service => alone(service, 'condition', 200) },
  { name: 'lua', run: service => chains(service, 'lua_script', 500, 64) },
  { name: 'lua-alone', run: service => alone(service, 'lua_script', 100) },
  { name: 'fan-out', run: service => fan(service, 'condition') },
  { name: 'fan-out-lua', run: service => fan(service, 'lua_script') },
  { name: 'long-chain', run: service => longChain(service) },
  { name: 'blocked', run: service => blockedRuns(service, Number(process.env.BENCH_BLOCKED ?? 2_000)) },
  { name: 'recovery', run: service => recovery(service, 2_000) },
];

/** `count` runs of ten steps, `inFlight` of them at any time. */
async function chains(service: BenchService, kind: Kind, count: number, inFlight: number): Promise<Figures> {
  const workflow = service.declare(chain(kind, CHAIN));
  const before = await service.cpu();
  const from = performance.now();
  let left = count;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left > 0) {
        left -= 1;
        const ref = service.ref(workflow);
        const ended = service.ended(ref);
        await service.start(ref);
        await ended;
      }
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  const after = await service.cpu();
  const steps = count * CHAIN;
  return {
    'steps/s': steps / seconds,
    'node CPU s/1,000 steps': ((after.node - before.node) / steps) * 1000,
    'writer CPU s/1,000 steps': ((after.writer - before.writer) / steps) * 1000,
  };
}

async function alone(service: BenchService, kind: Kind, count: number): Promise<Figures> {
  const workflow = service.declare(chain(kind, CHAIN));
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) times.push(await timeRun(service, workflow));
  times.sort((a, b) => a - b);
  return { 'p50 ms': times[count >> 1] ?? 0, 'p99 ms': times[Math.floor(count * 0.99)] ?? 0 };
}

async function timeRun(service: BenchService, workflow: string): Promise<number> {
  const ref = service.ref(workflow);
  const ended = service.ended(ref);
  const from = performance.now();
  await service.start(ref);
  await ended;
  return performance.now() - from;
}

async function fan(service: BenchService, kind: Kind): Promise<Figures> {
  const workflow = service.declare(fanOut(kind, 500));
  await timeRun(service, workflow);
  const times: number[] = [];
  for (let n = 0; n < 5; n += 1) times.push(await timeRun(service, workflow));
  times.sort((a, b) => a - b);
  return { 'ms to the end': times[2] ?? 0 };
}

/** Cost must not grow with the length: a step of 1,000 costs what a step of 10 does. */
async function longChain(service: BenchService): Promise<Figures> {
  const short = service.declare(chain('condition', 10));
  const long = service.declare(chain('condition', 1_000));
  await timeRun(service, long);
  let tens = 0;
  for (let n = 0; n < 100; n += 1) tens += await timeRun(service, short);
  return { 'ms/step of 10': tens / 1_000, 'ms/step of 1,000': (await timeRun(service, long)) / 1_000 };
}

async function blockedRuns(service: BenchService, count: number): Promise<Figures> {
  const workflow = service.declare(blocked);
  const heap = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const refs = Array.from({ length: count }, () => service.ref(workflow));
  const before = heap();
  for (let n = 0; n < count; n += 500) await Promise.all(refs.slice(n, n + 500).map(ref => service.start(ref)));
  const pending = `SELECT count(*)::int AS n FROM human_tasks WHERE state = 'pending'`;
  while ((await service.pool.query(pending)).rows[0].n < count || service.orchestrator.liveRuns > 0) await delay(10);
  const each = (heap() - before) / count;
  const idleFrom = process.cpuUsage();
  await delay(500);
  const idle = process.cpuUsage(idleFrom);
  const ended = Promise.all(refs.map(ref => service.ended(ref)));
  const from = performance.now();
  const answer = { step: 'ask', approved: true, result: {}, by: 'bench' };
  await Promise.all(refs.map(ref => service.orchestrator.completeTask(ref, answer)));
  await ended;
  return {
    runs: count,
    'bytes each': each,
    'idle CPU %': (idle.user + idle.system) / 5_000,
    'ms to release all': performance.now() - from,
  };
}

/** Runs left in the middle of their first step, as by a kill; then a new process takes them up. */
async function recovery(service: BenchService, count: number): Promise<Figures> {
  await service.orchestrator.close();
  const hangs: StepType = { ...condition, execute: () => new Promise(() => undefined) };
  await service.launch([hangs]).ready;
  while (service.orchestrator.status() !== 'leading') await delay(5);
  const workflow = service.declare(chain('condition', CHAIN));
  const refs = Array.from({ length: count }, () => service.ref(workflow));
  await Promise.all(refs.map(ref => service.start(ref)));
  await service.orchestrator.close();
  const ended = Promise.all(refs.map(ref => service.ended(ref)));
  const from = performance.now();
  await service.launch().ready;
  while (service.orchestrator.status() !== 'leading') await delay(1);
  const serving = performance.now() - from;
  await service.orchestrator.recovered;
  const advancing = performance.now() - from;
  await ended;
  return {
    runs: count,
    'ms to serving': serving,
    'ms to all advancing': advancing,
    'ms to all ended': performance.now() - from,
  };
}
