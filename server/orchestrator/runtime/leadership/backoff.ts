/** How an attempt to lead ended. */
export type LeadingEnd =
  /** The database could not be reached, or did not answer. */
  | 'unreachable'
  /** The database was reached, but this process may not lead there, or led without committing anything. */
  | 'fruitless'
  /** The process committed something, or led for long enough. */
  | 'fruitful';

const FIRST_MS = 50;
/** A database that was restarted is found within this time. */
const MAX_UNREACHABLE_MS = 2_000;
/**
 * Each leadership starts with a full recovery, so it is not repeated often on a full disk, or
 * wherever else commits fail.
 */
const MAX_FRUITLESS_MS = 10_000;

/** How long to wait before the next attempt to lead: twice as long each time, from 100 ms on. */
export class Backoff {
  #unreachable = 0;
  #fruitless = 0;

  /** Acquiring the lock alone is no success: where commits fail, it succeeds again and again. */
  after(end: LeadingEnd): number {
    if (end === 'unreachable') this.#unreachable += 1;
    else {
      this.#unreachable = 0;
      this.#fruitless = end === 'fruitless' ? this.#fruitless + 1 : 0;
      if (end === 'fruitful') this.#unreachable = 1;
    }
    return Math.max(
      Math.min(MAX_UNREACHABLE_MS, FIRST_MS * 2 ** this.#unreachable),
      this.#fruitless === 0 ? 0 : Math.min(MAX_FRUITLESS_MS, FIRST_MS * 2 ** this.#fruitless),
    );
  }
}
