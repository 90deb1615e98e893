import { isExpanded, type RunState, type StepState } from '@/server/domains/runs/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';

/** The outcome in the words of docs/specification/events.md#step-outcomes. */
export function stepOutcomeLabel(step: Pick<StepState, 'status' | 'skipReason'>): string {
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
      return step.skipReason ? `Skipped (${step.skipReason.replaceAll('_', ' ')})` : 'Skipped';
  }
}

/** Ids of the steps that a step waits for. */
export const dependenciesOf = (step: GraphStepInput): string[] =>
  Array.isArray(step.depends_on) ? step.depends_on.filter(each => typeof each === 'string') : [];

/**
 * Whether the run only waits, for `people` or for a `time`: nothing runs, waits for a retry or could start
 * (docs/specification/runs.md#phases).
 */
export function waitsFor(state: RunState, steps: readonly GraphStepInput[]): 'people' | 'time' | null {
  if (state.status !== 'running') return null;
  let waiting = false;
  let sleeping = false;
  for (const step of state.steps.values()) {
    const { status } = step;
    // The steps of a loop say what it waits for.
    if (isExpanded(step)) continue;
    if (status === 'running' || status === 'retrying') return null;
    waiting ||= status === 'waiting';
    sleeping ||= status === 'sleeping';
  }
  if ((!waiting && !sleeping) || steps.some(step => isReady(step, state))) return null;
  return waiting ? 'people' : 'time';
}

/** Returns what a run is shown as: `blocked` and `sleeping` are no statuses, but what a person wants to know of one that only waits. */
export function shownStatus(status: string, waits: ReturnType<typeof waitsFor>): string {
  if (waits === null) return status;
  return waits === 'people' ? 'blocked' : 'sleeping';
}

function isReady(step: GraphStepInput, state: RunState): boolean {
  if (state.steps.get(step.id)?.status !== 'pending') return false;
  return dependenciesOf(step).every(id => state.steps.get(id)?.endedAt !== null);
}
