import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { BenchService } from './service.ts';
import { type Figures, type Workload, workloads } from './workloads.ts';

/**
 * The project's own measurements, on a throw-away PostgreSQL with fsync on:
 *
 *   node --expose-gc bench/run.ts [--repeat 3] [workload …]
 *
 * Prints the lowest, the median and the highest of the repetitions. Compare ratios: absolute numbers are the machine's.
 */
const { values, positionals } = parseArgs({
  options: { repeat: { type: 'string', default: '3' } },
  allowPositionals: true,
});

const chosen = positionals.length === 0 ? workloads : workloads.filter(({ name }) => positionals.includes(name));
if (chosen.length === 0)
  throw new Error(`There is no such workload. Known: ${workloads.map(({ name }) => name).join(', ')}`);

const service = await BenchService.open();
try {
  print(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`);
  for (const workload of chosen) report(workload, await repeat(workload, Number(values.repeat)));
} finally {
  await service.close();
}

async function repeat(workload: Workload, times: number): Promise<Figures[]> {
  const repetitions: Figures[] = [];
  // The first one warms caches and the compiler; it is not counted.
  for (let n = 0; n <= times; n += 1) {
    const figures = await workload.run(service);
    if (n > 0) repetitions.push(figures);
  }
  return repetitions;
}

function report(workload: Workload, repetitions: readonly Figures[]): void {
  for (const figure of Object.keys(repetitions[0] ?? {})) {
    const sorted = repetitions.map(figures => figures[figure] ?? Number.NaN).sort((a, b) => a - b);
    const [low, median, high] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)].map(shown);
    print(`${workload.name.padEnd(12)} ${figure.padEnd(26)} min ${low}  median ${median}  max ${high}`);
  }
}

function shown(value: number | undefined): string {
  if (value === undefined) return '-';
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 3 : 0 }).padStart(9);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
