import { isDeepStrictEqual } from 'node:util';
import { MAX_CALL_DEPTH, type RunEvent } from '../../core/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { depthOf } from '../calls.ts';
import type { History } from '../history.ts';
import { effectiveFields } from '../oracle.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('calls', message);

export type FindRun = (runId: string) => AuditedRun | undefined;

/**
 * Checks runs and the runs that they call (docs/adr/0020): a called run starts once, only if the log of the calling run
 * says so, and as that log says. The calling step ends as the log of the called run says.
 */
export function checkCalls(run: Pick<AuditedRun, 'id' | 'history'>, event: RunEvent, find: FindRun): void {
  if (event.type === 'run_started' && event.data.parent !== undefined) checkStarted(run.id, event, find);
  if (event.type === 'child_called') checkCalled(run.history, event);
  if (event.type === 'child_ended') checkEnded(run.history, event, find);
}

function checkStarted(runId: string, { data }: Extract<RunEvent, { type: 'run_started' }>, find: FindRun): void {
  const { parent } = data;
  if (parent === undefined) return;
  const calls = find(parent.run_id)?.history.events.flatMap(event => {
    return event.type === 'child_called' && event.data.run_id === runId ? [event] : [];
  });
  const [call, again] = calls ?? [];
  if (call === undefined || again !== undefined) throw fail(`${runId} starts, and was called ${calls?.length} times`);
  if (call.step !== parent.step_id) throw fail(`${runId} was called by "${call.step}", not by "${parent.step_id}"`);
  if (!isDeepStrictEqual([data.version, data.input], [call.data.version, call.data.input]))
    throw fail(`${runId} was started otherwise than it was called`);
  const caller = find(parent.run_id)?.history.started;
  const depth = (caller == null ? 0 : depthOf(caller)) + 1;
  const agents = [...(caller?.parent?.agents ?? []), ...(call.data.agent === undefined ? [] : [call.data.agent.id])];
  if (!isDeepStrictEqual(parent.agents ?? [], agents))
    throw fail(`${runId} is beneath [${parent.agents}], not [${agents}]`);
  if (parent.depth !== depth || depth > MAX_CALL_DEPTH) throw fail(`${runId} is ${parent.depth} calls deep`);
}

function checkCalled(history: History, { step, data }: Extract<RunEvent, { type: 'child_called' }>): void {
  if (history.stopping) throw fail(`"${step}" calls a run in one that is being stopped`);
  const before = history.events.some(event => event.type === 'child_called' && event.data.run_id === data.run_id);
  if (before) throw fail(`"${step}" calls ${data.run_id} a second time`);
}

function checkEnded(history: History, { step, data }: Extract<RunEvent, { type: 'child_ended' }>, find: FindRun): void {
  const { called } = history.step(step);
  if (called?.runId !== data.run_id) throw fail(`"${step}" does not wait for ${data.run_id}, which has ended`);
  const child = find(data.run_id);
  const status = child?.history.status ?? 'refused';
  if (status !== data.status) throw fail(`${data.run_id} is said to be ${data.status}, but is ${status}`);
}

/** Whether other runs have used up the memory: for loading a run, and for a start of a run by another run. */
export type UsedUp = { toLoad(run: AuditedRun): boolean; toStart(run: AuditedRun): boolean };

/**
 * Checks at rest that each step that waits for a run waits for one that continues, and that each called run has a step
 * that waits for it, unless none is required.
 */
export function checkCallsAtRest(runs: readonly AuditedRun[], find: FindRun, memory: UsedUp): void {
  for (const run of runs) {
    const { id, history } = run;
    if (history.isTerminal || memory.toLoad(run)) continue;
    for (const [step, { called }] of history.steps) {
      if (called === null || history.status === 'paused') continue;
      const child = find(called.runId);
      if (child === undefined && memory.toStart(run)) continue;
      if (child === undefined) throw fail(`"${step}" of ${id} waits for ${called.runId}, which was never started`);
      if (called.detach) throw fail(`"${step}" of ${id} waits for a run that it need not wait for`);
      if (child.history.isTerminal) throw fail(`"${step}" of ${id} waits for ${called.runId}, which has ended`);
      if (callDeadline(history, step) !== null && !history.stopping)
        throw fail(`the time of "${step}" of ${id} is up, and nothing happens`);
    }
    const parent = history.started?.parent;
    const caller = find(parent?.run_id ?? '');
    if (parent === undefined || parent.detached || (caller !== undefined && memory.toLoad(caller))) continue;
    if (caller?.history.step(parent.step_id).called?.runId !== id) throw fail(`${id} goes on, and nobody waits for it`);
  }
}

/** Returns when a step that waits for a run times out; null if it does not. */
export function callDeadline(history: History, id: string): number | null {
  const { called, spec } = history.step(id);
  if (called === null || called.detach) return null;
  const timeout: unknown = effectiveFields(history, spec).timeout_s;
  if (typeof timeout !== 'number' || !(timeout >= 1)) return null;
  return called.at + Math.min(timeout, 86_400) * 1_000;
}

/** Whether the run that a step called has completed, so that the step may start for the last time. */
export function hasReturned(history: History, id: string): boolean {
  const { returned, inFlight, retryAt, end } = history.step(id);
  return returned && !inFlight && retryAt === null && end === null;
}
