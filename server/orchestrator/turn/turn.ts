import { cleanText } from '../../platform/clean-json.ts';
import { AppError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { readJson } from '../../platform/json-text.ts';
import {
  type Command,
  consumedBy,
  creditsOf,
  decide,
  type EndedAttempt,
  endsBillableAttempt,
  evolve,
  type GraphStep,
  grow,
  isTerminal,
  type LeaderTerm,
  phase,
  type RunEvent,
  type RunState,
  type RunStatus,
  type StepResult,
  StoredValue,
  sizeOf,
  stepSpec,
  stopOverBudget,
} from '../core/index.ts';
import {
  encodeEvents,
  type LargeResult,
  type LogEntry,
  PAYLOAD_THRESHOLD_BYTES,
  type RunProjection,
  type TaskChange,
  type UsageRow,
} from '../log/index.ts';
import type { ActionPrices } from '../ports/billable-actions.ts';
import type { CommittedEvent, RunSnapshot, StreamItem } from '../ports/orchestrator.ts';
import type { StepTypes } from '../ports/step-type.ts';
import { newRun } from './new-run.ts';
import { type OnExcess, priced } from './pricing.ts';
import { searchValues } from './search-values.ts';
import { label, storableText } from './storable-text.ts';

/** The prices for attempts that end in a turn. */
export type Pricing = { readonly prices: ActionPrices; readonly onExcess: OnExcess; readonly types: StepTypes };

/** An attempt in flight, and the text that it has written so far. */
type Writing = { readonly partial: string };
const NONE: ReadonlyMap<string, Writing> = new Map();

/** The identity of a run: fields that never change and against which commands are checked. */
export type RunIdentity = { runId: string; tenantId: string; projectId: string; workflowId: string; version: number };

/**
 * The decisions of a run between two commits: commands are decided and folded one after the other, and their events are
 * written as one entry. Before that entry is committed, no effect of a turn may be visible or acted upon.
 */
export class Turn {
  readonly events: RunEvent[] = [];
  /** Attempts started in this turn. */
  readonly started: { step: string; attempt: number }[] = [];
  /** Steps that were cancelled or failed, perhaps for another reason than the outcome of their attempt, which is then aborted. */
  readonly cancelled: string[] = [];
  /** Whether an attempt ended whose start is in the log. */
  endsAttempt = false;
  /** The cost of the attempts that ended since `takeCharges`, in microcredits. */
  #charges = 0;
  readonly #run: RunIdentity;
  readonly #state: RunState;
  readonly #firstSeq: number;
  readonly #isNew: boolean;
  readonly #pricing: Pricing;
  readonly #attempts: ReadonlyMap<string, Writing>;
  /** Large results that the events of this turn refer to. */
  #large: LargeResult[] | null = null;
  #tasks: Map<string, TaskChange> | null = null;
  /** The steps whose attempts ended in this turn, in a run that has grown. */
  #specs: Map<RunEvent, GraphStep> | null = null;
  #entry: LogEntry | null = null;

  /** `attempts`: those in flight, by step, with the text that they have written so far. */
  constructor(run: RunIdentity, state: RunState, pricing: Pricing, attempts: ReadonlyMap<string, Writing> = NONE) {
    this.#pricing = pricing;
    this.#attempts = attempts;
    this.#run = run;
    this.#state = state;
    this.#firstSeq = state.seq + 1;
    this.#isNew = state.status === null;
  }

  /** Whether this turn starts the run. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /**
   * Whether the projection must be written even if the row seems current. True for a stop: another process may have
   * written `paused` meanwhile, and recovery would then not load the run. True also for a paused run, which recovery
   * does not load, so nothing else would update its row; and where the row says what a person has spent.
   */
  get writesProjection(): boolean {
    const { stopRequested, status, started } = this.#state;
    return this.#isNew || stopRequested !== null || status === 'paused' || started?.spends_for !== undefined;
  }

  /** Large results that this turn stores. */
  get large(): readonly LargeResult[] {
    return this.#large ?? [];
  }

  /**
   * Decides and folds one command; returns the number of its events. `large` is the text of the result that it refers
   * to. Throws CommandRefused, leaving everything unchanged.
   */
  apply(command: Command, now: number, large: LargeResult | null = null): number {
    const events = decide(this.#state, priced(command, this.#pricing.prices, this.#pricing.onExcess), now);
    // An outcome that arrives too late has no effect, and its result is not stored.
    if (large !== null && events.length > 0) this.#store(large);
    for (const decided of events) {
      this.#add(command.type === 'complete_task' ? this.#withStoredResult(decided) : decided);
    }
    if (this.#state.grown !== null && events.length > 0) this.#grow(now);
    for (const event of stopOverBudget(this.#state, now)) this.#add(event);
    return events.length;
  }

  /** Returns the cost of the attempts that ended since the last call, in microcredits. */
  takeCharges(): number {
    const charges = this.#charges;
    this.#charges = 0;
    return charges;
  }

  #add(decided: RunEvent): void {
    const event = decided.type === 'step_cancelled' ? this.#withPartial(decided) : decided;
    this.#record(event);
    // The steps under an agent leave memory with it, together with their fields.
    if (this.#state.grown !== null && endsBillableAttempt(event)) {
      this.#specs ??= new Map();
      this.#specs.set(event, stepSpec(this.#state, event.step));
    }
    evolve(this.#state, event);
    if (endsBillableAttempt(event)) this.#charges += creditsOf(event);
    this.events.push(event);
  }

  /** Adds the text that a cancelled attempt had written. */
  #withPartial(event: Extract<RunEvent, { type: 'step_cancelled' }>): RunEvent {
    const partial = this.#attempts.get(event.step)?.partial ?? '';
    return partial === '' ? event : { ...event, data: { ...event.data, partial } };
  }

  /** Adds the events that follow from expanded steps. The loop ends, because each round adds or ends a step. */
  #grow(now: number): void {
    for (let more = grow(this.#state, now); more.length > 0; more = grow(this.#state, now)) {
      for (const event of more) this.#add(event);
    }
  }

  /**
   * Removes the steps that ended in this turn from the steps that wait for another attempt. Needed
   * only in a run that has grown.
   */
  forgetCancelled(...waiting: readonly (Set<string> | null)[]): void {
    if (this.#state.grown === null) return;
    for (const step of this.cancelled) for (const steps of waiting) steps?.delete(step);
  }

  /** Ends the run without the values that folding it would need. */
  quarantine(message: string, leader: LeaderTerm, now: number): void {
    this.apply({ type: 'quarantine', message, leader }, now);
    // Steps that start only to fail take no slot.
    this.started.length = 0;
  }

  #store(large: LargeResult): void {
    this.#large ??= [];
    this.#large.push(large);
  }

  /** An answer becomes a result only when it is decided, so a large one is stored externally here. */
  #withStoredResult(event: RunEvent): RunEvent {
    if (event.type !== 'step_completed' || !('result' in event.data)) return event;
    const stored = this.#storedResult(event.data.result);
    return stored === null ? event : { ...event, data: { ...event.data, result: stored } };
  }

  #storedResult(result: StepResult): StoredValue | null {
    if (result instanceof StoredValue || sizeOf(result) * MAX_ESCAPE_LENGTH <= PAYLOAD_THRESHOLD_BYTES) return null;
    const json = JSON.stringify(result);
    const bytes = Buffer.byteLength(json);
    if (bytes <= PAYLOAD_THRESHOLD_BYTES) return null;
    const stored = new StoredValue(newId(), bytes);
    this.#store({ id: stored.id, json });
    return stored;
  }

  /** Returns the turn as one entry of the log, with the whole projection. */
  entry(nextTimerAt: number | null, interrupted: number): LogEntry & { projection: RunProjection } {
    const state = this.#state;
    const payloads = this.large.map(({ id, json }) => ({ id, json, at: this.events[0]?.at ?? 0 }));
    const rows = encodeEvents(this.events, this.#firstSeq, payloads);
    const usage = this.#usage();
    const search = state.graph.searchable === null ? [] : searchValues(state, this.events, this.large);
    const entry = {
      runId: this.#run.runId,
      rows,
      payloads,
      projection: {
        status: statusOf(state),
        phase: phase(state, interrupted),
        stepsDone: state.done,
        stepsSkipped: state.skipped,
        pendingTasks: state.waiting.size,
        endedAt: state.endedAt,
        error: state.error === null ? null : JSON.stringify(state.error, storableText),
        nextTimerAt,
        lastSeq: state.seq,
        credits: state.credits,
      },
      ...(this.#isNew && { created: newRun(this.#run, state) }),
      tasks: this.#tasks === null ? [] : [...this.#tasks.values()],
      ...(search.length > 0 && { search: { startedAt: state.startedAt ?? 0, values: search } }),
      owner: this.#run,
      startedBy: usage.length === 0 ? '' : label(state.started?.started_by ?? ''),
      usage,
    };
    this.#entry = entry;
    return entry;
  }

  /** Returns the committed events as the stream shows them. Values that are stored externally are references here too. */
  streamItems(): StreamItem[] {
    const { runId, tenantId, projectId, workflowId } = this.#run;
    const { payloads = [], rows = [] } = this.#entry ?? {};
    const called = this.#state.started?.parent === undefined ? {} : { called: true as const };
    const texts = new Map(payloads.length > 0 ? rows.map(({ seq, json }) => [seq, json]) : []);
    return this.events.map((event, index) => {
      const seq = this.#firstSeq + index;
      const json = texts.get(seq);
      const shown = json?.includes('_ref":') ? ({ ...event, data: readJson(json) } as RunEvent) : event;
      const item: CommittedEvent = { seq, runId, tenantId, projectId, workflowId, event: shown, ...called };
      return { kind: 'event', item };
    });
  }

  /**
   * A step is charged once for each attempt that ended by itself, together with the usage of the attempt. The start and
   * the end of the run are also recorded, free of charge.
   */
  #usage(): UsageRow[] {
    const rows: UsageRow[] = [];
    for (const event of this.events) {
      if (event.type === 'run_started') rows.push(runStarted(event));
      else if (event.type === 'state_changed') {
        if (isTerminal(event.data.to)) rows.push(runEnded(event.data.to, event.at, this.#state.startedAt ?? event.at));
      } else if (endsBillableAttempt(event)) rows.push(...this.#attemptUsage(event));
    }
    return rows;
  }

  #attemptUsage(event: EndedAttempt): UsageRow[] {
    const { prices, types } = this.#pricing;
    const { step, attempt, at } = event;
    const spec = this.#specs?.get(event) ?? stepSpec(this.#state, step);
    const stepType = spec.type;
    const rows: UsageRow[] = [
      {
        action: 'workflow_step',
        stepType,
        subject: '',
        outcome: OUTCOMES[event.type],
        quantity: 1,
        price: prices.workflow_step,
        line: [step, attempt, 1],
        at,
      },
    ];
    const named = types.get(stepType)?.subject;
    const subject = named === undefined ? '' : label(spec[named]);
    for (const { action, quantity } of consumedBy(event)) {
      const line = [step, attempt, quantity];
      rows.push({ action, stepType, subject, outcome: '', quantity, price: prices[action], line, at });
    }
    return rows;
  }

  /** Called before the event is folded, while the state still shows what the step was doing. */
  #record(event: RunEvent): void {
    switch (event.type) {
      case 'step_started':
        this.started.push({ step: event.step, attempt: event.attempt });
        return;
      case 'step_cancelled':
      case 'step_failed':
        this.cancelled.push(event.step);
        if (this.#state.waiting.has(event.step)) {
          const state = event.type === 'step_failed' ? 'timed_out' : 'cancelled';
          this.#changeTask(event.step, { state, approved: null, completedBy: null, completedAt: event.at });
        }
        return;
      case 'task_completed':
        this.#changeTask(event.step, {
          state: event.data.timed_out ? 'timed_out' : 'completed',
          approved: event.data.approved,
          completedBy: event.data.completed_by,
          completedAt: event.at,
        });
        return;
      case 'task_pending':
        this.#askTask(event);
        return;
      case 'run_started':
      case 'state_changed':
      case 'stop_requested':
      case 'step_completed':
      case 'step_retrying':
      case 'step_log':
      case 'step_expanded':
      case 'steps_added':
      case 'step_waiting':
      case 'child_called':
      case 'child_ended':
        return;
    }
  }

  #changeTask(step: string, change: Omit<TaskChange, 'step' | 'asked'>): void {
    this.#tasks ??= new Map();
    this.#tasks.set(step, { step, asked: this.#tasks.get(step)?.asked ?? null, ...change });
  }

  #askTask({ step, data, at }: Extract<RunEvent, { type: 'task_pending' }>): void {
    const { tenantId, projectId, workflowId } = this.#run;
    this.#tasks ??= new Map();
    this.#tasks.set(step, {
      step,
      state: 'pending',
      approved: null,
      completedBy: null,
      completedAt: null,
      asked: {
        tenantId,
        projectId,
        workflowId,
        name: cleanText(data.name),
        instructions: cleanText(data.instructions),
        ...(data.to_decide !== undefined && { toDecide: cleanText(data.to_decide) }),
        form: data.form === null ? null : JSON.stringify(data.form, storableText),
        assignees: data.assignees.map(cleanText),
        createdAt: at,
        dueAt: data.due_at,
      },
    });
  }
}

