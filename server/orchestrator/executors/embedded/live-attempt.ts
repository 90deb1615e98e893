import type { GraphStep, JsonMap, JsonValue, RunState } from '../../core/index.ts';
import type { AttemptEnd, OrchestratorObserver } from '../../observer.ts';
import type { Attempt, Outcome, StepType } from '../../steps/step-type.ts';
import type { FaultLog } from './fault-log.ts';
import type { SlotKind } from './slots.ts';
import type { TimerHandle } from './timers.ts';

/** What an attempt needs of the process. */
export type AttemptHost = {
  now(): number;
  setTimer(dueAt: number, fire: () => void): TimerHandle;
  cancelTimer(timer: TimerHandle): void;
  readonly observer: OrchestratorObserver;
  readonly faults: FaultLog;
};

/** Where an attempt reports; both are called at most while it is live. */
export type AttemptOwner = {
  attemptEnded(attempt: LiveAttempt, outcome: Outcome): void;
  attemptLogged(attempt: LiveAttempt, lines: string[]): void;
};

/**
 * One attempt in flight, from the commit of its `step_started` to its first outcome, its timeout or its abort; whatever
 * the step type does after that is ignored.
 */
export class LiveAttempt implements Attempt {
  readonly run: Attempt['run'];
  readonly step: GraphStep;
  readonly attempt: number;
  readonly now: number;
  readonly input: JsonMap;
  /** What it is given back as when it ends. */
  slot: SlotKind = 'step';
  readonly #state: RunState;
  readonly #owner: AttemptOwner;
  readonly #host: AttemptHost;
  readonly #abort = new AbortController();
  #timeoutS: number | null = null;
  #timeout: TimerHandle | null = null;
  #live = true;

  constructor(
    of: { run: Attempt['run']; state: RunState; step: GraphStep; attempt: number },
    owner: AttemptOwner,
    host: AttemptHost,
  ) {
    this.run = of.run;
    this.step = of.step;
    this.attempt = of.attempt;
    this.now = host.now();
    this.input = of.state.input;
    this.#state = of.state;
    this.#owner = owner;
    this.#host = host;
  }

  /** Runs the step type; settles through the owner, never by throwing. */
  start(type: StepType | undefined): void {
    if (type === undefined) {
      const message = `This server has no step type "${this.step.type}".`;
      this.#end({ kind: 'failed', error: { code: 'unknown_step_type', message }, retryable: false });
      return;
    }
    this.#timeoutS = this.#limit(type);
    // A script that waits for a worker does not use up its time: how long that takes is up to others.
    if (!type.queues) this.began();
    void this.#execute(type);
  }

  /** Its `timeout_s` runs from here; called again, it changes nothing. */
  began(): void {
    const timeoutS = this.#timeoutS;
    if (!this.#live || timeoutS === null || this.#timeout !== null) return;
    this.#timeout = this.#host.setTimer(this.#host.now() + timeoutS * 1000, () => this.#timedOut(timeoutS));
  }

  /** Ends it without an outcome: the step was cancelled, or somebody else goes on with the run. */
  abort(): void {
    if (!this.#live) return;
    this.#observeEnd('cancelled');
    this.#close();
    this.#abort.abort();
  }

  get traceparent(): string | undefined {
    return this.#host.observer.traceparent(this.run.id, this.step.id, this.attempt);
  }

  result(step: string): JsonValue {
    if (!this.ancestors().has(step)) throw new Error(`step "${step}" is not an ancestor of "${this.step.id}"`);
    return this.#state.results.get(step) ?? null;
  }

  ancestors(): ReadonlySet<string> {
    return this.#state.graph.ancestors(this.step.id);
  }

  log(lines: string[]): void {
    if (this.#live) this.#owner.attemptLogged(this, lines);
  }

  async #execute(type: StepType): Promise<void> {
    let outcome: Outcome;
    try {
      outcome = await type.execute(this, this.#abort.signal);
    } catch (error) {
      if (!this.#live) return;
      this.#host.faults.stepThrew(this, error);
      const message = 'The step could not be executed because of an internal error.';
      outcome = { kind: 'failed', error: { code: 'internal_error', message }, retryable: true };
    }
    this.#end(outcome);
  }

  /** A human task's `timeout_s` is the time its people have; it bounds the wait, not this attempt. */
  #limit(type: StepType): number | null {
    if (type.type === 'human_task') return null;
    return this.step.timeout_s ?? type.defaultTimeoutS;
  }

  #timedOut(timeoutS: number): void {
    this.#timeout = null;
    const message = `The step did not end within ${timeoutS} s.`;
    this.#end({ kind: 'failed', error: { code: 'step_timed_out', message }, retryable: true }, 'timed_out');
    this.#abort.abort(new DOMException(message, 'TimeoutError'));
  }

  #end(outcome: Outcome, as: AttemptEnd = outcome.kind): void {
    if (!this.#live) return;
    this.#observeEnd(as);
    this.#close();
    this.#owner.attemptEnded(this, outcome);
  }

  #observeEnd(end: AttemptEnd): void {
    this.#host.observer.attemptEnded(this.step.type, end, Math.max(0, this.#host.now() - this.now));
  }

  #close(): void {
    this.#live = false;
    if (this.#timeout !== null) this.#host.cancelTimer(this.#timeout);
    this.#timeout = null;
  }
}
