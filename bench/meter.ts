import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Measures the cost of a system under test: the CPU time and the memory of whole process trees. A database counts for the system that uses
 * it: Node's own figures would favor a system that lets PostgreSQL or Redis do its work.
 */
type Process = { pid: number; parent: number; cpuSeconds: number };

const TICKS_PER_SECOND = 100; // USER_HZ, the same on every Linux

/** Returns the CPU seconds so far of the processes `roots` and all their descendants, including those that ended. */
export function cpuSeconds(roots: readonly number[]): number {
  return tree(roots).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

/**
 * Returns the bytes of memory of the same processes. A page that several of them share (PostgreSQL's buffers) is counted once; the sum of
 * their resident sizes would count it once for each session.
 */
export function memoryBytes(roots: readonly number[]): number {
  return tree(roots).reduce((sum, { pid }) => sum + proportionalBytes(pid), 0);
}

function tree(roots: readonly number[]): Process[] {
  const all = process.platform === 'linux' ? fromProc() : fromPs();
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found = new Map<number, Process>();
  const visit = (one: Process): void => {
    if (found.has(one.pid)) return;
    found.set(one.pid, one);
    for (const child of children.get(one.pid) ?? []) visit(child);
  };
  for (const one of all) if (roots.includes(one.pid)) visit(one);
  return [...found.values()];
}

function fromProc(): Process[] {
  return readdirSync('/proc').flatMap(name => {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? contentOf(`/proc/${pid}/stat`) : undefined;
    // The name in parentheses may contain spaces; only numbers follow it.
    const fields = stat
      ?.slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    if (!fields) return [];
    const [parent = 0, ticks = [0]] = [fields[1], fields.slice(11, 15)]; // own, and of reaped children
    return [{ pid, parent, cpuSeconds: ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND }];
  });
}

/** A fallback for systems without /proc. It misses ended children, so its figures are slightly too low. */
function fromPs(): Process[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,time='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map(line => {
    const [pid, parent, time = ''] = line.trim().split(/\s+/);
    const cpuSeconds = time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0);
    return { pid: Number(pid), parent: Number(parent), cpuSeconds };
  });
}

function proportionalBytes(pid: number): number {
  const rollup = contentOf(`/proc/${pid}/smaps_rollup`);
  const kilobytes = rollup?.match(/^Pss:\s+(\d+) kB$/m)?.[1];
  if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  if (process.platform === 'linux') return 0; // it has ended meanwhile
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // the process has ended in between
  }
}

/** Returns the CPU seconds so far of one process; 0 once it has ended. */
export function cpuSecondsOf(pid: number | undefined): number {
  return tree(pid === undefined ? [] : [pid]).find(one => one.pid === pid)?.cpuSeconds ?? 0;
}
