import { sizeOf } from '../../core/index.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import { isLarge } from '../../turn/outcome.ts';
import { type AttemptOf, AttemptView } from './attempt-view.ts';
import type { AttemptHost } from './live-attempt.ts';

/** The most that one turn decides ahead. */
export type AheadLimits = {
  readonly steps: number;
  readonly ms: number;
  /** The size of their results together (sizeOf). */
  readonly bytes: number;
  /** Monotonic time in ms. */
  readonly stopwatch: () => number;
};

export const AHEAD_LIMITS: AheadLimits = {
  steps: 64,
  ms: 2,
  bytes: 256 * 1024,
  stopwatch: () => performance.now(),
};

/** The items of a loop that is begun ahead; more take their own turn of the event loop. */
const MAX_ITEMS_BYTES = 64 * 1024;

/** The steps that a turn decides ahead: a burst ends where a limit is reached. */
export class Burst {
  readonly #limits: AheadLimits;
  readonly #beganAt: number;
  #steps = 0;
  #bytes = 0;
  /** How many attempts that the turn has started are left to be executed after its commit. */
  left = 0;

  constructor(limits: AheadLimits) {
    this.#limits = limits;
    this.#beganAt = limits.stopwatch();
  }

  /** Whether no further step may be evaluated. */
  get isOver(): boolean {
    const { steps, ms, bytes, stopwatch } = this.#limits;
    if (this.#steps >= steps || this.#bytes >= bytes) return true;
    return stopwatch() - this.#beganAt >= ms;
  }

  evaluated(outcome: Outcome): void {
    this.#steps += 1;
    if (outcome.kind === 'completed') this.#bytes += sizeOf(outcome.result);
    else if (outcome.kind === 'expanding') this.#bytes += sizeOf(outcome.items);
  }
}

/** An attempt that is decided in the turn that starts it. */
export class AttemptAhead extends AttemptView implements Attempt {
  readonly #host: AttemptHost;

  constructor(of: AttemptOf, host: AttemptHost) {
    super(of, host.now(), host.resources.storedResults);
    this.#host = host;
  }

  /** A step that is decided at once puts its lines into the outcome. */
  log(): void {}

  /**
   * Returns the outcome, or null if the step takes more than a moment, does more than compute, or reads a large result
   * that is not in memory: then it is executed after the commit that starts it.
   */
  outcome(type: StepType): Outcome | null {
    const wanted = this.storedReads(type);
    if (wanted !== null && !this.loadCached(wanted)) return null;
    try {
      const outcome = type.atOnce?.(this);
      if (outcome === undefined || !isSmall(outcome)) return null;
      this.#host.observer.attemptEnded(this.step.type, outcome.kind, Math.max(0, this.#host.now() - this.now));
      return outcome;
    } catch {
      // The attempt throws again when it is executed, and that is reported.
      return null;
    } finally {
      this.release();
    }
  }
}

function isSmall(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'completed':
      return !isLarge(outcome);
    case 'expanding':
      return sizeOf(outcome.items) <= MAX_ITEMS_BYTES;
    case 'failed':
      return true;
    case 'waiting':
    case 'calling':
    case 'sleeping':
      return false;
  }
}