/** The number of characters of JSON that one character of a value may take: `\u0000`. */
const MAX_ESCAPE_LENGTH = 6;
const OUTCOMES = { step_completed: 'completed', step_failed: 'failed', step_retrying: 'retried' } as const;

function runStarted({ at, data }: Extract<RunEvent, { type: 'run_started' }>): UsageRow {
  const subject = label(data.trigger_type);
  return { action: 'run_started', stepType: '', subject, outcome: '', quantity: 1, price: 0, line: [], at };
}

function runEnded(outcome: RunStatus, at: number, startedAt: number): UsageRow {
  // If the clock was set back, the run has a duration of 0 rather than a negative one.
  const line = [Math.max(0, at - startedAt)];
  return { action: 'run_ended', stepType: '', subject: '', outcome, quantity: 1, price: 0, line, at };
}

function statusOf(state: RunState): RunStatus {
  if (state.status === null) throw new AppError(500, 'internal', 'The run has no status.');
  return state.status;
}

/** Returns the run in the form that callers receive. */
export function snapshotOf(
  { runId, tenantId, workflowId, version }: RunIdentity,
  state: RunState,
  interrupted: number,
): RunSnapshot {
  return {
    runId,
    tenantId,
    workflowId,
    version,
    status: statusOf(state),
    phase: phase(state, interrupted),
    startedAt: state.startedAt ?? 0,
  };
}
