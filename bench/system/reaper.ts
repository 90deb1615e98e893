/**
 * Cleans up after a system, no matter how it ended. It is a separate process, because a killed process runs no
 * handlers. Reads the folder from its argument and pids, one per line, from standard input, which the kernel closes
 * even if the system's process was killed.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { clusterVersion, openCluster, stopCluster } from '../../server/platform/postgres/cluster.ts';

const folder = process.argv[2];
if (!folder) throw new Error('usage: reaper.ts <folder>');
// Ctrl-C reaches the whole process group; this process ends only after its work.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

const pids: number[] = [];
for await (const line of createInterface({ input: process.stdin })) pids.push(Number(line));
for (const pid of pids) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process had already ended.
  }
}
const dataDir = join(folder, 'postgres');
try {
  if ((await clusterVersion(dataDir)) !== undefined) await stopCluster(await openCluster(dataDir), 'immediate');
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
