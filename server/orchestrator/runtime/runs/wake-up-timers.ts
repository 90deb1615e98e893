import type { WakeUp } from '../../turn/due.ts';
import type { RunKey } from './run-host.ts';
import type { TimerHandle, Timers } from './timers.ts';

/** The next wake-up timer of each run, whether in memory or not. */
export class WakeUpTimers {
  readonly #timers: Timers;
  readonly #wake: (run: RunKey) => void;
  readonly #set = new Map<string, TimerHandle>();

  /** `wake` is called when a run is due. */
  constructor(timers: Timers, wake: (run: RunKey) => void) {
    this.#timers = timers;
    this.#wake = wake;
  }

  has(runId: string): boolean {
    return this.#set.has(runId);
  }

  /** Sets when the run is to be woken; null cancels that. */
  at({ runId, tenantId }: RunKey, wakeUp: WakeUp | null): void {
    const present = this.#set.get(runId);
    if (present !== undefined) {
      if (present.dueAt === wakeUp?.dueAt) return;
      this.#timers.cancel(present);
      this.#set.delete(runId);
    }
    if (wakeUp === null) return;
    const ring = () => {
      this.#set.delete(runId);
      this.#wake({ runId, tenantId });
    };
    this.#set.set(runId, this.#timers.set(wakeUp.dueAt, ring, wakeUp.asOf));
  }
}
