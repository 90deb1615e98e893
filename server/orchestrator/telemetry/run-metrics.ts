import { Gauge, type Registry } from 'prom-client';
import { type Distribution, HotHistogram, hotCounter, type Tally } from '../../platform/telemetry/hot-metrics.ts';
import { type RunEvent, type RunState, stepSpec } from '../core/index.ts';
import { type AttemptEnd, type OrchestratorObserver, type RefusedAppend, unobserved } from '../ports/observer.ts';
import type { OrchestratorStatus } from '../ports/orchestrator.ts';

/** Buckets from the microseconds of a condition (measured by a clock of 1 ms) to the minutes of a model. */
const STEP_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** People answer within days. */
const RUN_BOUNDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 3_600, 21_600, 86_400, 604_800];
const COMMIT_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const SIZE_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096];

type StepEnd = 'completed' | 'failed' | 'cancelled' | 'skipped';

type TypeSeries = {
  started: Tally;
  retried: Tally;
  ended: Record<StepEnd, Tally>;
  slotWait: Distribution;
  execution: Record<AttemptEnd, Distribution>;
};

/**
 * Metrics of the orchestrator for Prometheus (docs/observability.md). Runs and steps are counted from their committed
 * events, so the counts agree with the log. Labels are step types, outcomes and statuses, which are few.
 */
export function createRunMetrics(registry: Registry): OrchestratorObserver {
  return new RunMetrics(registry);
}

class RunMetrics implements OrchestratorObserver {
  readonly #typeSeries: (type: string) => TypeSeries;
  readonly #types = new Map<string, TypeSeries>();
  #latest: { type: string; series: TypeSeries } | null = null;
  readonly #started: Tally;
  readonly #ended: Record<'completed' | 'failed' | 'stopped', { count: Tally; duration: Distribution }>;
  /**
   * Runs that have not ended according to the log: counted once at the take-over, then updated
   * from the committed events.
   */
  readonly #active = { running: 0, paused: 0 };
  readonly #tasks: { asked: Tally; answered: Tally; timedOut: Tally };
  readonly #commit: { duration: Distribution; entries: Distribution; rows: Distribution; bisected: Tally };
  readonly #refused: Record<RefusedAppend, Tally>;
  readonly #recovery = { running: 0, seconds: 0 };
  readonly #recovered: Tally;
  readonly #unusable: Tally;
  readonly #takeovers: Tally;
  readonly #lost: Tally;
  #leading = false;
  readonly runLoaded = unobserved.runLoaded;
  readonly runReleased = unobserved.runReleased;
  readonly traceparent = unobserved.traceparent;

