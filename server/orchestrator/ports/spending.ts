import { DAY_MS } from '../../platform/clock.ts';
import type { StepError } from '../core/index.ts';

/** The bounds of a day in UTC, in ms since the epoch. */
export type Day = { from: number; to: number };

/** Returns the beginning of the UTC day of an instant, and of the next one. */
export function dayOf(at: number): Day {
  const from = at - (at % DAY_MS);
  return { from, to: from + DAY_MS };
}

/** Microcredits that may be spent (null: without limit), and what has been charged so far. */
export type Spent = { limit: number | null; spent: number };

/**
 * The engine's source of a person's daily limit. The engine itself knows the reservations of its attempts in flight,
 * because only the leader executes attempts.
 */
export interface SpendingSource {
  /** Returns what the runs of the person that started on the day have been charged as of the last commit. Rejects if the database is away. */
  load(person: { tenantId: string; userId: string }, day: Day): Promise<Spent>;
  /** Returns the error of an attempt that the rest of the day's limit does not cover. */
  refusal(day: Day): StepError;
}
