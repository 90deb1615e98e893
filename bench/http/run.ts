import { workloads } from './workloads.ts';

/**
 * Runs only these measurements, once each: `node bench/http/run.ts [workload …]`. bench/run.ts repeats them alongside
 * the others. BENCH_STARTS and BENCH_SOCKET_RUNS set their size, BENCH_CPU_PROF=<folder> profiles the service.
 */
const names = process.argv.slice(2);
for (const { name, run } of workloads.filter(each => names.length === 0 || names.includes(each.name))) {
  for (const [figure, value] of Object.entries(await run())) {
    process.stdout.write(`${name.padEnd(18)} ${figure.padEnd(30)} ${value.toLocaleString('en')}\n`);
  }
}
