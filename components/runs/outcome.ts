import {
  type AttemptState,
  isExpanded,
  type RunState,
  type StepState,
} from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';

/** Returns the outcome in the words of docs/specification/events.md#step-outcomes. */
export function stepOutcomeLabel(step: Pick<StepState, 'status' | 'skipReason'> & { reused?: boolean }): string {
  switch (step.status) {
    case 'pending':
      return 'Not started';
    case 'ready':
      return 'Queued';
    case 'running':
      return 'Running';
    case 'retrying':
      return 'Waiting to retry';
    case 'waiting':
      return 'Waiting for a person';
    case 'sleeping':
      return 'Waiting';
    case 'completed':
      return 'Success';
    case 'failed':
      return 'Failed';
    case 'cancelled':
      return 'Cancelled';
    case 'skipped':
      if (step.reused) return 'Reused';
      return step.skipReason ? `Skipped (${step.skipReason.replaceAll('_', ' ')})` : 'Skipped';
  }
}

/** Returns the status that a step's badge shows, with a detail. A step with a reused result is not shown as skipped. */
export function shownStep(step: Pick<StepState, 'status' | 'skipReason' | 'reused'>) {
  const isReused = step.status === 'skipped' && step.reused;
  return { status: isReused ? 'reused' : step.status, detail: isReused ? null : step.skipReason };
}

/**
 * Returns the number of attempts as people count them. The log numbers each continuation of a step (after added steps, a called run or
 * a task) as an attempt; these count as one.
 */
export function attemptsOf(attempts: readonly AttemptState[]): AttemptState[] {
  const counted: AttemptState[] = [];
  for (const attempt of attempts) {
    const before = counted.at(-1);
    if (before === undefined || before.outcome !== 'completed') {
      counted.push({ ...attempt, attempt: counted.length + 1 });
      continue;
    }
    const { endedAt, outcome, error, credits } = attempt;
    Object.assign(before, { endedAt, outcome, error, credits: before.credits + credits });
  }
  return counted;
}

/** Returns the duration of a step in ms, from its first attempt to its end; null if the step did not run or has not ended. */
export function stepDuration({ attempts, endedAt }: Pick<StepState, 'attempts' | 'endedAt'>): number | null {
  const [first] = attempts;
  return first === undefined || endedAt === null ? null : Math.max(0, endedAt - first.startedAt);
}

/** Counts the steps of the graph by outcome. */
export function progressOf(state: Pick<RunState, 'steps'>, isOwn: (id: string) => boolean) {
  const counts = { ran: 0, skipped: 0, reused: 0, total: 0 };
  for (const { id, endedAt, status, reused, attempts } of state.steps.values()) {
    if (!isOwn(id)) continue;
    counts.total += 1;
    if (endedAt === null) continue;
    if (attempts.length > 0) counts.ran += 1;
    else if (status === 'skipped' && reused) counts.reused += 1;
    else counts.skipped += 1;
  }
  return counts;
}

/** Returns the ids of the steps that a step depends on. */
export const dependenciesOf = (step: GraphStepInput): string[] =>
  Array.isArray(step.depends_on) ? step.depends_on.filter(each => typeof each === 'string') : [];

/**
 * Returns `people` or `time` if the run only waits for people or for a time: no step runs, waits for a retry or is ready
 * (docs/specification/runs.md#phases).
 */
export function waitsFor(state: RunState, steps: readonly GraphStepInput[]): 'people' | 'time' | null {
  if (state.status !== 'running') return null;
  let waiting = false;
  let sleeping = false;
  for (const step of state.steps.values()) {
    const { status } = step;
    // A loop waits for what its steps wait for.
    if (isExpanded(step)) continue;
    if (status === 'running' || status === 'retrying') return null;
    waiting ||= status === 'waiting';
    sleeping ||= status === 'sleeping';
  }
  if ((!waiting && !sleeping) || steps.some(step => isReady(step, state))) return null;
  return waiting ? 'people' : 'time';
}

/** Returns the status that the console shows. A run that only waits is shown as `blocked` or `sleeping`, unlike in the API. */
export function shownStatus(status: string, waits: ReturnType<typeof waitsFor>): string {
  if (waits === null) return status;
  return waits === 'people' ? 'blocked' : 'sleeping';
}

function isReady(step: GraphStepInput, state: RunState): boolean {
  if (state.steps.get(step.id)?.status !== 'pending') return false;
  return dependenciesOf(step).every(id => state.steps.get(id)?.endedAt !== null);
}
