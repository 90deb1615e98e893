import { AppError } from '../../../platform/errors.ts';
import {
  type Command,
  consumedBy,
  decide,
  effects,
  endsBillableAttempt,
  evolve,
  phase,
  type RunEvent,
  type RunState,
  type RunStatus,
} from '../../core/index.ts';
import {
  encodeEvent,
  type LogEntry,
  type NewRun,
  type RunProjection,
  type TaskChange,
  type UsageRow,
} from '../../log/index.ts';
import type { CommittedEvent, StreamItem } from '../../orchestrator.ts';

/** Who a run is: what never changes and what commands are checked against. */
export type RunIdentity = { runId: string; tenantId: string; projectId: string; workflowId: string; version: number };

/**
 * What a run decides between two commits: commands are decided and folded one after the other, and what they brought
 * about is written as one entry. Nothing of it may be seen or acted upon before that entry is committed.
 */
export class Turn {
  readonly events: RunEvent[] = [];
  /** Attempts begun in this turn. */
  readonly begun: { step: string; attempt: number }[] = [];
  /** Steps that ended, or left the hands of their attempt, otherwise than by the attempt's own outcome. */
  readonly cancelled: string[] = [];
  readonly #run: RunIdentity;
  readonly #state: RunState;
  readonly #firstSeq: number;
  readonly #isNew: boolean;
  #tasks: Map<string, TaskChange> | null = null;
  #entry: LogEntry | null = null;

  constructor(run: RunIdentity, state: RunState) {
    this.#run = run;
    this.#state = state;
    this.#firstSeq = state.seq + 1;
    this.#isNew = state.status === null;
  }

  /** Whether this turn starts the run. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** Decides and folds one command; returns the number of its events. Throws CommandRefused, with nothing changed. */
  apply(command: Command, now: number): number {
    const events = decide(this.#state, command, now);
    for (const event of events) {
      this.#note(event);
      evolve(this.#state, event);
      this.events.push(event);
    }
    return events.length;
  }

  /** The turn as one entry of the log, with the whole projection; serialised once. */
  entry(nextTimerAt: number | null): LogEntry & { projection: RunProjection } {
    const state = this.#state;
    const payloads: LogEntry['payloads'][number][] = [];
    const rows = this.events.map((event, index) => encodeEvent(event, this.#firstSeq + index, payloads));
    const entry = {
      runId: this.#run.runId,
      rows,
      payloads,
      projection: {
        status: statusOf(state),
        phase: phase(state),
        stepsDone: state.done,
        pendingTasks: state.waiting.size,
        endedAt: state.endedAt,
        error: state.error === null ? null : JSON.stringify(state.error, storableText),
        nextTimerAt,
        lastSeq: state.seq,
      },
      ...(this.#isNew && { created: newRun(this.#run, state) }),
      tasks: this.#tasks === null ? [] : [...this.#tasks.values()],
      owner: this.#run,
      usage: this.#usage(),
    };
    this.#entry = entry;
    return entry;
  }

  /** The committed events as the stream shows them: a value kept apart is a reference here too. */
  streamItems(): StreamItem[] {
    const { runId, tenantId, projectId, workflowId } = this.#run;
    const apart = (this.#entry?.payloads.length ?? 0) > 0;
    return this.events.map((event, index) => {
      const json = apart ? this.#entry?.rows[index]?.json : undefined;
      const shown = json?.includes('_ref":') ? ({ ...event, data: JSON.parse(json) } as RunEvent) : event;
      const item: CommittedEvent = {
        seq: this.#firstSeq + index,
        runId,
        tenantId,
        projectId,
        workflowId,
        event: shown,
      };
      return { kind: 'event', item };
    });
  }

  /** A step is charged once for each attempt that came to an end of its own, and with it what the attempt used. */
  #usage(): UsageRow[] {
    const rows: UsageRow[] = [];
    for (const event of this.events) {
      if (!endsBillableAttempt(event)) continue;
      const { step, attempt, at } = event;
      rows.push({ step, attempt, action: 'workflow_step', quantity: 1, at });
      for (const { action, quantity } of consumedBy(event)) rows.push({ step, attempt, action, quantity, at });
    }
    return rows;
  }

  /** Called before the event is folded, while the state still says what the step was doing. */
  #note(event: RunEvent): void {
    switch (event.type) {
      case 'step_started':
        this.begun.push({ step: event.step, attempt: event.attempt });
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
        return;
    }
  }

  #changeTask(step: string, change: Omit<TaskChange, 'step' | 'asked'>): void {
    this.#tasks ??= new Map();
    this.#tasks.set(step, { step, asked: this.#tasks.get(step)?.asked ?? null, ...change });
  }

  #askTask({ step, data, at }: Extract<RunEvent, { type: 'task_pending' }>): void {
    const { tenantId, projectId, workflowId } = this.#run;
    const text = (value: string): string => storable(value);
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
        name: text(data.name),
        instructions: text(data.instructions),
        form: data.form === null ? null : JSON.stringify(data.form, storableText),
        assignees: data.assignees.map(text),
        createdAt: at,
        dueAt: data.due_at,
      },
    });
  }
}

/** When the run next wants to be woken: the earliest of its retries and human-task timeouts; O(of those). */
export function nextTimer(state: RunState, due: ReadonlySet<string> | null): number | null {
  if (state.retrying.size === 0 && state.waiting.size === 0) return null;
  let next: number | null = null;
  for (const { step, dueAt } of effects(state).timers)
    if ((next === null || dueAt < next) && !due?.has(step)) next = dueAt;
  return next;
}

export function statusOf(state: RunState): RunStatus {
  if (state.status === null) throw new AppError(500, 'internal', 'The run has no status.');
  return state.status;
}

function newRun(run: RunIdentity, state: RunState): NewRun {
  if (state.started === null || state.startedAt === null) throw new Error(`run ${run.runId} has not started`);
  return {
    tenantId: run.tenantId,
    projectId: run.projectId,
    workflowId: run.workflowId,
    version: run.version,
    sessionId: storable(state.started.session_id),
    triggerType: storable(state.started.trigger_type),
    startedBy: storable(state.started.started_by),
    startedAt: state.startedAt,
    stepsTotal: state.steps.size,
  };
}

/**
 * Text as the projections' columns can hold it: PostgreSQL's text and jsonb know neither U+0000 nor half a surrogate
 * pair. The events are stored as json text, which keeps both, so nothing is lost.
 */
function storable(text: string): string {
  return text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '\uFFFD').toWellFormed() : text;
}

const storableText = (_key: string, value: unknown): unknown => (typeof value === 'string' ? storable(value) : value);
