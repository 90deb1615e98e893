import type { AddedStep, Graph, GraphStep, RunEvent, RunStartedData, RunStatus } from '../core/index.ts';

/** The history of one step according to its events. */
export type StepHistory = {
  readonly spec: GraphStep;
  readonly dependencies: readonly string[];
  /** The number of the last attempt. */
  attempt: number;
  /** Whether an attempt is in flight, by the log. */
  inFlight: boolean;
  /** How often an attempt was started while the log still had one in flight. */
  lost: number;
  /** Whether an attempt was lost, and no person has decided since to repeat the step. */
  isInDoubt: boolean;
  /** Whether a person has decided that the step is to be repeated, and it has not begun since. */
  isToRepeat: boolean;
  /** The leader terms in which the interrupted attempts started, and the term of the last attempt. */
  interruptedIn: number[];
  term: number | null;
  /** When the attempt that is to be retried failed, and when the retry may start. */
  failedAt: number | null;
  retryAt: number | null;
  retries: number;
  /** The last task of the step. An answered task stays here. */
  asked: { dueAt: number | null } | null;
  answer: Extract<RunEvent, { type: 'task_completed' }>['data'] | null;
  /** The run that the step waits for. */
  called: { runId: string; at: number; detach: boolean } | null;
  /** The number of the last attempt that called a run. */
  calledBy: number;
  /** Whether the run that it called has completed. */
  returned: boolean;
  /** The time until which the step waits, or waited. */
  waitsUntil: number | null;
  end: Extract<RunEvent, { type: 'step_completed' | 'step_failed' | 'step_cancelled' }> | null;
  /** The step that added this step, and the item or turn for which it was added; null for an authored step. */
  readonly added: { readonly parent: string; readonly index: number; readonly name: string } | null;
  expanded: Extract<RunEvent, { type: 'step_expanded' }> | null;
  /** Ids of the steps that this step added. */
  readonly children: string[];
};

/**
 * A run according to its log, read independently of the core: a second implementation for the checkers, written to
 * be obvious rather than fast.
 */
export class History {
  readonly graph: Graph;
  readonly events: RunEvent[] = [];
  readonly steps: Map<string, StepHistory>;
  started: RunStartedData | null = null;
  status: RunStatus | null = null;
  stopping = false;
  #ended = 0;

  constructor(graph: Graph) {
    this.graph = graph;
    this.steps = new Map(graph.steps.map(spec => [spec.id, emptyStep(spec, null)]));
  }

  get isTerminal(): boolean {
    return this.status === 'completed' || this.status === 'failed' || this.status === 'stopped';
  }

  get allEnded(): boolean {
    return this.#ended === this.steps.size;
  }

  /** Throws for a step that the graph does not have. */
  step(id: string): StepHistory {
    const step = this.steps.get(id);
    if (step === undefined) throw new Error(`The log speaks of the step "${id}", which the graph does not have.`);
    return step;
  }

  add(event: RunEvent): void {
    this.events.push(event);
    if (event.type === 'run_started') {
      this.started = event.data;
      this.status = 'running';
    } else if (event.type === 'state_changed') this.status = event.data.to;
    else if (event.type === 'stop_requested') this.stopping = true;
    else if (event.type === 'steps_added') this.#addSteps(event);
    else this.#addToStep(this.step(event.step), event);
  }

  #addSteps({ step: parent, data }: Extract<RunEvent, { type: 'steps_added' }>): void {
    if (this.step(parent).expanded?.data.plan.type === 'agent') {
      this.#addAgentSteps(parent, data.steps);
      return;
    }
    for (const { id } of data.steps) {
      const [name = '', index = ''] = id.split('.').reverse();
      const within = (local: string) => `${parent}.${index}.${local}`;
      const template = stepsOf(this.step(parent).spec).find(step => step.id === name);
      if (template === undefined || id !== within(name)) throw new Error(`"${id}" was added under "${parent}".`);
      const spec = { ...template, id, depends_on: (template.depends_on ?? []).map(within) };
      this.steps.set(id, emptyStep(spec, { parent, index: Number(index), name }));
      this.step(parent).children.push(id);
    }
  }

  #addAgentSteps(parent: string, steps: readonly AddedStep[]): void {
    for (const { id, type, depends_on = [], fields } of steps) {
      const index = Number(id.slice(parent.length + 1).split('.')[0]);
      this.steps.set(id, emptyStep({ ...fields, id, type, depends_on }, { parent, index, name: id }));
      this.step(parent).children.push(id);
    }
  }

  #addToStep(step: StepHistory, event: Extract<RunEvent, { step: string }>): void {
    if (event.type === 'step_started') {
      if (step.inFlight) {
        step.lost += 1;
        step.isInDoubt = true;
        if (step.term !== null) step.interruptedIn.push(step.term);
      }
      step.term = event.data.term ?? null;
      step.attempt = event.attempt;
      step.retryAt = null;
      step.isToRepeat = false;
    }
    if (event.type !== 'step_log' && event.type !== 'task_completed') step.inFlight = event.type === 'step_started';
    if (event.type === 'step_retrying') {
      step.retries += 1;
      step.failedAt = event.at;
      step.retryAt = event.at + event.data.delay_ms;
    }
    if (event.type === 'child_called') {
      step.called = { runId: event.data.run_id, at: event.at, detach: event.data.detach === true };
      step.calledBy = event.attempt;
    }
    if (event.type === 'child_ended') step.returned = event.data.status === 'completed';
    if (event.type === 'child_ended' || event.type === 'step_retrying') step.called = null;
    if (event.type === 'step_expanded') step.expanded = event;
    if (event.type === 'task_pending') {
      step.asked = { dueAt: event.data.due_at };
      step.answer = null;
    }
    if (event.type === 'task_completed') {
      step.answer = event.data;
      step.isToRepeat = event.data.decision === 'repeat';
      if (step.isToRepeat) step.isInDoubt = false;
    }
    if (event.type === 'step_waiting') step.waitsUntil = event.data.until;
    if (event.type === 'step_completed' || event.type === 'step_failed' || event.type === 'step_cancelled') {
      if (step.end === null) this.#ended += 1;
      step.end = event;
      step.called = null;
    }
  }
}

/** Whether the step has a task, unless a person has decided that the step is to be repeated. */
export const hasTask = ({ asked, answer }: StepHistory): boolean => asked !== null && answer?.decision !== 'repeat';

/** Returns the steps of a loop's own graph. */
export function stepsOf({ steps }: GraphStep): GraphStep[] {
  // In scenarios, `steps` always holds graphs.
  return Array.isArray(steps) ? (steps as GraphStep[]) : [];
}

function emptyStep(spec: GraphStep, added: StepHistory['added']): StepHistory {
  return {
    spec,
    dependencies: spec.depends_on ?? [],
    attempt: 0,
    inFlight: false,
    lost: 0,
    isInDoubt: false,
    isToRepeat: false,
    interruptedIn: [],
    term: null,
    failedAt: null,
    retryAt: null,
    retries: 0,
    asked: null,
    answer: null,
    called: null,
    calledBy: 0,
    returned: false,
    waitsUntil: null,
    end: null,
    added,
    expanded: null,
    children: [],
  };
}
