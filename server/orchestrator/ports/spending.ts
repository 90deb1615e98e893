import { DAY_MS } from '../../platform/clock.ts';
import type { StepError } from '../core/index.ts';

/** The bounds of a day in UTC, in ms since the epoch. */
export type Day = { from: number; to: number };

/** Returns when the day of an instant began in UTC, and when the next one does. */
export function dayOf(at: number): Day {
  const from = at - (at % DAY_MS);
  return { from, to: from + DAY_MS };
}

/** Microcredits that may be spent (null: without limit), and what has been charged so far. */
export type Spent = { limit: number | null; spent: number };

/**
 * The engine's source of what a person may spend a day. The engine itself knows what its attempts in flight have reserved: only the
 * leader executes any.
 */
export interface SpendingSource {
  /** Returns what the runs of the person that started on the day have been charged as of the last commit. Rejects if the database is away. */
  load(person: { tenantId: string; userId: string }, day: Day): Promise<Spent>;
  /** Returns the error of an attempt for which too little is left of the day. */
  refusal(day: Day): StepError;
}
