const FIRST_MS = 1_000;
const MAX_MS = 30_000;

/** Schedules retries: the first after about a second, each later retry after twice as long, up to 30 seconds. */
export class Backoff {
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls `retry` once, after at least `afterMs`. Returns the planned time in ms since the epoch. */
  plan(retry: () => void, afterMs = 0): number {
    this.stop();
    // The random factor keeps browsers that lost the same server from reconnecting at the same time.
    const wait = Math.min(MAX_MS, FIRST_MS * 2 ** this.#failures) * (0.8 + 0.4 * Math.random());
    const delay = Math.max(afterMs, Math.round(wait));
    this.#failures += 1;
    this.#timer = setTimeout(retry, delay);
    return Date.now() + delay;
  }

  /** Cancels the planned retry. The canceled retry still counts: the next delay is longer. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Resets the delay after a success. */
  reset(): void {
    this.stop();
    this.#failures = 0;
  }
}