  constructor(registry: Registry) {
    const counter = (name: string, help: string) => hotCounter(registry, { name, help })();
    this.#typeSeries = stepSeries(registry);
    this.#started = counter('baton_runs_started_total', 'Runs started.');
    this.#ended = runEnds(registry);
    const answered = hotCounter(registry, {
      name: 'baton_tasks_answered_total',
      help: 'Human tasks that were answered, by a person or by their timeout.',
      labelNames: ['by'],
    });
    this.#tasks = {
      asked: counter('baton_tasks_asked_total', 'Human tasks that were put to people.'),
      answered: answered({ by: 'person' }),
      timedOut: answered({ by: 'timeout' }),
    };
    this.#commit = commitSeries(registry);
    const refused = hotCounter(registry, {
      name: 'baton_log_appends_refused_total',
      help: 'Entries of the log that were not written: fenced by another writer, rejected for a value, lost with the session.',
      labelNames: ['kind'],
    });
    this.#refused = {
      fenced: refused({ kind: 'fenced' }),
      rejected: refused({ kind: 'rejected' }),
      lost: refused({ kind: 'lost' }),
    };
    this.#recovered = counter('baton_recovery_runs_total', 'Runs that were loaded after a takeover.');
    this.#unusable = counter(
      'baton_recovery_unusable_timers_total',
      'Runs whose stored wake-up time was unusable and was taken from the log instead.',
    );
    this.#takeovers = counter('baton_orchestrator_takeovers_total', 'Times this process began to lead.');
    this.#lost = counter(
      'baton_orchestrator_leads_lost_total',
      'Times this process ceased to lead without being stopped.',
    );
    this.#gauges(registry);
  }

  stepStarted(type: string, waitedMs: number): void {
    this.#type(type).slotWait.observe(waitedMs / 1000);
  }

  attemptEnded(type: string, end: AttemptEnd, ms: number): void {
    this.#type(type).execution[end].observe(ms / 1000);
  }

  turnCommitted(_: unknown, state: RunState, events: readonly RunEvent[]): void {
    for (const event of events) this.#count(event, state);
  }

  batchCommitted(entries: number, rows: number, ms: number): void {
    this.#commit.duration.observe(ms / 1000);
    this.#commit.entries.observe(entries);
    this.#commit.rows.observe(rows);
  }

  batchBisected(): void {
    this.#commit.bisected.count += 1;
  }

  appendRefused(kind: RefusedAppend): void {
    this.#refused[kind].count += 1;
  }

  leadershipTaken(active: ReadonlyMap<string, number>): void {
    this.#takeovers.count += 1;
    this.#active.running = active.get('running') ?? 0;
    this.#active.paused = active.get('paused') ?? 0;
  }

  runsTaken(active: ReadonlyMap<string, number>): void {
    this.#active.running += active.get('running') ?? 0;
    this.#active.paused += active.get('paused') ?? 0;
  }

  runsGiven(active: ReadonlyMap<string, number>): void {
    this.#active.running -= active.get('running') ?? 0;
    this.#active.paused -= active.get('paused') ?? 0;
  }

  statusChanged(status: OrchestratorStatus): void {
    if (this.#leading && status === 'unavailable') this.#lost.count += 1;
    this.#leading = status === 'leading';
    if (this.#leading) return;
    // From now on another process counts them.
    this.#active.running = 0;
    this.#active.paused = 0;
    this.#recovery.running = 0;
  }

  recoveryBegan(): void {
    this.#recovery.running = 1;
  }

  timersUnusable(runs: number): void {
    this.#unusable.count += runs;
  }

  recoveryEnded(recovered: number, ms: number): void {
    this.#recovery.running = 0;
    this.#recovery.seconds = ms / 1000;
    this.#recovered.count += recovered;
  }

  #count(event: RunEvent, state: RunState): void {
    switch (event.type) {
      case 'run_started':
        this.#started.count += 1;
        this.#active.running += 1;
        return;
      case 'state_changed':
        this.#countState(event.data, event.at - (state.startedAt ?? event.at));
        return;
      case 'step_started':
        this.#type(typeOf(state, event.step)).started.count += 1;
        return;
      case 'step_completed':
        this.#countEnd(state, event.step, 'skipped' in event.data ? 'skipped' : 'completed');
        return;
      case 'step_failed':
        this.#countEnd(state, event.step, 'failed');
        return;
      case 'step_cancelled':
        this.#countEnd(state, event.step, 'cancelled');
        return;
      case 'step_retrying':
        this.#type(typeOf(state, event.step)).retried.count += 1;
        return;
      case 'task_pending':
        this.#tasks.asked.count += 1;
        return;
      case 'task_completed':
        if (event.data.timed_out) this.#tasks.timedOut.count += 1;
        else this.#tasks.answered.count += 1;
        return;
      case 'stop_requested':
      case 'step_log':
      case 'step_expanded':
      case 'steps_added':
      case 'step_waiting':
      case 'child_called':
      case 'child_ended':
        return;
    }
  }

  #countState({ from, to }: Extract<RunEvent, { type: 'state_changed' }>['data'], ms: number): void {
    if (from === 'running' || from === 'paused') this.#active[from] -= 1;
    if (to === 'running' || to === 'paused') {
      this.#active[to] += 1;
      return;
    }
    const { count, duration } = this.#ended[to];
    count.count += 1;
    duration.observe(ms / 1000);
  }

  #countEnd(state: RunState, step: string, end: StepEnd): void {
    this.#type(typeOf(state, step)).ended[end].count += 1;
  }

  #type(type: string): TypeSeries {
    // Steps of one type often follow each other.
    if (type === this.#latest?.type) return this.#latest.series;
    let series = this.#types.get(type);
    if (series === undefined) {
      series = this.#typeSeries(type);
      this.#types.set(type, series);
    }
    this.#latest = { type, series };
    return series;
  }

  #gauges(registry: Registry): void {
    const active = this.#active;
    const recovery = this.#recovery;
    new Gauge({
      name: 'baton_runs_active',
      help: 'Runs that have not ended, in memory or not; reported by the leader.',
      labelNames: ['status'],
      registers: [registry],
      collect() {
        this.set({ status: 'running' }, active.running);
        this.set({ status: 'paused' }, active.paused);
      },
    });
    new Gauge({
      name: 'baton_recovery_running',
      help: '1 while the runs of the previous leader are being loaded.',
      registers: [registry],
      collect() {
        this.set(recovery.running);
      },
    });
    new Gauge({
      name: 'baton_recovery_duration_seconds',
      help: 'How long taking up the runs took after the latest take-over.',
      registers: [registry],
      collect() {
        this.set(recovery.seconds);
      },
    });
  }
}

