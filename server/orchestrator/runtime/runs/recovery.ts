import type { LogReader } from '../../log/index.ts';
import type { Runtime } from '../runtime.ts';
import type { RunKey } from './run-host.ts';

const PAGE = 500;

/**
 * Recovers the runs that have not ended: first sets the timers of those that only wait, which stay in the log, then
 * folds the others page by page, newest first. Stops when `signal` aborts. Rejects if a read failed.
 */
export async function recoverRuns(
  reader: LogReader,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<{ recovered: number }> {
  await runtime.suspects.recall();
  // Even if the timers cannot be read, the runs that have work to do now are loaded.
  const [timers] = await Promise.allSettled([recoverTimers(reader, runtime, signal)]);
  const moving = await recoverPages(reader.movingRuns, runtime, signal);
  // Runs that have ended or only wait may have called runs that the process was to stop when it died.
  await recoverPages(reader.idleCallers, runtime, signal);
  if (timers.status === 'rejected') throw timers.reason;
  return { recovered: timers.value + moving };
}

/** Sets the timers of the runs that only wait; returns how many of them had to be folded instead. */
async function recoverTimers(reader: LogReader, runtime: Runtime, signal: AbortSignal): Promise<number> {
  const timers = await reader.wakeUpTimers();
  if (signal.aborted) return 0;
  const unusable: RunKey[] = [];
  for (const { dueAt, ...run } of timers) {
    if (dueAt === null) unusable.push(run);
    else runtime.setWakeUpTimer(run, dueAt);
  }
  if (unusable.length === 0) return 0;
  runtime.observer.timersUnusable(unusable.length);
  runtime.faults.timersUnusable(unusable.map(({ runId }) => runId));
  // The row is only a projection; the log says when the run is due.
  for (let at = 0; at < unusable.length && !signal.aborted; at += PAGE)
    await Promise.all(unusable.slice(at, at + PAGE).map(run => runtime.recover(run)));
  return unusable.length;
}

async function recoverPages(read: LogReader['movingRuns'], runtime: Runtime, signal: AbortSignal): Promise<number> {
  let recovered = 0;
  let before: string | null = null;
  for (;;) {
    const page: string[] = await read(before, PAGE);
    if (signal.aborted || page.length === 0) return recovered;
    // Recovery takes its turns as one tenant.
    await Promise.all(page.map(runId => runtime.recover({ runId, tenantId: '' })));
    recovered += page.length;
    before = page.at(-1) ?? null;
  }
}
