/** The only source of time. Injected everywhere, so that tests and the simulation control it; SQL never calls now(). */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const MINUTE_MS = 60_000;
export const QUARTER_HOUR_MS = 900_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export const systemClock: Clock = { now: () => Date.now() };

/** Calls `ring` once after about `delayMs`; returns a function that cancels it. No other code waits in real time. */
export type Alarm = {
  (delayMs: number, ring: () => void): () => void;
  /** The maximum time that timers wait before they read the clock again, in ms; by default an hour. */
  longestMs?: number;
};

export const systemAlarm: Alarm = (delayMs, ring) => {
  const timeout = setTimeout(ring, delayMs);
  return () => clearTimeout(timeout);
};
/** The time within which timers notice a clock that was set forward, or a machine that slept. A wake-up costs a few microseconds. */
systemAlarm.longestMs = 5_000;

/** A clock that moves only when told to, for tests. */
export class ManualClock implements Clock {
  #now: number;
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }
  now(): number {
    return this.#now;
  }
  /** Advances the time by `ms` milliseconds. */
  advance(ms: number): void {
    this.#now += ms;
  }
}

/**
 * Returns ISO 8601 UTC with milliseconds and `Z`: the only form of a timestamp on the wire
 * (docs/specification/http.md#timestamps).
 */
export function isoTimestamp(ms: number): string {
  // Also true for NaN. Times outside of the years 0 to 9999 have no such form, and one bad row must not fail a page.
  if (!(ms <= LATEST_MS)) return '9999-12-31T23:59:59.999Z';
  if (ms < EARLIEST) return '0000-01-01T00:00:00.000Z';
  const whole = Math.trunc(ms);
  const second = Math.floor(whole / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, -4);
    lastSecond = second;
  }
  return `${lastText}${String(whole - second * 1000).padStart(3, '0')}Z`;
}

const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z');
/** The last instant whose year has four digits. */
export const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

// Caches the text of the last second that was formatted: V8 writes a date with sprintf, which takes 3 µs, and most
// calls fall into the same second.
let lastSecond = Number.NaN;
let lastText = '';
