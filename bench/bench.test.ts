import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../server/testing/postgres.ts';
import { BenchService } from './baton/service.ts';
import { cpuSeconds, cpuSecondsOf, memoryBytes } from './meter.ts';
import { readOptions } from './options.ts';
import { publication } from './overview.ts';
import { selfTimes } from './profile.ts';
import { markdownOf, rowsOf } from './report.ts';
import { type Origin, startOrigin } from './system/origin.ts';
import type { Measure, System } from './system/system.ts';
import { targets } from './targets.ts';
import { batonWorkloads } from './workloads/baton.ts';
import { comparedWorkloads } from './workloads/compared.ts';
import { workloads } from './workloads/index.ts';

const measure: Measure = async work => {
  const from = performance.now();
  const value = await work();
  return { value, seconds: (performance.now() - from) / 1000, cpu: { all: 1, node: 0.5 } };
};

describe('every workload runs on Baton', () => {
  let db: TestDatabase;
  let service: BenchService;
  let origin: Origin;

  beforeAll(async () => {
    [db, origin] = await Promise.all([createTestDatabase(), startOrigin()]);
    service = new BenchService({ url: db.url, version: 'test', postmaster: process.pid, close: db.close });
    await service.leading();
  });
  afterAll(() => Promise.all([service.close(), origin.close()]));

  const sizes: Record<string, number> = { blocked: 20, recovery: 20, 'old-runs': 30, memory: 20, 'long-chain': 1 };

  test.each([...comparedWorkloads, ...batonWorkloads])('$name', async workload => {
    if (!workload.can(service)) throw new Error('Baton is to be able to do every workload.');
    const figures = await workload.run(service, sizes[workload.name] ?? 2, measure, origin.url);
    expect(Object.keys(figures).length).toBeGreaterThan(1);
    expect(Object.entries(figures).filter(([, value]) => !Number.isFinite(value))).toEqual([]);
    const known = targets.filter(target => target.workload === workload.name).map(({ figure }) => figure);
    expect(known.filter(figure => !(figure in figures))).toEqual([]);
  });
});

test('unrecorded work is an error', async () => {
  const idle: System = {
    versions: {},
    processes: [],
    chain: async () => undefined,
    recordedSteps: async () => 0,
    close: async () => undefined,
  };
  const chain = comparedWorkloads.find(({ name }) => name === 'chain');
  await expect(chain?.run(idle, 2, measure, '')).rejects.toThrow('20 steps were to be done, and the store holds 0');
});

test('every target belongs to a workload', () => {
  const names = workloads.map(({ name }) => name);
  expect(targets.filter(({ workload }) => !names.includes(workload))).toEqual([]);
});

test('CPU and memory are those of the whole tree of processes', () => {
  expect(cpuSecondsOf(process.pid)).toBeGreaterThan(0);
  expect(cpuSeconds([process.ppid])).toBeGreaterThanOrEqual(cpuSecondsOf(process.pid));
  expect(memoryBytes([process.pid])).toBeGreaterThan(10 * 2 ** 20);
  expect(memoryBytes([process.ppid])).toBeGreaterThan(memoryBytes([process.pid]));
  expect(cpuSecondsOf(undefined)).toBe(0);
});

describe('a report', () => {
  const result = {
    workload: 'chain',
    title: 'chains',
    size: 1,
    systems: {
      baton: {
        repetitions: [
          { 'steps/s': 20_000, 'p50 ms': 2 },
          { 'steps/s': 40_000, 'p50 ms': 1 },
          { 'steps/s': 30_000, 'p50 ms': 3 },
        ],
      },
      bullmq: { repetitions: [{ 'steps/s': 10_000, 'p50 ms': 8 }] },
      dbos: { repetitions: [], failure: 'it broke\nat a place' },
    },
  };

  test('shows lowest, median and highest, and a ratio that is higher if Baton is better', () => {
    const rows = rowsOf(result);
    expect(rows.find(row => row.figure === 'steps/s' && row.system === 'baton')).toMatchObject({
      min: 20_000,
      median: 30_000,
      max: 40_000,
      reached: true,
    });
    expect(rows.find(row => row.figure === 'steps/s' && row.system === 'bullmq')).toMatchObject({
      ratio: 3,
      reached: true,
    });
    expect(rows.find(row => row.figure === 'p50 ms' && row.system === 'bullmq')).toMatchObject({ ratio: 4 });
  });

  test('shows which targets are met, and compares the systems', () => {
    const text = publication('heading', [result]);
    expect(text).toContain('| chains: steps/s | ≥ 15,000 | 20,000 | 30,000 | 40,000 | reached |');
    expect(text).toContain('| chain of 10, 64 in flight, against bullmq | ≥ 2× | | 3.0× | | reached |');
    expect(text).toMatch(/^\| bullmq \| – \| 10,000 \(3\.0×\) \|/m);
  });

  test('includes failures', () => {
    expect(markdownOf([result])).toContain('| failed | dbos | | | | it broke |');
  });
});

describe('the command line', () => {
  test('chooses workloads, peers and sizes', () => {
    const options = readOptions(['--peers=dbos', '--size', 'chain=7', '--repeat', '2', 'chain', 'lua']);
    expect(options.workloads.map(({ name }) => name)).toEqual(['chain', 'lua']);
    expect(options.systems.map(({ name }) => name)).toEqual(['baton', 'dbos']);
    expect([options.sizes.get('chain'), options.repeat]).toEqual([7, 2]);
  });

  test('takes all peers, or none', () => {
    expect(readOptions(['--peers', 'chain']).systems.length).toBeGreaterThan(4);
    expect(readOptions([]).systems.map(({ name }) => name)).toEqual(['baton']);
    expect(readOptions(['--full']).sizes.get('old-runs')).toBe(1_000_000);
  });

  test.each([['nonsense'], ['--peers=nobody'], ['--size', 'chain=0'], ['--size', 'nonsense=1'], ['--repeat', 'often']])(
    'refuses %s %s',
    (...args) => {
      const fail = (code: number, message: string): never => {
        throw new Error(`${code}: ${message}`);
      };
      expect(() => readOptions(args.filter(Boolean), fail)).toThrow(/^2: .*(There is no|takes a whole number)/);
    },
  );
});

test('a profile shows own and total times, without counting recursion twice', () => {
  const frame = (functionName: string) => ({ functionName, url: '', scriptId: '0', lineNumber: 0, columnNumber: 0 });
  const text = selfTimes(
    {
      nodes: [
        { id: 1, callFrame: frame('outer'), children: [2] },
        { id: 2, callFrame: frame('inner'), children: [3] },
        { id: 3, callFrame: frame('inner') },
        { id: 4, callFrame: frame('(idle)') },
      ],
      startTime: 0,
      endTime: 100_000,
      samples: [1, 2, 3, 4],
      timeDeltas: [10_000, 20_000, 20_000, 50_000],
    },
    10,
  );
  expect(text).toContain('busy 50 ms of 100 ms');
  expect(text).toMatch(/80\.0 % +40 ms +80\.0 % {2}inner/);
  expect(text).toMatch(/20\.0 % +10 ms +100\.0 % {2}outer/);
});
