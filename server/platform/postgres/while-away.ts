import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseAway } from './away.ts';

/** How long to wait before the database is asked again, ms. */
const RETRY_MS = 1_000;

/**
 * Repeats `action` while the database is away, until `signal` aborts: a run waits for its database, so a failed read must not fail a
 * step. Throws every other error of `action`.
 */
export async function whileDatabaseAway<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!isDatabaseAway(error) || signal.aborted) throw error;
      await pause(RETRY_MS, undefined, { signal });
    }
  }
}
