import type { WakeUp } from '../../turn/due.ts';
import type { RunKey } from './run-host.ts';
import type { TimerHandle, Timers } from './timers.ts';

/** The next wake-up timer of each run, whether in memory or not. */
export class WakeUpTimers {
  readonly #timers: Timers;
  readonly #wake: (run: RunKey) => void;
  readonly #set = new Map<string, { tenantId: string; timer: TimerHandle }>();

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
    const timer = this.#set.get(runId)?.timer;
    if (timer !== undefined) {
      if (timer.dueAt === wakeUp?.dueAt) return;
      this.#timers.cancel(timer);
      this.#set.delete(runId);
    }
    if (wakeUp === null) return;
    const ring = () => {
      this.#set.delete(runId);
      this.#wake({ runId, tenantId });
    };
    this.#set.set(runId, { tenantId, timer: this.#timers.set(wakeUp.dueAt, ring, wakeUp.asOf) });
  }

  /** Cancels the timers of the runs of these workspaces. */
  forget(isOf: (tenantId: string) => boolean): void {
    for (const [runId, { tenantId, timer }] of this.#set) {
      if (!isOf(tenantId)) continue;
      this.#timers.cancel(timer);
      this.#set.delete(runId);
    }
  }
}
