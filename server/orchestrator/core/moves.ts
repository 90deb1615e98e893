import { verdict } from './skips.ts';
import { type RunState, type StepState, type StepStatus, stepState } from './state.ts';

/** Changes the status of a step, and updates the indexes of the run. */
export function move(state: RunState, id: string, step: StepState, to: StepStatus): void {
  indexOf(state, step.status)?.delete(id);
  step.status = to;
  indexOf(state, to)?.add(id);
}

/**
 * Makes a step without open dependencies ready. A step that is to be skipped stays `pending`: `decide` has put its end into the
 * same batch of events.
 */
export function judge(state: RunState, id: string, step: StepState): void {
  if (verdict(state, id, dependency => stepState(state, dependency)) === 'ready') move(state, id, step, 'ready');
}

function indexOf(state: RunState, status: StepStatus): Set<string> | undefined {
  switch (status) {
    case 'ready':
      return state.ready;
    case 'running':
      return state.inFlight;
    case 'retrying':
      return state.retrying;
    case 'waiting':
      return state.waiting;
    case 'sleeping':
      return state.sleeping;
    case 'calling':
      return state.calling;
    case 'pending':
    case 'expanded':
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'skipped':
      return undefined;
  }
}
