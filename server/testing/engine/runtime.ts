import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pool } from 'pg';
import type {
  Graph,
  GraphStep,
  JsonMap,
  RunEvent,
  RunStartedData,
  TaskRequest,
} from '../../orchestrator/core/index.ts';
import { readEvents } from '../../orchestrator/log/index.ts';
import { allOf, type OrchestratorObserver, unobserved } from '../../orchestrator/ports/observer.ts';
import type { CommittedEvent, RunRef, StartRun } from '../../orchestrator/ports/orchestrator.ts';
import type { Attempt, Outcome, StepType } from '../../orchestrator/ports/step-type.ts';
import {
  createEmbeddedOrchestrator,
  type EmbeddedOrchestrator,
  type EmbeddedOrchestratorOptions,
} from '../../orchestrator/runtime/index.ts';
import { stepTypeDescription } from '../../orchestrator/steps/descriptions.ts';
import { type Alarm, ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { createLogger } from '../../platform/logger.ts';

/** A clock and alarms whose time moves only when the test advances it. */
export class ManualTime {
  readonly clock = new ManualClock();
  #alarms: { at: number; ring: () => void }[] = [];

  readonly alarm: Alarm = (delayMs, ring) => {
    const entry = { at: this.clock.now() + delayMs, ring };
    this.#alarms.push(entry);
    // The test may see events in the log before the process that wrote them continues. That process then sets the alarm
    // for a past time.
    if (delayMs <= 0) setImmediate(() => this.#ring());
    return () => {
      this.#alarms = this.#alarms.filter(other => other !== entry);
    };
  };

  /** Advances the time and rings the timers that are due. */
  advance(ms: number): void {
    this.clock.advance(ms);
    this.#ring();
  }

  #ring(): void {
    const due = this.#alarms.filter(({ at }) => at <= this.clock.now());
    this.#alarms = this.#alarms.filter(({ at }) => at > this.clock.now());
    for (const { ring } of due) ring();
  }
}

type Execute = (attempt: Attempt, signal: AbortSignal) => Promise<Outcome>;

/** A step type whose behavior the test defines. */
export function stepType(type: string, execute: Execute, defaultTimeoutS: number | null = null): [string, StepType] {
  return [
    type,
    {
      type,
      label: type,
      ...stepTypeDescription(type),
      available: true,
      defaultTimeoutS,
      retries: true,
      rawFields: [],
      execute,
      check: () => [],
    } as unknown as StepType,
  ];
}

/** A step type that completes with `{from: <step id>}`. */
export const echo = stepType('echo', async attempt => ({ kind: 'completed', result: { from: attempt.step.id } }));

/** A step type that asks people; `timeout_s` limits their time. */
export const humanTask = stepType('human_task', async attempt => {
  const { timeout_s, on_timeout, instructions } = attempt.step;
  const task: TaskRequest = {
    name: attempt.step.name ?? attempt.step.id,
    instructions: typeof instructions === 'string' ? instructions : '',
    form: null,
    assignees: [],
    due_at: timeout_s === undefined ? null : attempt.now + timeout_s * 1000,
    on_timeout: on_timeout === 'approve' || on_timeout === 'reject' ? on_timeout : 'fail',
  };
  return { kind: 'waiting', task };
});

/** Attempts that wait until the test settles them. */
export class Gate {
  readonly waiting: { attempt: Attempt; signal: AbortSignal; settle: (outcome: Outcome) => void }[] = [];
  readonly #arrivals: { count: number; resolve: () => void }[] = [];
  readonly type: [string, StepType];

  constructor(name = 'gate', defaultTimeoutS: number | null = null) {
    this.type = stepType(
      name,
      (attempt, signal) =>
        new Promise(settle => {
          this.waiting.push({ attempt, signal, settle });
          for (const arrival of this.#arrivals) if (this.waiting.length >= arrival.count) arrival.resolve();
        }),
      defaultTimeoutS,
    );
  }

  /** Settles when `count` attempts have started here. */
  arrived(count: number): Promise<void> {
    if (this.waiting.length >= count) return Promise.resolve();
    return new Promise(resolve => this.#arrivals.push({ count, resolve }));
  }
}

export const chain = (length: number, type = 'echo'): Graph => ({
  steps: Array.from({ length }, (_, index): GraphStep => {
    const depends_on = index === 0 ? [] : [`s${index - 1}`];
    return { id: `s${index}`, type, depends_on };
  }),
});

export type Harness = {
  readonly orchestrator: EmbeddedOrchestrator;
  /** Declares a workflow with this graph. */
  workflow(graph: Graph, tenantId?: string): WorkflowRef;
  start(workflow: WorkflowRef, data?: Partial<RunStartedData>, runId?: string): Promise<RunRef>;
  /** Settles when the run's log contains an event that `matches`, and this process has handled its commit if it wrote it. */
  until(ref: RunRef, matches: (event: RunEvent) => boolean): Promise<void>;
  ended(ref: RunRef): Promise<void>;
  events(ref: RunRef): Promise<CommittedEvent[]>;
};
export type WorkflowRef = { tenantId: string; projectId: string; workflowId: string };

const graphs = new Map<string, Graph>();
export const PROJECT = newId();
const silent = createLogger('silent');

export type HarnessOptions = Partial<EmbeddedOrchestratorOptions> & { types?: readonly [string, StepType][] };

/** Creates a leading orchestrator. By default it has the `echo` and `human_task` types above. */
export async function createHarness(db: { pool: Pool; url: string }, options: HarnessOptions = {}): Promise<Harness> {
  const { types = [], observer = unobserved, ...given } = options;
  const handled = new HandledCommits();
  const orchestrator = createEmbeddedOrchestrator({
    pool: db.pool,
    connectionString: db.url,
    clock: new ManualClock(),
    logger: silent,
    stepTypes: new Map([echo, humanTask, ...types]),
    config: { ...DEFAULT_CONFIG, ...given.config },
    loadVersion: async ({ workflowId }) => graphs.get(workflowId) ?? null,
    random: () => 0.5,
    ...given,
    observer: allOf([observer, handled.observer]),
  });
  await orchestrator.ready;
  return new DatabaseHarness(db.pool, orchestrator, handled);
}

export const DEFAULT_CONFIG = {
  maxInFlight: 512,
  maxInFlightPerTenant: 256,
  maxCallsInFlight: 2_048,
  maxActiveRunsPerTenant: 20_000,
  maxDescendants: 10_000,
  maxActiveDescendants: 2_000,
  shutdownGraceMs: 0,
  memory: {
    runBytes: 256 * 1024 * 1024,
    liveBytes: 256 * 1024 * 1024,
    liveBytesPerTenant: 128 * 1024 * 1024,
    uncommittedResultBytes: 256 * 1024 * 1024,
    loadingBytes: 64 * 1024 * 1024,
    cacheBytes: 64 * 1024 * 1024,
  },
};

/** Knows for each run in memory the last event whose commit the process has handled; the log has events earlier. */
class HandledCommits {
  readonly #seqs = new Map<string, number>();
  readonly #waiting = new Map<string, { seq: number; resolve: () => void }[]>();

  readonly observer: OrchestratorObserver = {
    ...unobserved,
    turnCommitted: ({ runId }, { seq }) => this.#reached(runId, seq),
    runLoaded: ({ runId }, { seq }) => this.#reached(runId, seq),
    runReleased: runId => {
      this.#reached(runId, Number.POSITIVE_INFINITY);
      this.#seqs.delete(runId);
    },
  };

  /** Settles once the commit of the event is handled, or immediately if the run is not in memory. */
  async handled(runId: string, seq: number): Promise<void> {
    if ((this.#seqs.get(runId) ?? seq) >= seq) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(runId, [...(this.#waiting.get(runId) ?? []), { seq, resolve }]);
    await promise;
  }

  #reached(runId: string, seq: number): void {
    this.#seqs.set(runId, seq);
    const waiting = this.#waiting.get(runId);
    if (waiting === undefined) return;
    for (const each of waiting) if (each.seq <= seq) each.resolve();
    this.#waiting.set(
      runId,
      waiting.filter(each => each.seq > seq),
    );
  }
}

class DatabaseHarness implements Harness {
  readonly orchestrator: EmbeddedOrchestrator;
  readonly #pool: Pool;
  readonly #commits: HandledCommits;

  constructor(pool: Pool, orchestrator: EmbeddedOrchestrator, commits: HandledCommits) {
    this.#pool = pool;
    this.orchestrator = orchestrator;
    this.#commits = commits;
  }

  workflow(graph: Graph, tenantId = 'acme'): WorkflowRef {
    const workflowId = newId();
    graphs.set(workflowId, graph);
    return { tenantId, projectId: PROJECT, workflowId };
  }

  async start(workflow: WorkflowRef, data: Partial<RunStartedData> = {}, runId = newId()): Promise<RunRef> {
    await this.orchestrator.start(startRun(workflow, data, runId));
    return { ...workflow, runId };
  }

  async until(ref: RunRef, matches: (event: RunEvent) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const unsubscribe = this.orchestrator.subscribe({ tenantId: ref.tenantId, runId: ref.runId }, items => {
      if (items.some(item => item.kind === 'event' && matches(item.item.event))) resolve();
    });
    // The subscription starts first, so that no event is missed between the log and the stream.
    const logged = (await this.events(ref)).find(({ event }) => matches(event));
    if (logged !== undefined) void this.#commits.handled(ref.runId, logged.seq).then(resolve);
    await promise;
    unsubscribe();
    // The effects of the commit (the run leaves memory, uncommitted results are released) happen in the same turn.
    await nextTurn();
  }

  ended(ref: RunRef): Promise<void> {
    return this.until(ref, isEnd);
  }

  events(ref: RunRef): Promise<CommittedEvent[]> {
    return readEvents(this.#pool, { ...ref, after: 0, limit: 100_000 });
  }
}

export function startRun(workflow: WorkflowRef, data: Partial<RunStartedData> = {}, runId = newId()): StartRun {
  const input: JsonMap = {};
  const started: RunStartedData = {
    version: 1,
    input,
    mode: 'normal',
    trigger_type: 'api',
    trigger_steps: {},
    seed_results: {},
    session_id: runId,
    started_by: 'tester',
    ...data,
  };
  return { ...workflow, runId, data: started };
}

export const isEnd = (event: RunEvent): boolean =>
  event.type === 'state_changed' && ['completed', 'failed', 'stopped'].includes(event.data.to);

/** Returns a log in a readable form: `step_started s0`, `state_changed completed`. */
export function outline(events: readonly CommittedEvent[]): string[] {
  return events.map(({ event }) => {
    if (event.type === 'state_changed') return `state_changed ${event.data.to}`;
    return 'step' in event ? `${event.type} ${event.step}` : event.type;
  });
}
