import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { oneByOne, percentile } from './load.ts';

/** Where and when the measurements were made, for comparing numbers. */
export type Machine = {
  date: string;
  commit: string;
  system: string;
  processor: string;
  cores: number;
  memoryGiB: number;
  /** The average over one minute, before anything was measured. Any other load makes every number worse. */
  loadBefore: number;
  /** The duration of one 8 KiB write with fdatasync in ms, which is the minimum for everything durable. */
  fsyncMs: number;
};

export async function describeMachine(): Promise<Machine> {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    system: `${platform()} ${release()} ${arch()}`,
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadBefore: loadavg()[0] ?? 0,
    fsyncMs: await fsyncMs(),
  };
}

function commit(): string {
  try {
    const text = (...args: string[]) =>
      execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return text('rev-parse', '--short', 'HEAD').trim() + (text('status', '--porcelain').trim() ? ' with changes' : '');
  } catch {
    return 'unknown';
  }
}

async function fsyncMs(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  const file = openSync(join(folder, 'probe'), 'w');
  const block = Buffer.alloc(8_192, 1);
  const times = await oneByOne(100, async () => {
    writeSync(file, block);
    fdatasyncSync(file);
  });
  closeSync(file);
  rmSync(folder, { recursive: true });
  return percentile(times, 0.5);
}
