import {
  type AgentProgress,
  addedId,
  agentProgress,
  type GraphStep,
  isAgent,
  itemOf,
  type JsonMap,
  type JsonValue,
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
import type { Attempt, CallLineage, Gathered, StepType } from '../../ports/step-type.ts';
import type { RunIdentity } from '../../turn/turn.ts';
import type { RunCredits } from '../credits/run-credits.ts';
import type { LoadedResults, StoredResults } from '../memory/stored-results.ts';
import { gatheredOf, storedEnds } from './gathering.ts';

/** The prices for an attempt, and the function that reserves its maximum cost. */
export type AttemptCredits = Pick<RunCredits, 'prices' | 'reserver'>;

/** Which attempt of which run. */
export type AttemptOf = {
  identity: RunIdentity;
  state: RunState;
  step: GraphStep;
  attempt: number;
  credits: AttemptCredits;
};

/** The run as one attempt sees it: the fields of its step, and the results that it may read. */
export class AttemptView implements Omit<Attempt, 'log'> {
  readonly run: Attempt['run'];
  readonly step: GraphStep;
  readonly attempt: number;
  readonly now: number;
  readonly input: JsonMap;
  readonly prices: ActionPrices;
  /** The large results that are in memory for it. */
  protected loaded: LoadedResults | null = null;
  readonly #state: RunState;
  readonly #stored: StoredResults;
  #readable: ReadonlySet<string> | null = null;

  constructor(of: AttemptOf, now: number, stored: StoredResults) {
    const { runId: id, workflowId, version, tenantId, projectId } = of.identity;
    this.run = { id, workflowId, version, tenantId, projectId, startedBy: of.state.started?.started_by ?? '' };
    this.step = of.step;
    this.attempt = of.attempt;
    this.now = now;
    this.input = of.state.input;
    this.prices = of.credits.prices;
    this.#state = of.state;
    this.#stored = stored;
  }

  /**
   * Whether the attempt is still to be executed. An attempt that was cancelled is aborted only after the commit of that
   * decision; until then the state no longer holds what the attempt would read, such as the item of its loop.
   */
  protected get isInFlight(): boolean {
    const { id } = this.step;
    return this.#state.inFlight.has(id) && this.#state.steps.get(id)?.attempt === this.attempt;
  }

  result(step: string): JsonValue {
    if (!this.ancestors().has(step)) throw new Error(`step "${step}" is not an ancestor of "${this.step.id}"`);
    const result = this.#state.results.get(readStep(this.#state, this.step.id, step)) ?? null;
    if (!(result instanceof StoredValue)) return result;
    if (this.loaded === null) throw new Error(`the result of "${step}" is not loaded`);
    return this.loaded.value(step);
  }

  errorOf(step: string): StepError | undefined {
    if (!this.ancestors().has(step)) return undefined;
    return this.#state.steps.get(readStep(this.#state, this.step.id, step))?.error;
  }

  resultText(step: string): string | undefined {
    if (!this.ancestors().has(step)) return undefined;
    const isStored = this.#state.results.get(readStep(this.#state, this.step.id, step)) instanceof StoredValue;
    return isStored ? this.loaded?.text(step) : undefined;
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

  ancestors(): ReadonlySet<string> {
    this.#readable ??= readableSteps(this.#state, this.step.id);
    return this.#readable;
  }

  get item(): { item: JsonValue; index: number } | null {
    return itemOf(this.#state, this.step.id);
  }

  get gathered(): Gathered | null {
    const expansion = this.#state.grown?.parents.get(this.step.id);
    return expansion === undefined || isAgent(expansion) ? null : gatheredOf(expansion, this.loaded);
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

  /** Returns the large results that the step type may read, by step; null without any. */
  protected storedReads(type: StepType): ReadonlyMap<string, StoredValue> | null {
    const { results, grown, storedResults } = this.#state;
    if (storedResults === 0) return null;
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

  /** Loads large results without waiting; returns false if that is not possible. */
  protected loadCached(results: ReadonlyMap<string, StoredValue>): boolean {
    const { id: runId, tenantId } = this.run;
    try {
      this.loaded = this.#stored.loadCached({ runId, tenantId, results });
      return this.loaded !== null;
    } catch {
      // Loading them in the background reports why.
      return false;
    }
  }

  protected release(): void {
    this.loaded?.release();
    this.loaded = null;
  }
}
