const FIRST_MS = 1_000;
const MAX_MS = 30_000;

/** Plans repeated tries: the first after about a second, each later one after twice as long, up to half a minute. */
export class Backoff {
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Calls `retry` once, no earlier than in `afterMs`. Returns when, in ms since the epoch. */
  plan(retry: () => void, afterMs = 0): number {
    this.stop();
    // Browsers that lost the same server must not come back in step.
    const wait = Math.min(MAX_MS, FIRST_MS * 2 ** this.#failures) * (0.8 + 0.4 * Math.random());
    const delay = Math.max(afterMs, Math.round(wait));
    this.#failures += 1;
    this.#timer = setTimeout(retry, delay);
    return Date.now() + delay;
  }

  /** Cancels the planned try. The next one waits longer, all the same. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Starts over after a success. */
  reset(): void {
    this.stop();
    this.#failures = 0;
  }
}
