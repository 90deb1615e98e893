import { withLineage } from '../../../platform/lineage.ts';
import { lineageOf, type RunState, type StoredValue } from '../../core/index.ts';
import type { AttemptEnd, OrchestratorObserver } from '../../ports/observer.ts';
import type { Attempt, Outcome, StepType } from '../../ports/step-type.ts';
import { isLarge } from '../../turn/outcome.ts';
import { priceAhead } from '../credits/run-credits.ts';
import type { RunResources } from '../memory/run-resources.ts';
import { ResultMissing, ResultsTooLarge } from '../memory/stored-results.ts';
import { type AttemptOf, AttemptView } from './attempt-view.ts';
import type { FaultLog } from './fault-log.ts';
import type { SlotKind } from './slots.ts';
import type { TimerHandle } from './timers.ts';

/** The delay before stored results that could not be loaded are loaded again. */
const RELOAD_DELAY_MS = 1_000;
/** Characters of what an attempt has written that are kept if it is cancelled. */
const MAX_PARTIAL_LENGTH = 100_000;

/** The parts of the process that an attempt needs. */
export type AttemptHost = {
  now(): number;
  setTimer(dueAt: number, fire: () => void): TimerHandle;
  cancelTimer(timer: TimerHandle): void;
  readonly observer: OrchestratorObserver;
  readonly faults: FaultLog;
  readonly resources: RunResources;
};

/** Where an attempt reports. Neither method is called once the attempt is over. */
export type AttemptOwner = {
  attemptEnded(attempt: LiveAttempt, outcome: Outcome): void;
  attemptLogged(attempt: LiveAttempt, lines: string[]): void;
};

/**
 * One attempt in flight, from the commit of its `step_started` to its first outcome, its timeout or its abort; anything
 * that the step type does after that is ignored.
 */
export class LiveAttempt extends AttemptView implements Attempt {
  readonly reserve: Attempt['reserve'];
  /** The kind of slot that it holds, to be released when it ends. */
  slot: SlotKind = 'step';
  /** The text that it has written so far, which is kept if it is cancelled. */
  partial = '';
  readonly #state: RunState;
  readonly #owner: AttemptOwner;
  readonly #host: AttemptHost;
  readonly #abort = new AbortController();
  #timeoutS: number | null = null;
  #timeout: TimerHandle | null = null;
  /** Whether room for its result is reserved (scripts only). */
  #hasRoom = false;
  #live = true;

  constructor(of: AttemptOf, owner: AttemptOwner, host: AttemptHost) {
    super(of, host.now(), host.resources.storedResults);
    const reserve = of.credits.reserver(of.step.id);
    this.reserve = reserve && (wanted => reserve(wanted, this.#abort.signal));
    this.#state = of.state;
    this.#owner = owner;
    this.#host = host;
  }

  /** Runs the step type; settles through the owner, never by throwing. */
  start(type: StepType | undefined): void {
    if (type === undefined) {
      this.#fail('unknown_step_type', `This server has no step type "${this.step.type}".`);
      return;
    }
    this.#timeoutS = this.#limit(type);
    // Waiting for a worker does not count towards a script's time limit: that wait depends on other runs.
    if (!type.queues) this.began();
    else if (!this.#host.resources.uncommittedResults.tryReserve(this.run.tenantId)) {
      void this.#startWhenRoom(type);
      return;
    } else this.#hasRoom = true;
    this.#begin(type);
  }

  async #startWhenRoom(type: StepType): Promise<void> {
    const { uncommittedResults } = this.#host.resources;
    const { tenantId } = this.run;
    try {
      await uncommittedResults.reserve(tenantId, this.#abort.signal);
    } catch {
      // The attempt was aborted.
      return;
    }
    if (!this.#isWanted) {
      uncommittedResults.release(tenantId);
      return;
    }
    this.#hasRoom = true;
    this.#begin(type);
  }

  get #isWanted(): boolean {
    return this.#live && this.isInFlight;
  }

  /** Executes it, once its large results are loaded. */
  #begin(type: StepType): void {
    const wanted = this.storedReads(type);
    if (wanted === null || this.loadCached(wanted)) void this.#execute(type);
    else void this.#loadAndExecute(type, wanted);
  }

