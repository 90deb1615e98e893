import { type Alarm, type Clock, HOUR_MS } from '../../../platform/clock.ts';

/** `rings`: when it rings, in the timers' own time. */
export type TimerHandle = { readonly dueAt: number; readonly rings: number; readonly fire: () => void; place: number };

/** setTimeout takes at most 2^31 ms; a long wait is cut into hours. */
const MAX_WAIT_MS = HOUR_MS;

/**
 * All timers of the runtime behind one alarm: a binary heap in which every timer knows its place, so setting and
 * cancelling cost O(log n) and a cancelled timer leaves nothing behind. Times are ms since the epoch by `clock`. If the
 * clock is set back, timers that were set before still ring after their original delay.
 */
export class Timers {
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #heap: TimerHandle[] = [];
  /** How far the clock has been set back in total, and the last time that it showed. */
  #setBack = 0;
  #shown = Number.NEGATIVE_INFINITY;
  #armed: { at: number; cancel: () => void } | null = null;

  constructor(clock: Clock, alarm: Alarm) {
    this.#clock = clock;
    this.#alarm = alarm;
  }

  get size(): number {
    return this.#heap.length;
  }

  /**
   * Has `fire` called at `dueAt`, which was decided when the clock showed `asOf`: by a clock that was set back since, it
   * rings after the delay that was meant. Throws a RangeError unless `dueAt` is finite: NaN compares as neither earlier
   * nor later and would unsort the whole heap.
   */
  set(dueAt: number, fire: () => void, asOf = this.#clock.now()): TimerHandle {
    if (!Number.isFinite(dueAt)) throw new RangeError(`a timer cannot be set for ${dueAt}`);
    const ownNow = this.#now();
    const rings = dueAt + ownNow - Math.max(asOf, this.#shown);
    const timer: TimerHandle = { dueAt, rings, fire, place: this.#heap.length };
    this.#heap.push(timer);
    this.#siftUp(timer);
    // An alarm that rings too early is harmless and re-arms itself, so a cancelled head costs nothing here.
    if (timer.place === 0 && (this.#armed === null || timer.rings < this.#armed.at)) this.#arm();
    return timer;
  }

  cancel(timer: TimerHandle): void {
    const { place } = timer;
    if (this.#heap[place] !== timer) return;
    timer.place = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === timer) return;
    this.#heap[place] = last;
    last.place = place;
    this.#siftUp(last);
    this.#siftDown(last);
  }

  /** Drops everything. */
  clear(): void {
    this.#heap.length = 0;
    this.#armed?.cancel();
    this.#armed = null;
  }

  #arm(): void {
    this.#armed?.cancel();
    const first = this.#heap[0];
    if (first === undefined) {
      this.#armed = null;
      return;
    }
    const delay = Math.min(Math.max(first.rings - this.#now(), 0), this.#alarm.longestMs ?? MAX_WAIT_MS);
    this.#armed = { at: first.rings, cancel: this.#alarm(delay, () => this.#ring()) };
  }

  #ring(): void {
    this.#armed = null;
    const now = this.#now();
    for (let first = this.#heap[0]; first !== undefined && first.rings <= now; first = this.#heap[0]) {
      this.cancel(first);
      first.fire();
    }
    this.#arm();
  }

  /** The timers' own time, which never goes back. */
  #now(): number {
    const shown = this.#clock.now();
    if (shown < this.#shown) this.#setBack += this.#shown - shown;
    this.#shown = shown;
    return shown + this.#setBack;
  }

  #siftUp(timer: TimerHandle): void {
    while (timer.place > 0) {
      const parent = this.#heap[(timer.place - 1) >> 1];
      if (parent === undefined || parent.rings <= timer.rings) return;
      this.#swap(parent, timer);
    }
  }

  #siftDown(timer: TimerHandle): void {
    for (;;) {
      const left = this.#heap[2 * timer.place + 1];
      const right = this.#heap[2 * timer.place + 2];
      const least = right !== undefined && left !== undefined && right.rings < left.rings ? right : left;
      if (least === undefined || timer.rings <= least.rings) return;
      this.#swap(timer, least);
    }
  }

  /** Swaps `upper` with its child `lower`. */
  #swap(upper: TimerHandle, lower: TimerHandle): void {
    const place = upper.place;
    this.#heap[lower.place] = upper;
    this.#heap[place] = lower;
    upper.place = lower.place;
    lower.place = place;
  }
}
