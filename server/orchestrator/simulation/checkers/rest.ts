import { isDeepStrictEqual } from 'node:util';
import type { GraphStep, RunEvent } from '../../core/index.ts';
import type { Timers } from '../../runtime/runs/timers.ts';
import type { AuditedRun } from '../auditor.ts';
import { returnsRunId } from '../calls.ts';
import type { Clients } from '../clients.ts';
import { allSteps, publishedStep } from '../growth.ts';
import { hasTask } from '../history.ts';
import type { Server } from '../server.ts';
import type { Surroundings } from '../surroundings.ts';
import { expectedEnd } from '../undisturbed.ts';
import type { Work } from '../work.ts';
import { checkCallsAtRest, type FindRun, hasReturned } from './calls.ts';
import { deadlineOf, isGathered } from './growth.ts';
import { checkMemory } from './memory.ts';
import { checkProgress } from './projection.ts';
import { Violation } from './violation.ts';

export type AtRest = {
  at: Surroundings;
  servers: readonly Server[];
  runs: readonly AuditedRun[];
  work: Work;
  clients: Clients;
};

/**
 * Checks a world in which nothing more happens without a request: every caller has been answered, and each open run is
 * paused, waits for people without a time limit, or executes an attempt without a time limit.
 */
export function checkRest(world: AtRest): void {
  const { servers, runs, clients } = world;
  for (const { what } of clients.pending) throw new Violation('answers', `nobody answered the ${what}`);
  for (const { id, tenantId } of runs)
    if (!servers.some(server => server.leadsTenant(tenantId)))
      throw new Violation('liveness', `no process leads the workspace of ${id}`);
  const leading = servers.filter(server => server.leads);
  if (leading.length === 0) throw new Violation('liveness', 'no process leads');
  for (const leader of leading) checkLeaderAtRest(world, leader);
}

/** Checks a process that leads, and the runs that it executes. */
function checkLeaderAtRest({ at, runs: all, work }: AtRest, leader: Server): void {
  if (leader.runtime === null) throw new Violation('liveness', `${leader.name} leads without a runtime`);
  const byId = new Map(all.map(run => [run.id, run]));
  const runs = all.filter(({ tenantId }) => leader.leadsTenant(tenantId));
  const find: FindRun = id => byId.get(id);
  const busy = new Set<string>();
  let attemptCount = 0;
  for (const { server, attempt, signal } of work.executing) {
    if (server !== leader || signal.aborted) continue;
    busy.add(attempt.run.id);
    attemptCount += 1;
  }
  // While attempts never end, other steps may wait for the memory of these attempts.
  const { stepsWaitingForMemory } = leader.runtime.load();
  attemptCount += stepsWaitingForMemory;
  const mayBeBusy = runs.filter(
    ({ id, state }) => stepsWaitingForMemory > 0 && state.inFlight.size > 0 && !busy.has(id),
  );
  for (const { id } of mayBeBusy) busy.add(id);
  const { slots } = leader.runtime;
  if (slots.total !== attemptCount)
    throw new Violation('slots', `${slots.total} slots are in use for ${attemptCount} attempts`);
  for (const run of slots.neglected)
    throw new Violation('not-stuck', `${run.identity.runId} waits for a slot while there is one`);
  for (const run of runs) {
    // While attempts never end, a run may wait for a slot forever, which is the purpose of the limits. If these
    // attempts use up the memory, the run may also wait in the log.
    const isLeftOut = !leader.runtime.resources.memory.hasRoom && !busy.has(run.id);
    const waits = slots.queues(run.id) || (isLeftOut && !run.history.isTerminal);
    checkRunAtRest(run, busy.has(run.id) || waits);
    // The row written by a dead process says `draining` until the run is loaded.
    const drains = isLeftOut && run.stored.events.at(-1)?.writer !== leader.session?.writer;
    const isPaused = run.history.status === 'paused' && !run.history.stopping;
    if (isPaused && !drains && !mayBeBusy.includes(run)) checkPaused(run, busy.has(run.id));
    if (run.stored.events.at(-1)?.writer === leader.session?.writer) checkProgress(run);
    if (run.history.isTerminal) at.check(() => checkEnd(at, run, find));
  }
  const resident = runs.filter(run => isResident(run, id => busy.has(id) || slots.queues(id), find));
  const { memory } = leader.runtime.resources;
  const besides = (run: AuditedRun) => () => (resident.includes(run) ? run.state.residentBytes : 0);
  checkCallsAtRest(runs, find, {
    toLoad: run => !memory.hasRoom && !busy.has(run.id),
    toStart: run => !memory.admits({ tenantId: run.tenantId, besides: besides(run) }),
  });
  const needed = resident.length;
  if (leader.runtime.liveRuns > needed)
    throw new Violation('memory', `${leader.runtime.liveRuns} runs are in memory, ${needed} of them at work`);
  leader.stream.checkAtRest();
  checkMemory(leader.runtime, resident, attemptCount);
  checkTimers(leader.runtime.timers);
}

