import type { Alarm } from './clock.ts';

export type RepeatingJob = {
  /** Ends the current pass, if any; the next process continues it. */
  close(): Promise<void>;
};

/**
 * Runs passes one after the other: the first after `firstMs`, each later one after the ms that the previous one
 * returned. `pass` must not reject; its signal aborts when the job is closed.
 */
export function startRepeatingJob(
  alarm: Alarm,
  firstMs: number,
  pass: (closing: AbortSignal) => Promise<number>,
): RepeatingJob {
  const closing = new AbortController();
  let cancel = () => {};
  let underWay = Promise.resolve();
  const arm = (delayMs: number) => {
    if (closing.signal.aborted) return;
    cancel = alarm(delayMs, () => {
      underWay = pass(closing.signal).then(arm);
    });
  };
  arm(firstMs);
  return {
    async close() {
      closing.abort();
      cancel();
      await underWay;
    },
  };
}
