import type { TimerHandle, Timers } from './timers.ts';

/** The next timer of each run, in memory or not. */
export class WakeUpTimers {
  readonly #timers: Timers;
  readonly #wake: (runId: string) => void;
  readonly #set = new Map<string, TimerHandle>();

  /** `wake` is called when the time of a run has come. */
  constructor(timers: Timers, wake: (runId: string) => void) {
    this.#timers = timers;
    this.#wake = wake;
  }

  has(runId: string): boolean {
    return this.#set.has(runId);
  }

  /** When the run is to be woken, ms since the epoch; null: no longer. */
  at(runId: string, dueAt: number | null): void {
    const present = this.#set.get(runId);
    if (present !== undefined) {
      if (present.dueAt === dueAt) return;
      this.#timers.cancel(present);
      this.#set.delete(runId);
    }
    if (dueAt === null) return;
    const ring = () => {
      this.#set.delete(runId);
      this.#wake(runId);
    };
    this.#set.set(runId, this.#timers.set(dueAt, ring));
  }
}
