/**
 * Ends the throw-away cluster in the folder given as argument, and removes the folder, once standard input closes, which happens however
 * the process that uses the cluster ends. A separate process, because a killed process runs no handlers.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openCluster, stopCluster } from './cluster.ts';

const folder = process.argv[2];
if (!folder) throw new Error('usage: cluster-reaper.ts <folder>');
// Ctrl-C reaches the whole group; this process ends only after its work.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.stdin.resume();
process.stdin.once('close', () => void reap(folder));

async function reap(folder: string): Promise<void> {
  try {
    await stopCluster(await openCluster(join(folder, 'data')), 'immediate');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
