import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../bin/prepare.mjs';
import { describeMachine, type Machine } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import { fullReport, publication } from './overview.ts';
import { type Result, textOf } from './report.ts';
import { startOrigin } from './system/origin.ts';
import { SystemProcess } from './system/process.ts';
import type { Workload } from './system/system.ts';
import { type Candidate, installPeers, peers, peersAreInstalled } from './systems.ts';
import { browserWorkloads } from './workloads/index.ts';

/**
 * Runs the project's own measurements. They are described in docs/benchmarks.md, and the command line in options.ts.
 */
const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));
const PAGE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));
const MARKS = ['<!-- results -->\n', '<!-- end of results -->'] as const;
const options = readOptions(process.argv.slice(2));
// The build comes after reading the command line, because --help must not build.
if (options.workloads.some(({ name }) => browserWorkloads.has(name))) await build();
const versions: Record<string, Record<string, string>> = {};
const began = performance.now();

if (options.systems.some(system => peers.includes(system)) && !peersAreInstalled()) {
  printLine('installing the peers in bench/peers (about 260 MB) …');
  installPeers();
}
const systems = options.systems.filter(({ name, needs }) => {
  const missing = needs?.();
  if (missing) printLine(`${name} is left out: ${missing}`);
  return !missing;
});
const machine = await describeMachine();
printLine(
  `${machine.cores} cores, ${machine.memoryGiB} GiB, load ${machine.loadBefore.toFixed(1)}, fsync ${machine.fsyncMs.toFixed(2)} ms`,
);
if (machine.loadBefore > machine.cores / 4)
  printLine('This machine is busy with something else: compare ratios and CPU times only.');

const origin = await startOrigin();
const results: Result[] = [];
for (const workload of options.workloads) {
  const result = await measure(workload);
  if (Object.keys(result.systems).length === 0) continue;
  results.push(result);
  printLine(textOf(result));
}
await origin.close();
const seconds = (performance.now() - began) / 1000;
printLine(`${seconds.toFixed(0)} s; ${await write({ machine, seconds, versions, results })}`);
if (results.some(({ systems }) => systems.baton?.failure)) process.exitCode = 1;

/** Measures all systems that support the workload, each in a new process; repetitions alternate: A B C, A B C, … */
async function measure(workload: Workload): Promise<Result> {
  const size = sizeOf(workload, options);
  const result: Result = { workload: workload.name, title: workload.title, size, systems: {} };
  const open: SystemProcess[] = [];
  const attempt = async (name: string, work: () => Promise<void>) => {
    if (result.systems[name]?.failure) return;
    await work().catch((error: Error) => {
      result.systems[name] = { repetitions: result.systems[name]?.repetitions ?? [], failure: error.message };
    });
  };
  for (const candidate of systems) {
    await attempt(candidate.name, async () => {
      const system = await SystemProcess.open(candidate.name, candidate.file, settingsOf(candidate), candidate.flags);
      versions[candidate.name] = system.versions;
      if (!system.workloads.includes(workload.name)) return system.close();
      open.push(system);
      result.systems[candidate.name] = { repetitions: [] };
    });
  }
  const repeat = options.repeat ?? (workload.once ? 1 : 3);
  for (let n = workload.once ? 1 : 0; n <= repeat; n += 1) {
    for (const system of open) {
      await attempt(system.name, async () => {
        // The first round warms caches and the compiler. It is shorter and is not counted.
        const now = n === 0 ? Math.ceil(size / 4) : size;
        const order = { kind: 'run' as const, workload: workload.name, size: now, origin: origin.url };
        const figures = await system.run(n === repeat ? { ...order, ...inspectionOf(system, workload) } : order);
        if (n > 0) result.systems[system.name]?.repetitions.push(figures);
      });
    }
  }
  await Promise.all(open.map(system => system.close()));
  return result;
}

/**
 * A profile costs a tenth of the speed, so only the last repetition is profiled. In a profiled measurement, read the minimum, not the
 * median.
 */
function inspectionOf(system: SystemProcess, workload: Workload): { profile?: string; statements?: boolean } {
  if (system.name !== 'baton') return {};
  return {
    ...(options.profile ? { profile: join(RESULTS, `${stamp(machine)}-${workload.name}.cpuprofile`) } : {}),
    ...(options.statements ? { statements: true } : {}),
  };
}

function sizeOf(workload: Workload, { sizes, systems }: Options): number {
  return sizes.get(workload.name) ?? (systems.length > 1 ? workload.sizeWithPeers : undefined) ?? workload.size;
}

function settingsOf({ env }: Candidate): Record<string, string> {
  return { ...env, ...(options.statements ? { BENCH_STATEMENTS: '1' } : {}) };
}

/** Returns the path of the Markdown file; the JSON next to it contains every repetition. */
async function write(run: {
  machine: Machine;
  seconds: number;
  versions: typeof versions;
  results: Result[];
}): Promise<string> {
  await mkdir(RESULTS, { recursive: true });
  const path = join(RESULTS, stamp(run.machine));
  await writeFile(`${path}.json`, `${JSON.stringify(run, null, 2)}\n`);
  await writeFile(`${path}.md`, fullReport(heading(run.machine), run.results));
  if (options.publish) await publish(publication(heading(run.machine), run.results));
  return relative(process.cwd(), `${path}.md`);
}

/** Writes the tables to their place in docs/benchmarks.md. */
async function publish(text: string): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [before, rest] = page.split(MARKS[0]);
  const after = rest?.split(MARKS[1])[1];
  if (before === undefined || after === undefined) throw new Error(`${PAGE} has no place for results.`);
  await writeFile(PAGE, `${before}${MARKS[0]}\n${text.trim()}\n\n${MARKS[1]}${after}`);
}

function heading(m: Machine): string {
  const versionsOf = (name: string) =>
    Object.entries(versions[name] ?? {})
      .map(([part, version]) => `${part} ${version}`)
      .join(', ');
  const systems = Object.keys(versions).map(name => `- ${name}: ${versionsOf(name)}`);
  return [
    `${m.date.slice(0, 10)}, commit ${m.commit}: ${m.cores} × ${m.processor}, ${m.memoryGiB} GiB, ${m.system}, load before ${m.loadBefore.toFixed(1)}, fsync ${m.fsyncMs.toFixed(2)} ms.`,
    '',
    ...systems,
  ].join('\n');
}

function stamp({ date }: Machine): string {
  return date.slice(0, 19).replaceAll(':', '-');
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
