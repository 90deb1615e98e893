import { effects, INSUFFICIENT_CREDITS, stepSpec } from '../../core/index.ts';
import type { Turn } from '../../turn/turn.ts';
import type { RunCredits } from '../credits/run-credits.ts';
import type { LiveRun } from './live-run.ts';
import { TOO_FEW_CREDITS } from './refusals.ts';
import type { RunHost } from './run-host.ts';
import { SlotWaits } from './slots.ts';

/** Which steps of a run start in a turn: those that are ready, lost or due, in the slots and with the credits that it has. */
export class StepStarts {
  /** Slots granted and not yet used. */
  granted = 0;
  /** Attempts that are in flight by the log but not executed by this process: they started before a crash. */
  lost: Set<string> | null;
  /** Retries whose time has come. */
  due: Set<string> | null = null;
  readonly #run: LiveRun;
  readonly #credits: RunCredits;
  readonly #host: RunHost;
  readonly #slotWaits = new SlotWaits();
  /** While 'asked', no step starts: the balance of the workspace is being read again. */
  #asksForCredits: 'no' | 'asked' | 'answered' = 'no';

  constructor(run: LiveRun, credits: RunCredits, host: RunHost) {
    const { inFlight } = run.state;
    this.lost = inFlight.size > 0 ? new Set(inFlight) : null;
    this.#run = run;
    this.#credits = credits;
    this.#host = host;
  }

  /** How many attempts were lost and have not started again. */
  get interrupted(): number {
    return this.lost?.size ?? 0;
  }

  get asksForCredits(): boolean {
    return this.#asksForCredits !== 'no';
  }

  /** Whether a step would start if there were one more slot. */
  get areWanted(): boolean {
    if (!this.#run.advances || this.asksForCredits) return false;
    return this.#run.state.ready.size + this.interrupted + (this.due?.size ?? 0) > this.granted;
  }

  /** The time of a retry has come. */
  isDue(step: string): void {
    this.due ??= new Set();
    this.due.add(step);
  }

  /** Starts what may start, in the slots that are free for the run. Call this once the turn has decided what has ended. */
  decide(turn: Turn, now: number): void {
    turn.forgetCancelled(this.lost, this.due);
    if (this.#asksForCredits === 'answered') this.#asksForCredits = 'no';
    if (!this.#run.advances) this.#credits.forgetAsked();
    if (this.areWanted) this.#host.claim(this.#run);
    if (this.granted > 0) this.#start(turn, now);
    if (this.#run.waitingSteps > 0) this.#slotWaits.stillWaiting(this.#run.state.ready, now);
    else this.#slotWaits.clear();
  }

  releaseSlots(): void {
    for (; this.granted > 0; this.granted -= 1) this.#host.releaseSlot(this.#run.tenantId, 'step');
  }

  /** Starts steps in the granted slots, and releases the slots that no step needs. */
  #start(turn: Turn, now: number): void {
    const candidates = this.#run.advances ? [...(this.lost ?? []), ...(this.due ?? [])] : [];
    for (const step of candidates) {
      if (this.granted === 0 || !this.#hasCreditsFor(turn, step, now)) break;
      this.lost?.delete(step);
      this.due?.delete(step);
      this.#startOne(turn, step, now);
    }
    for (const step of effects(this.#run.state).ready) {
      if (this.granted === 0 || !this.#hasCreditsFor(turn, step, now)) break;
      this.#startOne(turn, step, now);
    }
    turn.forgetCancelled(this.lost, this.due);
    if (this.lost?.size === 0) this.lost = null;
    if (this.due?.size === 0) this.due = null;
    this.releaseSlots();
    // A step that failed instead of starting (no credits, lost too often) may have made other steps of the run ready.
    if (turn.cancelled.length > 0 && this.areWanted) this.#host.claim(this.#run);
  }

  /**
   * Returns whether the step may start as far as credits are concerned. If the workspace cannot pay for it, the step
   * fails before it does anything, or the run is paused; but no step is denied before the balance was read again.
   */
  #hasCreditsFor(turn: Turn, step: string, now: number): boolean {
    if (!this.#run.advances || this.asksForCredits) return false;
    switch (this.#credits.admit(step, stepSpec(this.#run.state, step).type)) {
      case 'admitted':
        return true;
      case 'unknown':
        this.#asksForCredits = 'asked';
        this.#credits.whenKnown(() => {
          this.#asksForCredits = 'answered';
          this.#run.creditsKnown();
        });
        return false;
      case 'denied':
        this.#denyStep(turn, step, now);
        return false;
    }
  }

  #denyStep(turn: Turn, step: string, now: number): void {
    if (this.#credits.pauses) {
      turn.apply({ type: 'pause', by: 'credits', reason: INSUFFICIENT_CREDITS }, now);
      return;
    }
    this.#startOne(turn, step, now);
    const attempt = this.#run.state.steps.get(step)?.attempt ?? 0;
    turn.apply({ type: 'attempt_failed', step, attempt, error: TOO_FEW_CREDITS, retryable: false, random: 0 }, now);
  }

  #startOne(turn: Turn, step: string, now: number): void {
    const before = turn.started.length;
    turn.apply({ type: 'start_attempt', step, leader: this.#host.leader }, now);
    this.granted -= 1;
    if (turn.started.length === before) {
      this.#host.releaseSlot(this.#run.tenantId, 'step');
      this.#credits.release(step);
    } else this.#host.observer.stepStarted(stepSpec(this.#run.state, step).type, this.#slotWaits.started(step, now));
  }
}
