import type { Attributes, Context, Link, Span } from '@opentelemetry/api';
import { formatTraceparent, parseTraceparent, spanIdOf, traceIdOf } from '../../platform/telemetry/trace-context.ts';
import type { Tracing } from '../../platform/telemetry/tracing.ts';
import { isTerminal, type RunEvent, type RunState, stepSpec } from '../core/index.ts';
import { type ObservedRun, type OrchestratorObserver, unobserved } from '../ports/observer.ts';

/** Spans of a run in memory; the root and the attempts in flight are open, and an open span is never sent. */
type TracedRun = { root: Span; context: Context; attempts: Map<string, Span> };

/** OpenTelemetry's SpanStatusCode.ERROR, as a number because the API is loaded only if tracing is on. */
const ERROR = 2;

/**
 * A run as one trace, each attempt of a step as a span of it (docs/observability.md). Ids come from the run, the step
 * and the attempt, times from the committed events; so a run that another process continues stays the same trace. Spans
 * contain only ids, types and error codes: results, messages and inputs may contain anything.
 */
export function createRunTraces(tracing: Tracing): OrchestratorObserver {
  return new RunTraces(tracing);
}

class RunTraces implements OrchestratorObserver {
  readonly #tracing: Tracing;
  readonly #runs = new Map<string, TracedRun>();
  readonly stepStarted = unobserved.stepStarted;
  readonly attemptEnded = unobserved.attemptEnded;
  readonly batchCommitted = unobserved.batchCommitted;
  readonly batchBisected = unobserved.batchBisected;
  readonly appendRefused = unobserved.appendRefused;
  readonly statusChanged = unobserved.statusChanged;
  readonly timersUnusable = unobserved.timersUnusable;
  readonly recoveryBegan = unobserved.recoveryBegan;
  readonly recoveryEnded = unobserved.recoveryEnded;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  turnCommitted(run: ObservedRun, state: RunState, events: readonly RunEvent[]): void {
    const typeOf = (step: string) => stepSpec(state, step).type;
    for (const event of events) this.#follow(run, event, typeOf);
    if (isTerminal(state.status)) this.#runs.delete(run.runId);
  }

  /** Reopens the spans of attempts that the previous process started; it has sent those of attempts that it ended. */
  runLoaded(run: ObservedRun, state: RunState, events: readonly RunEvent[]): void {
    const typeOf = (step: string) => stepSpec(state, step).type;
    this.#runs.delete(run.runId);
    for (const event of events) {
      switch (event.type) {
        case 'step_completed':
        case 'step_failed':
        case 'step_cancelled':
        case 'step_retrying':
        case 'step_expanded':
          this.#runs.get(run.runId)?.attempts.delete(event.step);
          break;
        default:
          this.#follow(run, event, typeOf);
      }
    }
  }

  runReleased(runId: string): void {
    this.#runs.delete(runId);
  }

  leadershipTaken(): void {
    this.#runs.clear();
  }

  runsTaken(): void {}

  runsGiven(): void {}

  traceparent(runId: string, step: string, attempt: number): string | undefined {
    const root = this.#runs.get(runId)?.root.spanContext();
    if (root === undefined) return undefined;
    const spanId = spanIdOf(runId, step, attempt);
    return formatTraceparent({ traceId: root.traceId, spanId, traceFlags: root.traceFlags });
  }

  #follow(run: ObservedRun, event: RunEvent, typeOf: (step: string) => string): void {
    if (event.type === 'run_started') {
      this.#runs.set(run.runId, this.#open(run, event));
      return;
    }
    const traced = this.#runs.get(run.runId);
    if (traced === undefined) return;
    switch (event.type) {
      case 'state_changed':
        followState(traced.root, event);
        return;
      case 'stop_requested':
        traced.root.addEvent('stop requested', event.at);
        return;
      case 'step_started':
        this.#begin(run, traced, event, typeOf(event.step));
        return;
      case 'step_waiting':
      case 'task_pending':
      case 'task_completed':
        traced.attempts.get(event.step)?.addEvent(event.type.replace('_', ' '), event.at);
        return;
      case 'step_log':
      case 'steps_added':
      case 'child_ended':
        return;
      default:
        endAttempt(traced, event);
    }
  }

  #open(run: ObservedRun, { at, data }: Extract<RunEvent, { type: 'run_started' }>): TracedRun {
    const caller = parseTraceparent(data.traceparent);
    const links: Link[] = caller === undefined ? [] : [{ context: { ...caller, isRemote: true } }];
    const root = this.#tracing.start({
      traceId: traceIdOf(run.runId),
      spanId: spanIdOf(run.runId),
      parent: null,
      name: 'run',
      at,
      attributes: { ...attributesOf(run), 'baton.trigger.type': data.trigger_type },
      links,
    });
    return { root, context: this.#tracing.contextOf(root), attempts: new Map() };
  }

  #begin(
    run: ObservedRun,
    traced: TracedRun,
    { step, attempt, at }: Extract<RunEvent, { type: 'step_started' }>,
    type: string,
  ): void {
    const lost = traced.attempts.get(step);
    if (lost !== undefined) fail(lost, 'attempt_lost', at);
    const about = { 'baton.step.id': step, 'baton.step.type': type, 'baton.step.attempt': attempt };
    const span = this.#tracing.start({
      traceId: traceIdOf(run.runId),
      spanId: spanIdOf(run.runId, step, attempt),
      parent: traced.context,
      name: `${type} ${step}`,
      at,
      attributes: { ...attributesOf(run), ...about },
    });
    traced.attempts.set(step, span);
  }
}

function attributesOf({ runId, tenantId, projectId, workflowId, version }: ObservedRun): Attributes {
  return {
    'baton.run.id': runId,
    'baton.tenant.id': tenantId,
    'baton.project.id': projectId,
    'baton.workflow.id': workflowId,
    'baton.workflow.version': version,
  };
}

function followState(root: Span, { at, data }: Extract<RunEvent, { type: 'state_changed' }>): void {
  if (!isTerminal(data.to)) {
    root.addEvent(data.to === 'paused' ? 'paused' : 'resumed', at);
    return;
  }
  root.setAttribute('baton.run.status', data.to);
  if (data.error === undefined) root.end(at);
  else fail(root.setAttribute('baton.run.failed_step', data.error.step_id), data.error.code, at);
}

type Ending = Extract<
  RunEvent,
  { type: 'step_completed' | 'step_failed' | 'step_cancelled' | 'step_retrying' | 'step_expanded' | 'child_called' }
>;

function endAttempt(traced: TracedRun, event: Ending): void {
  // A step that was skipped had no attempt.
  const span = traced.attempts.get(event.step);
  if (span === undefined) return;
  traced.attempts.delete(event.step);
  switch (event.type) {
    case 'step_completed':
    case 'step_expanded':
    case 'child_called':
      span.end(event.at);
      return;
    case 'step_cancelled':
      span.setAttribute('baton.step.cancelled', event.data.reason).end(event.at);
      return;
    case 'step_retrying':
      span.setAttribute('baton.step.retry_delay_ms', event.data.delay_ms);
      fail(span, event.data.error.code, event.at);
      return;
    case 'step_failed':
      fail(span, event.data.error.code, event.at);
      return;
  }
}

/** `code` is stable and reveals nothing of the processed data. */
function fail(span: Span, code: string, at: number): void {
  span.setAttribute('error.type', code).setStatus({ code: ERROR, message: code }).end(at);
}
