import { withLineage } from '../../../platform/lineage.ts';
import {
  type AgentProgress,
  addedId,
  agentProgress,
  type GraphStep,
  isAgent,
  itemOf,
  type JsonMap,
  type JsonValue,
  lineageOf,
  outsideInputOf,
  privateInputOf,
  type RunState,
  readableSteps,
  readStep,
  type StepError,
  StoredValue,
  stepSpec,
} from '../../core/index.ts';
import type { ActionPrices } from '../../ports/billable-actions.ts';
import type { AttemptEnd, OrchestratorObserver } from '../../ports/observer.ts';
import type { Attempt, CallLineage, Gathered, Outcome, StepType } from '../../ports/step-type.ts';
import { isLarge } from '../../turn/outcome.ts';
import type { RunIdentity } from '../../turn/turn.ts';
import { priceAhead, type RunCredits } from '../credits/run-credits.ts';
import type { RunResources } from '../memory/run-resources.ts';
import { type LoadedResults, ResultMissing, ResultsTooLarge } from '../memory/stored-results.ts';
import type { FaultLog } from './fault-log.ts';
import { gatheredOf, storedEnds } from './gathering.ts';
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

/** The prices for an attempt, and the function that reserves its maximum cost. */
type AttemptCredits = Pick<RunCredits, 'prices' | 'reserver'>;

/** Where an attempt reports. Neither method is called once the attempt is over. */
export type AttemptOwner = {
  attemptEnded(attempt: LiveAttempt, outcome: Outcome): void;
  attemptLogged(attempt: LiveAttempt, lines: string[]): void;
};

/**
 * One attempt in flight, from the commit of its `step_started` to its first outcome, its timeout or its abort; anything
 * that the step type does after that is ignored.
 */
export class LiveAttempt implements Attempt {
  readonly run: Attempt['run'];
  readonly step: GraphStep;
  readonly attempt: number;
  readonly now: number;
  readonly input: JsonMap;
  readonly prices: ActionPrices;
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
  #loaded: LoadedResults | null = null;
  #readable: ReadonlySet<string> | null = null;
  /** Whether room for its result is reserved (scripts only). */
  #hasRoom = false;
  #live = true;

  constructor(
    of: { identity: RunIdentity; state: RunState; step: GraphStep; attempt: number; credits: AttemptCredits },
    owner: AttemptOwner,
    host: AttemptHost,
  ) {
    const { runId: id, workflowId, version, tenantId, projectId } = of.identity;
    this.run = { id, workflowId, version, tenantId, projectId, startedBy: of.state.started?.started_by ?? '' };
    this.step = of.step;
    this.attempt = of.attempt;
    this.now = host.now();
    this.input = of.state.input;
    this.prices = of.credits.prices;
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
    if (!this.#isInFlight) {
      uncommittedResults.release(tenantId);
      return;
    }
    this.#hasRoom = true;
    this.#begin(type);
  }