  /** Starts the time of its `timeout_s`. Has no effect when called again. */
  began(): void {
    const timeoutS = this.#timeoutS;
    if (!this.#live || timeoutS === null || this.#timeout !== null) return;
    this.#timeout = this.#host.setTimer(this.#host.now() + timeoutS * 1000, () => this.#timedOut(timeoutS));
  }

  /** Ends it without an outcome: the step was cancelled, or another process continues the run. */
  abort(): void {
    if (!this.#live) return;
    this.#observeEnd('cancelled');
    this.#close();
    this.#abort.abort();
  }

  get traceparent(): string | undefined {
    return this.#host.observer.traceparent(this.run.id, this.step.id, this.attempt);
  }

  ownTurn(): Promise<void> {
    return this.#host.resources.ownTurn();
  }

  wrote(text: string): void {
    if (this.partial.length < MAX_PARTIAL_LENGTH) this.partial += text;
  }

  log(lines: string[]): void {
    if (this.#live) this.#owner.attemptLogged(this, lines);
  }

  async #execute(type: StepType): Promise<void> {
    let outcome: Outcome;
    try {
      const refused = this.reserve === undefined ? null : await this.#refused(type, this.reserve);
      if (this.reserve !== undefined && !this.#isWanted) return;
      const by = { tenantId: this.run.tenantId, ...lineageOf(this.run.id, this.#state.started) };
      const executing = refused ?? withLineage(by, () => type.execute(this, this.#abort.signal));
      // A type that declares what it reads has read it by now, unless it is queued.
      if (type.reads !== undefined && !type.queues) this.release();
      outcome = await executing;
      // The result is serialized next: one large result at a time, so that the event loop is not blocked.
      if (isLarge(outcome)) await this.#host.resources.ownTurn();
    } catch (error) {
      if (!this.#live) return;
      this.#host.faults.stepThrew(this, error);
      const message = 'The step could not be executed because of an internal error.';
      outcome = { kind: 'failed', error: { code: 'internal_error', message }, retryable: true };
    }
    this.#end(outcome);
  }

  /** Reserves what the attempt costs by itself. The end of a step that has expanded was reserved when it expanded. */
  async #refused(type: StepType, reserve: NonNullable<Attempt['reserve']>): Promise<Outcome | null> {
    if (type.reserves || this.#state.grown?.parents.has(this.step.id)) return null;
    const price = priceAhead(type.billable, this.prices);
    const reserved = price === 0 ? null : await reserve({ least: price, most: price });
    return reserved?.kind === 'refused' ? { kind: 'failed', error: reserved.error, retryable: false } : null;
  }

  async #loadAndExecute(type: StepType, results: ReadonlyMap<string, StoredValue>): Promise<void> {
    const { id: runId, tenantId } = this.run;
    try {
      const loaded = await this.#host.resources.storedResults.load({ runId, tenantId, results }, this.#abort.signal);
      if (!this.#isWanted) {
        loaded.release();
        return;
      }
      this.loaded = loaded;
    } catch (error) {
      this.#notLoaded(type, results, error);
      return;
    }
    await this.#execute(type);
  }

  #notLoaded(type: StepType, results: ReadonlyMap<string, StoredValue>, error: unknown): void {
    if (!this.#live) return;
    if (error instanceof ResultsTooLarge) {
      this.#fail('step_data_too_large', error.message);
      return;
    }
    this.#host.faults.resultsNotLoaded(this, error);
    if (error instanceof ResultMissing) {
      this.#fail('result_missing', 'A result that the step reads is missing in the log.');
      return;
    }
    // The database is unreachable or busy. The step has done nothing yet, so this does not count as a failed attempt.
    this.#host.setTimer(this.#host.now() + RELOAD_DELAY_MS, () => {
      if (this.#live) void this.#loadAndExecute(type, results);
    });
  }

  #fail(code: string, message: string): void {
    this.#end({ kind: 'failed', error: { code, message }, retryable: false });
  }

  #limit(type: StepType): number | null {
    return type.waitsForPeople ? null : (this.step.timeout_s ?? type.defaultTimeoutS);
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
    this.release();
    if (this.#hasRoom) this.#host.resources.uncommittedResults.release(this.run.tenantId);
    this.#hasRoom = false;
    if (this.#timeout !== null) this.#host.cancelTimer(this.#timeout);
    this.#timeout = null;
  }
}
