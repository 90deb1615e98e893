import { RunUnreadable } from './loader.ts';

/** How long to wait before a run is folded again that could not be, or that another writer has advanced. */
export const RELOAD_DELAY_MS = 1_000;
/** A log that cannot be read is tried ever more rarely: it takes an operator to repair it. */
const MAX_RELOAD_DELAY_MS = 300_000;

/** How often the logs of runs could not be folded, one time after the other. */
export class LoadRetries {
  readonly #failures = new Map<string, number>();

  /** How long to wait, in ms. What the database is to blame for is tried again soon. */
  delayAfter(runId: string, error: unknown): number {
    if (!(error instanceof Error && error.cause instanceof RunUnreadable)) return RELOAD_DELAY_MS;
    const failures = this.#failures.get(runId) ?? 0;
    this.#failures.set(runId, failures + 1);
    return Math.min(MAX_RELOAD_DELAY_MS, RELOAD_DELAY_MS * 2 ** failures);
  }

  succeeded(runId: string): void {
    this.#failures.delete(runId);
  }
}