  /**
   * Whether the attempt is still to be executed. An attempt that was cancelled is aborted only after the commit of that
   * decision; until then the state no longer holds what the attempt would read, such as the item of its loop.
   */
  get #isInFlight(): boolean {
    const { id } = this.step;
    return this.#live && this.#state.inFlight.has(id) && this.#state.steps.get(id)?.attempt === this.attempt;
  }

  /** Executes it, once its large results are loaded. */
  #begin(type: StepType): void {
    const wanted = this.#state.storedResults === 0 ? null : this.#storedReads(type);
    if (wanted === null || this.#loadCached(wanted)) void this.#execute(type);
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

  result(step: string): JsonValue {
    if (!this.ancestors().has(step)) throw new Error(`step "${step}" is not an ancestor of "${this.step.id}"`);
    const result = this.#state.results.get(readStep(this.#state, this.step.id, step)) ?? null;
    if (!(result instanceof StoredValue)) return result;
    if (this.#loaded === null) throw new Error(`the result of "${step}" is not loaded`);
    return this.#loaded.value(step);
  }

  errorOf(step: string): StepError | undefined {
    if (!this.ancestors().has(step)) return undefined;
    return this.#state.steps.get(readStep(this.#state, this.step.id, step))?.error;
  }

  resultText(step: string): string | undefined {
    if (!this.ancestors().has(step)) return undefined;
    const isStored = this.#state.results.get(readStep(this.#state, this.step.id, step)) instanceof StoredValue;
    return isStored ? this.#loaded?.text(step) : undefined;
  }

  stepOf(step: string): GraphStep | undefined {
    if (!this.ancestors().has(step)) return undefined;
    return stepSpec(this.#state, readStep(this.#state, this.step.id, step));
  }

  get outsideInput(): string | null {
    return outsideInputOf(this.#state.started);
  }

  get privateInput(): string | null {
    return privateInputOf(this.#state.started);
  }

  get loop(): GraphStep | null {
    const parent = addedId(this.step.id)?.parent;
    return parent === undefined || this.item === null ? null : stepSpec(this.#state, parent);
  }

  ownTurn(): Promise<void> {
    return this.#host.resources.ownTurn();
  }

  ancestors(): ReadonlySet<string> {
    this.#readable ??= readableSteps(this.#state, this.step.id);
    return this.#readable;
  }

  get item(): { item: JsonValue; index: number } | null {
    return itemOf(this.#state, this.step.id);
  }

  get gathered(): Gathered | null {
    const expansion = this.#state.grown?.parents.get(this.step.id);
    return expansion === undefined || isAgent(expansion) ? null : gatheredOf(expansion, this.#loaded);
  }

  get agent(): AgentProgress | null {
    return agentProgress(this.#state, this.step.id);
  }

  earlier(step: string): JsonValue {
    const { earlier_turns: turns } = this.#state.started ?? {};
    if (turns === undefined || addedId(this.step.id)?.parent !== turns.agent) return null;
    return Object.hasOwn(turns.steps, step) ? (turns.steps[step] ?? null) : null;
  }

  get child(): { runId: string; workflowId: string } | null {
    const call = this.#state.steps.get(this.step.id)?.call;
    return call?.ended === 'completed' ? { runId: call.runId, workflowId: call.workflowId } : null;
  }

  get inDoubt(): boolean {
    return this.#state.steps.get(this.step.id)?.inDoubt === true;
  }

  get lineage(): CallLineage {
    const { withheld_scopes: withheldScopes = [], parent, budget } = this.#state.started ?? {};
    const { agents = [], limits } = parent ?? {};
    return { withheldScopes, agents, limits: limits && { ...limits, ...(budget !== undefined && { budget }) } };
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
      if (this.reserve !== undefined && !this.#isInFlight) return;
      const by = { tenantId: this.run.tenantId, ...lineageOf(this.run.id, this.#state.started) };
      const executing = refused ?? withLineage(by, () => type.execute(this, this.#abort.signal));
      // A type that declares what it reads has read it by now, unless it is queued.
      if (type.reads !== undefined && !type.queues) this.#release();
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

  /** Returns the large results that the step type may read, by step; null without any. */
  #storedReads(type: StepType): ReadonlyMap<string, StoredValue> | null {
    const { results, grown } = this.#state;
    const expansion = grown?.parents.get(this.step.id);
    if (expansion !== undefined) return storedEnds(this.#state, this.step.id, expansion);
    const ancestors = this.ancestors();
    let wanted: Map<string, StoredValue> | null = null;
    for (const step of this.#readsOf(type, ancestors)) {
      if (!ancestors.has(step)) continue;
      const result = results.get(readStep(this.#state, this.step.id, step));
      if (!(result instanceof StoredValue)) continue;
      wanted ??= new Map();
      wanted.set(step, result);
    }
    return wanted;
  }

  #readsOf(type: StepType, ancestors: ReadonlySet<string>): Iterable<string> {
    try {
      const reads = type.reads?.(this.step) ?? 'all';
      return reads === 'all' ? ancestors : reads;
    } catch {
      // The fields cannot be read. Executing the step reports that.
      return [];
    }
  }

  #loadCached(results: ReadonlyMap<string, StoredValue>): boolean {
    const { id: runId, tenantId } = this.run;
    try {
      this.#loaded = this.#host.resources.storedResults.loadCached({ runId, tenantId, results });
      return this.#loaded !== null;
    } catch {
      // `#loadAndExecute` reports why.
      return false;
    }
  }

  async #loadAndExecute(type: StepType, results: ReadonlyMap<string, StoredValue>): Promise<void> {
    const { id: runId, tenantId } = this.run;
    try {
      const loaded = await this.#host.resources.storedResults.load({ runId, tenantId, results }, this.#abort.signal);
      if (!this.#isInFlight) {
        loaded.release();
        return;
      }
      this.#loaded = loaded;
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

  #release(): void {
    this.#loaded?.release();
    this.#loaded = null;
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
    this.#release();
    if (this.#hasRoom) this.#host.resources.uncommittedResults.release(this.run.tenantId);
    this.#hasRoom = false;
    if (this.#timeout !== null) this.#host.cancelTimer(this.#timeout);
    this.#timeout = null;
  }
}