/** A run that waits for another one stays in memory as long as that one does. */
function isResident(run: AuditedRun, isAtWork: (runId: string) => boolean, find: FindRun): boolean {
  if (run.history.isTerminal) return false;
  if (isAtWork(run.id)) return true;
  return [...run.history.steps.values()].some(({ called }) => {
    const child = called === null ? undefined : find(called.runId);
    return child !== undefined && isResident(child, isAtWork, find);
  });
}

/** An invalid time would break the order of all timers, so setting it must throw. */
function checkTimers(timers: Timers): void {
  for (const dueAt of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const { size } = timers;
    try {
      timers.cancel(timers.set(dueAt, () => {}));
    } catch {
      if (timers.size === size) continue;
    }
    throw new Violation('timers', `a timer was set for ${dueAt}`);
  }
}

/**
 * Checks that the row of a paused run is up to date, whichever process wrote it, and says `draining` only while an
 * attempt is executing.
 */
function checkPaused(run: AuditedRun, isBusy: boolean): void {
  checkProgress(run);
  const { phase } = run.stored.row;
  if ((phase === 'draining') !== isBusy)
    throw new Violation('projection', `${run.id} is ${phase} while ${isBusy ? 'an' : 'no'} attempt is at work`);
}

function checkRunAtRest(run: AuditedRun, busy: boolean): void {
  const { history } = run;
  if (history.isTerminal) {
    if (busy) throw new Violation('abort', `${run.id} has ended, and is still being worked on`);
    return;
  }
  if (busy || (history.status === 'paused' && !history.stopping)) return;
  const open = [...history.steps].filter(([, step]) => step.end === null);
  const inFlight = open.find(([, step]) => step.inFlight);
  if (inFlight !== undefined) throw new Violation('not-stuck', `nobody works on "${inFlight[0]}" of ${run.id}`);
  for (const [id, step] of open) {
    if (step.retryAt !== null) throw new Violation('not-stuck', `the retry of "${id}" of ${run.id} never comes`);
    if (step.waitsUntil !== null) throw new Violation('not-stuck', `the wait "${id}" of ${run.id} never ends`);
    if (step.asked !== null && step.asked.dueAt !== null)
      throw new Violation('not-stuck', `the time of the task "${id}" of ${run.id} is up, and nothing happens`);
    // The timers of a run that is being stopped do not fire.
    if (deadlineOf(history, id) !== null && !history.stopping)
      throw new Violation('not-stuck', `the time of the loop "${id}" of ${run.id} is up, and nothing happens`);
    // In a run that is being stopped, a loop or an agent ends with the run.
    if (isGathered(history, id) && !history.stopping)
      throw new Violation('not-stuck', `the loop "${id}" of ${run.id} does not end`);
    if (hasReturned(history, id)) throw new Violation('not-stuck', `"${id}" of ${run.id} does not return`);
    if (step.isToRepeat && !history.stopping)
      throw new Violation('not-stuck', `"${id}" of ${run.id} is to be repeated, and is not`);
    // A run that is being stopped waits for the runs that it called, and starts nothing.
    const mayBegin = !history.stopping && step.attempt === 0;
    if (mayBegin && step.dependencies.every(dependency => history.step(dependency).end !== null))
      throw new Violation('not-stuck', `"${id}" of ${run.id} may begin, and does not`);
  }
  if (!open.some(([, step]) => hasTask(step) || step.called !== null))
    throw new Violation('not-stuck', `nothing carries ${run.id} on`);
}

