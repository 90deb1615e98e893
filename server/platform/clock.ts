/** The one source of time. Injected everywhere, so that tests and the simulation own it; SQL never calls now(). */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that moves only when told to. */
export class ManualClock implements Clock {
  #now: number;
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }
  now(): number {
    return this.#now;
  }
  /** Moves time on by `ms` milliseconds. */
  advance(ms: number): void {
    this.#now += ms;
  }
}

/** ISO 8601 UTC with milliseconds and `Z`: the only form of a timestamp on the wire (decisions.md, Conventions). */
export function isoTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}