function typeOf(state: RunState, step: string): string {
  return stepSpec(state, step).type;
}

function stepSeries(registry: Registry): (type: string) => TypeSeries {
  const counter = (name: string, help: string, ...more: string[]) =>
    hotCounter(registry, { name, help, labelNames: ['type', ...more] });
  const started = counter('baton_step_attempts_total', 'Attempts of steps that were started, including retries.');
  const retried = counter('baton_step_retries_total', 'Attempts that failed and are to be retried.');
  const ended = counter('baton_steps_ended_total', 'Steps that came to their one end.', 'outcome');
  const slotWait = new HotHistogram(registry, {
    name: 'baton_step_slot_wait_seconds',
    help: 'Time from when a step could start until it got a slot.',
    labelNames: ['type'],
    bounds: STEP_BOUNDS,
  });
  const execution = new HotHistogram(registry, {
    name: 'baton_step_execution_seconds',
    help: 'Time an attempt was in the hands of its step type, the wait for a Lua worker included.',
    labelNames: ['type', 'outcome'],
    bounds: STEP_BOUNDS,
  });
  return type => {
    const end = (outcome: StepEnd) => ended({ type, outcome });
    const took = (outcome: AttemptEnd) => execution.series({ type, outcome });
    return {
      started: started({ type }),
      retried: retried({ type }),
      ended: {
        completed: end('completed'),
        failed: end('failed'),
        cancelled: end('cancelled'),
        skipped: end('skipped'),
      },
      slotWait: slotWait.series({ type }),
      execution: {
        completed: took('completed'),
        failed: took('failed'),
        timed_out: took('timed_out'),
        waiting: took('waiting'),
        expanding: took('expanding'),
        calling: took('calling'),
        sleeping: took('sleeping'),
        cancelled: took('cancelled'),
      },
    };
  };
}

function runEnds(registry: Registry) {
  const ended = hotCounter(registry, {
    name: 'baton_runs_ended_total',
    help: 'Runs that ended.',
    labelNames: ['status'],
  });
  const durations = new HotHistogram(registry, {
    name: 'baton_run_duration_seconds',
    help: 'Time from the start of a run to its end, the time it waited for people included.',
    labelNames: ['status'],
    bounds: RUN_BOUNDS,
  });
  const end = (status: string) => ({ count: ended({ status }), duration: durations.series({ status }) });
  return { completed: end('completed'), failed: end('failed'), stopped: end('stopped') };
}

function commitSeries(registry: Registry) {
  const histogram = (name: string, help: string, bounds: readonly number[]) =>
    new HotHistogram(registry, { name, help, bounds }).series();
  return {
    duration: histogram('baton_log_commit_duration_seconds', 'Time from a batch to its commit on disk.', COMMIT_BOUNDS),
    entries: histogram('baton_log_commit_entries', 'Runs that shared a commit.', SIZE_BOUNDS),
    rows: histogram('baton_log_commit_rows', 'Events that shared a commit.', SIZE_BOUNDS),
    bisected: hotCounter(registry, {
      name: 'baton_log_batches_bisected_total',
      help: 'Batches that the database refused and that were halved to find the entry at fault.',
    })(),
  };
}