/** Failures that the run's own plan does not cause. */
const DISTURBANCES: readonly string[] = [
  'task_timed_out',
  'attempt_lost_repeatedly',
  'insufficient_credits',
  'run_too_large',
  'step_data_too_large',
  'run_quarantined',
];

/** Returns whether people or the clock influenced the end of a run, or of one that it called. */
function isDisturbed(at: Surroundings, run: AuditedRun, find: FindRun): boolean {
  const scenario = at.scenario(run.id);
  return run.history.events.some(
    event =>
      isEndOfDisturbedCall(event, called => isDisturbed(at, called, find), find) ||
      (event.type === 'state_changed' && event.data.to === 'stopped') ||
      (event.type === 'task_completed' && event.data.decision !== undefined && event.data.decision !== 'repeat') ||
      (event.type === 'step_failed' && DISTURBANCES.includes(event.data.error.code)) ||
      // Outcomes that arrive together are refused together if the database refuses one.
      (event.type === 'step_failed' &&
        event.data.error.code === 'not_storable' &&
        scenario.plans.get(event.step)?.kind !== 'unstorable') ||
      ((event.type === 'step_failed' || event.type === 'step_retrying') &&
        event.data.error.code === 'step_timed_out' &&
        scenario.plans.get(event.step)?.kind !== 'hangs'),
  );
}

function isEndOfDisturbedCall(event: RunEvent, disturbed: (called: AuditedRun) => boolean, find: FindRun): boolean {
  if (event.type !== 'child_ended') return false;
  const called = find(event.data.run_id);
  return called === undefined || event.data.status === 'stopped' || disturbed(called);
}

/** Checks that the run ended as it would without any faults, unless people or the clock influenced it. */
export function checkEnd(at: Surroundings, run: AuditedRun, find: FindRun): void {
  const scenario = at.scenario(run.id);
  const { history } = run;
  if (isDisturbed(at, run, find)) return;
  const expected = expectedEnd(scenario);
  if (expected === null) return;
  at.count('run as undisturbed');
  if (history.status !== expected.status)
    throw new Violation('undisturbed', `${run.id} is ${history.status}, undisturbed it would be ${expected.status}`);
  if (expected.status === 'failed') return;
  for (const [step, end] of expected.ends) {
    const found = history.step(step).end;
    if (typeof end === 'object' && 'failed' in end) {
      if (found?.type === 'step_failed') continue;
      throw new Violation('undisturbed', `"${step}" of ${run.id} ended as ${found?.type}, undisturbed it would fail`);
    }
    const data = found?.type === 'step_completed' ? found.data : undefined;
    const seen = data === undefined ? null : 'skipped' in data ? data.reason : json(data.result);
    const published = publishedStep(scenario.graph, step);
    // What people answer, and until when a step waits, cannot be known in advance.
    const isUncertain = published !== undefined && allSteps({ steps: [published] }).some(isUnknown);
    const isOpen = isUncertain && typeof end === 'object';
    if (
      isOpen
        ? data === undefined || 'skipped' in data
        : !isDeepStrictEqual(seen, typeof end === 'string' ? end : json(end.result))
    )
      throw new Violation(
        'undisturbed',
        `"${step}" of ${run.id} ended as ${JSON.stringify(found)}, not ${JSON.stringify(end)}`,
      );
  }
}

const isUnknown = (step: GraphStep): boolean =>
  step.type === 'human_task' || step.type === 'wait' || returnsRunId(step);
const json = (value: unknown): string => `result ${JSON.stringify(value)}`;
