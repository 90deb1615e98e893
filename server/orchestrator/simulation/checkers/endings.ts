import type { RunEvent, RunStatus } from '../../core/index.ts';
import type { History, StepHistory } from '../history.ts';
import { effectiveFields, mayContinue } from '../oracle.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('endings', message);

type Ends = { failed: string[]; cancelled: Map<string, string>; causes: Set<string | undefined>; skipped: Set<string> };

/**
 * Checks that a run ends as the ends of its steps require, and that the ends of its steps agree with the end of the run
 * (docs/specification/runs.md#states-and-transitions).
 */
export function checkEndings(history: History, event: RunEvent): void {
  if (event.type === 'step_failed') checkContinues(history, event);
  if (event.type !== 'state_changed') return;
  const { to } = event.data;
  if (to === 'running' || to === 'paused') return;
  const ends = collectEnds(history);
  if (to === 'failed') checkFailed(ends, event.data.error?.step_id);
  else checkOthers(to, ends, history);
}

/**
 * Checks that a run continues after a failure exactly if the step's author chose so and the run is not already ending.
 */
function checkContinues(history: History, { step, data }: Extract<RunEvent, { type: 'step_failed' }>): void {
  const continues = mayContinue(effectiveFields(history, history.step(step).spec)) && !history.stopping;
  const expected = continues && !ENDS_THE_RUN.includes(data.error.code);
  if ((data.continues === true) !== expected)
    throw fail(`"${step}" failed with ${data.error.code} and ${expected ? 'did not continue' : 'continued'}`);
}

const ENDS_THE_RUN: readonly string[] = ['insufficient_credits', 'run_quarantined'];

function checkFailed(ends: Ends, blamed: string | undefined): void {
  if (ends.failed.length !== 1 || ends.failed[0] !== blamed)
    throw fail(`failed by "${blamed}", but ${ends.failed} failed`);
  for (const [step, reason] of ends.cancelled) {
    if (reason !== 'run_failed') throw fail(`"${step}" was cancelled for ${reason} in a failed run`);
  }
  if ([...ends.causes].some(cause => cause !== blamed))
    throw fail(`cancelled because of ${[...ends.causes]}, not ${blamed}`);
  if (ends.skipped.has('run_stopped')) throw fail('a failed run has a step skipped by a stop');
}

function checkOthers(to: RunStatus, ends: Ends, history: History): void {
  if (ends.skipped.has('blocked')) throw fail(`a ${to} run has a blocked step`);
  if (to === 'completed') {
    if (history.stopping) throw fail('completed, although a stop was requested');
    if (ends.failed.length > 0 || ends.cancelled.size > 0 || ends.skipped.has('run_stopped')) {
      throw fail('completed, although steps failed or were cancelled');
    }
    return;
  }
  if (ends.failed.length > 0 && !history.stopping) throw fail('stopped, although a step had failed the run');
  for (const [step, reason] of ends.cancelled) {
    if (reason !== 'RUN_STOPPED') throw fail(`"${step}" was cancelled for ${reason} in a stopped run`);
  }
}

function collectEnds(history: History): Ends {
  const ends: Ends = { failed: [], cancelled: new Map(), causes: new Set(), skipped: new Set() };
  for (const [id, { end, added }] of history.steps) {
    // checkGrowth checks which steps a failure in a loop ends.
    if (added !== null && isEndedByLoop(end)) continue;
    if (end?.type === 'step_failed' && !end.data.continues) ends.failed.push(id);
    if (end?.type === 'step_cancelled') {
      ends.cancelled.set(id, end.data.reason);
      ends.causes.add(end.data.caused_by_step_id);
    }
    if (end?.type === 'step_completed' && 'skipped' in end.data) ends.skipped.add(end.data.reason);
  }
  return ends;
}

function isEndedByLoop(end: StepHistory['end']): boolean {
  if (end?.type === 'step_failed') return end.data.tolerated === true;
  if (end?.type === 'step_cancelled') return end.data.reason === 'step_failed' || end.data.reason === 'limit_reached';
  return end?.type === 'step_completed' && 'skipped' in end.data && end.data.reason === 'blocked';
}
