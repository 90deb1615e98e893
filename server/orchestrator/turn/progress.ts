import { RUN_PROJECTION_FIELDS, type RunProjection } from '../log/index.ts';

/** The maximum lag of the progress in lists (`steps_done`, `steps_skipped`, `last_seq`) behind the log, in ms. */
export const PROGRESS_LAG_MS = 250;

/**
 * Decides which commits of a run carry its projection. All fields that a list filters by, a person waits for
 * or recovery reads (status, phase, tasks, timers, end) are written with the events that change them. If only
 * the progress changed, it may wait for up to PROGRESS_LAG_MS: updating the row at each of ten fast steps
 * cost as much as their events.
 */
export class RunProgress {
  #written: RunProjection | null = null;
  #writtenAt = 0;
  /** Whether the projection in the database is older than the log. */
  behind = false;

  /**
   * Returns `next` if the commit at `now` (ms since the epoch) writes it, null if it can wait. `must`: it cannot wait.
   */
  take(next: RunProjection, { now, must }: { now: number; must: boolean }): RunProjection | null {
    // A clock that was set back does not delay the progress.
    const recent = now >= this.#writtenAt && now - this.#writtenAt < PROGRESS_LAG_MS;
    if (!must && this.#written !== null && recent && sameButForProgress(this.#written, next)) {
      this.behind = true;
      return null;
    }
    this.#written = next;
    this.#writtenAt = now;
    this.behind = false;
    return next;
  }
}

/** Fields that only describe a run's progress; every other field is written with the events that change it. */
const PROGRESS: readonly (keyof RunProjection)[] = ['stepsDone', 'stepsSkipped', 'lastSeq', 'credits'];
const WITH_ITS_EVENTS = RUN_PROJECTION_FIELDS.filter(field => !PROGRESS.includes(field));

const sameButForProgress = (a: RunProjection, b: RunProjection): boolean =>
  WITH_ITS_EVENTS.every(field => a[field] === b[field]);

/** A run whose projection is behind. */
export type Lagging = { catchUp(): void };

/** The timers that the sweep needs: call `ring` once at `dueAt`, in ms since the epoch. */
type Timers = { set(dueAt: number, ring: () => void): unknown };

/** Lets the runs that are behind catch up together, at most every PROGRESS_LAG_MS. */
export class ProgressSweep {
  readonly #timers: Timers;
  readonly #now: () => number;
  #behind = new Set<Lagging>();
  #armed = false;

  constructor(timers: Timers, now: () => number) {
    this.#timers = timers;
    this.#now = now;
  }

  add(run: Lagging): void {
    this.#behind.add(run);
    if (this.#armed) return;
    this.#armed = true;
    this.#timers.set(this.#now() + PROGRESS_LAG_MS, () => {
      this.#armed = false;
      this.catchUpAll();
    });
  }

  delete(run: Lagging): void {
    this.#behind.delete(run);
  }

  /** Lets all of them catch up now. */
  catchUpAll(): void {
    const behind = this.#behind;
    this.#behind = new Set();
    for (const run of behind) run.catchUp();
  }
}
