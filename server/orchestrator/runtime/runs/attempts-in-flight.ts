import { stepSpec } from '../../core/index.ts';
import type { Outcome } from '../../ports/step-type.ts';
import type { RunCredits } from '../credits/run-credits.ts';
import type { AttemptOf, AttemptView } from './attempt-view.ts';
import { type AttemptOwner, LiveAttempt } from './live-attempt.ts';
import type { AttemptRef, HeldRun, RunHost } from './run-host.ts';
import type { SlotKind } from './slots.ts';
import { AttemptAhead } from './steps-ahead.ts';

/** The attempts of one run that this process executes, with their slots and reservations. */
export class AttemptsInFlight {
  readonly live = new Map<string, LiveAttempt>();
  readonly #run: Pick<HeldRun, 'identity' | 'state'>;
  readonly #credits: RunCredits;
  readonly #owner: AttemptOwner;
  readonly #host: RunHost;

  constructor(run: Pick<HeldRun, 'identity' | 'state'>, credits: RunCredits, owner: AttemptOwner, host: RunHost) {
    this.#run = run;
    this.#credits = credits;
    this.#owner = owner;
    this.#host = host;
  }

  start(started: AttemptRef): void {
    const of = this.#attemptOf(started);
    const live = new LiveAttempt(of, this.#owner, this.#host);
    this.live.set(started.step, live);
    const type = this.#host.stepType(of.step.type);
    if (type?.io && this.#host.moveToCalls(this.#tenantId)) live.slot = 'call';
    live.start(type);
  }

  /** Evaluates an attempt that was just started, if its step can be decided at once; otherwise returns null. */
  evaluate(started: AttemptRef): { attempt: AttemptView; outcome: Outcome } | null {
    const { step, attempt } = started;
    const { state } = this.#run;
    // A step that failed instead of starting is over.
    if (!state.inFlight.has(step) || state.steps.get(step)?.attempt !== attempt) return null;
    const type = this.#host.stepType(stepSpec(state, step).type);
    // An attempt that must reserve what it may cost waits for that.
    if (type?.atOnce === undefined || this.#credits.reserver(step) !== undefined) return null;
    const ahead = new AttemptAhead(this.#attemptOf(started), this.#host);
    const outcome = ahead.outcome(type);
    return outcome && { attempt: ahead, outcome };
  }

  /** An attempt has ended by itself. */
  ended(live: LiveAttempt): void {
    this.live.delete(live.step.id);
    this.#host.releaseSlot(this.#tenantId, live.slot);
  }

  abort(step: string): void {
    const attempt = this.live.get(step);
    if (attempt === undefined) return;
    this.live.delete(step);
    this.releaseStep(step, attempt.slot);
    attempt.abort();
  }

  abortAll(): void {
    for (const step of [...this.live.keys()]) this.abort(step);
  }

  /** Releases the slot and the credits of a step that has no attempt any more. */
  releaseStep(step: string, slot: SlotKind = 'step'): void {
    this.#host.releaseSlot(this.#tenantId, slot);
    this.#credits.release(step);
  }

  get #tenantId(): string {
    return this.#run.identity.tenantId;
  }

  #attemptOf({ step, attempt }: AttemptRef): AttemptOf {
    const { identity, state } = this.#run;
    return { identity, state, step: stepSpec(state, step), attempt, credits: this.#credits };
  }
}
