import type { Alarm } from '../../../platform/clock.ts';
import { pause } from '../../../platform/deadlines.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { LogReader } from '../../log/index.ts';
import type { Shards } from '../../shards/slot.ts';
import type { LeaderTerms } from '../leadership/leader-terms.ts';
import type { LeadershipLog } from '../leadership/leadership-log.ts';
import type { Runtime } from '../runtime.ts';
import type { RunKey } from './run-host.ts';

const PAGE = 500;

const RETRY_MS = 1_000;

export type Take = { reader: LogReader; terms: LeaderTerms; runtime: Runtime; shards: Shards; signal: AbortSignal };

/** Reads what other processes survived and died of, before runs of theirs are loaded. */
export async function prepareTake(terms: LeaderTerms, runtime: Runtime): Promise<void> {
  await terms.readAgain(runtime.leader);
  await runtime.suspects.recall();
}

/**
 * Takes the runs of these shards that have not ended: reads what the processes that led them survived and died of, sets
 * the timers of the runs that only wait, which stay in the log, then folds the others page by page, newest first. Stops
 * when `signal` aborts. Rejects if a read failed.
 */
export async function recoverRuns(take: Take): Promise<{ recovered: number }> {
  const { reader, terms, runtime, shards } = take;
  await prepareTake(terms, runtime);
  // Even if the timers cannot be read, the runs that have work to do now are loaded.
  const [timers] = await Promise.allSettled([recoverTimers(take)]);
  const moving = await recoverPages(take, (before, limit) => reader.movingRuns(shards, before, limit));
  // Runs that have ended or only wait may have called runs that the process was to stop when it died.
  await recoverPages(take, (before, limit) => reader.idleCallers(shards, before, limit));
  if (timers.status === 'rejected') throw timers.reason;
  return { recovered: timers.value + moving };
}

/**
 * Recovers in the background, and repeats it until all runs are loaded: a failed read must not cause a run to be
 * forgotten. Does not reject.
 */
export async function recoverUntilDone(
  take: Take,
  { alarm, logger, log }: { alarm: Alarm; logger: Logger; log: Pick<LeadershipLog, 'recovered'> },
): Promise<{ recovered: number }> {
  const { signal, runtime } = take;
  const began = performance.now();
  runtime.observer.recoveryBegan();
  for (;;) {
    try {
      const result = await recoverRuns(take);
      if (signal.aborted) return result;
      runtime.observer.recoveryEnded(result.recovered, performance.now() - began);
      log.recovered(result);
      return result;
    } catch (error) {
      if (signal.aborted) return { recovered: 0 };
      logger.error({ err: error }, 'taking up runs failed; trying again');
      await pause(alarm, RETRY_MS, signal);
    }
  }
}

/** Sets the timers of the runs that only wait; returns how many of them had to be folded instead. */
async function recoverTimers({ reader, runtime, shards, signal }: Take): Promise<number> {
  const timers = await reader.wakeUpTimers(shards);
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

async function recoverPages(
  { runtime, signal }: Take,
  read: (before: string | null, limit: number) => Promise<string[]>,
): Promise<number> {
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
