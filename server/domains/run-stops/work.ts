import type { Services } from '../../operation/services.ts';
import { isBusy } from '../../orchestrator/ports/orchestrator.ts';
import { AppError } from '../../platform/errors.ts';
import { isDatabaseAway } from '../../platform/postgres/away.ts';
import { endPass, matchChildren, matchNext } from './match-store.ts';
import { contextOf } from './requester.ts';
import { MAX_ATTEMPTS, startAgain } from './start-again.ts';
import { finishStop, noteQuiet, type StopRow } from './store.ts';
import { listTargets, passEnded, saveOutcomes, type Target, type TargetOutcome } from './target-store.ts';

/** The maximum number of concurrent stops. */
const MAX_RUNS_IN_FLIGHT = 8;
/**
 * The maximum number of open steps of the runs that are stopped concurrently, unless a single run has more. Stopping a step writes an
 * event, and the commit queue of all workspaces holds 50,000.
 */
const MAX_STEPS_IN_FLIGHT = 2_000;
const RUNS_PER_PAGE = 500;
const CHILDREN_PER_PASS = 5_000;
/**
 * The time for which scans must have found no run before a bulk stop finishes. A run that a stopped run has just called
 * starts only after the commit of the call.
 */
const QUIET_MS = 5_000;

/**
 * The result of a pass. `worked`: more work may be due at once. `waiting`: the next scan is due later. `busy`: the commit
 * queue is full. `finished`: no matching run is left.
 */
export type TurnResult = 'worked' | 'waiting' | 'busy' | 'finished';

/** Stops a few runs of a bulk action or starts their repetitions, and finds more when few are left. Throws while the database is away. */
export async function workOnStop(services: Services, stop: StopRow): Promise<TurnResult> {
  const targets = await listTargets(services.pool, stop, MAX_RUNS_IN_FLIGHT);
  if (targets.length < MAX_RUNS_IN_FLIGHT && !(await findMore(services, stop)) && targets.length === 0)
    return finishIfQuiet(services, stop);
  if (stop.quietSince !== null) await noteQuiet(services.pool, stop, null);
  if (targets.length === 0) return 'worked';
  const ended = await actOn(services, stop, firstTargets(targets));
  const outcomes = ended.filter(outcome => outcome !== 'gone' && outcome !== 'busy');
  if (outcomes.length > 0) await saveOutcomes(services.pool, stop, outcomes);
  return ended.includes('busy') ? 'busy' : 'worked';
}

async function actOn(services: Services, stop: StopRow, targets: readonly Target[]) {
  if (stop.action === 'stop') return Promise.all(targets.map(target => stopOne(services, stop, target)));
  const ctx = await contextOf(services, stop);
  return Promise.all(targets.map(target => startAgain(ctx, stop, target)));
}

/** Returns the first targets, at most as many as may be stopped at a time. */
function firstTargets(targets: readonly Target[]): Target[] {
  let open = 0;
  return targets.filter((target, at) => {
    open += target.open;
    return at === 0 || open <= MAX_STEPS_IN_FLIGHT;
  });
}

/** Scans the next active runs. Returns whether it found any, or has more to scan. */
async function findMore({ pool, clock }: Services, stop: StopRow): Promise<boolean> {
  const ended = await passEnded(pool, stop, RUNS_PER_PAGE);
  const before = new Date(Math.min(clock.now(), stop.matchingUntil.getTime()));
  if (await matchNext(pool, stop, { before, limit: RUNS_PER_PAGE })) return true;
  const found = await endPass(pool, stop);
  // Repeated runs call other runs themselves.
  const called = stop.action === 'stop' && (await matchChildren(pool, stop, CHILDREN_PER_PASS));
  return ended > 0 || found || called;
}

/** Finishes a bulk stop whose scans have found no run for long enough. */
async function finishIfQuiet({ pool, clock }: Services, stop: StopRow): Promise<TurnResult> {
  const now = clock.now();
  if (stop.action !== 'stop') {
    // Runs that end or fail after the request do not match.
    await finishStop(pool, stop, new Date(now));
    return 'finished';
  }
  if (stop.quietSince === null) await noteQuiet(pool, stop, new Date(now));
  if (stop.quietSince === null || now - stop.quietSince.getTime() < QUIET_MS) return 'waiting';
  await finishStop(pool, stop, new Date(now));
  return 'finished';
}

/** `gone`: the run has ended or was deleted meanwhile. */
async function stopOne(
  { orchestrator, logger }: Services,
  { id, tenantId, mode, requestedBy }: StopRow,
  { runId, projectId, workflowId, attempts }: Target,
): Promise<TargetOutcome | 'gone' | 'busy'> {
  try {
    await orchestrator.command({ tenantId, projectId, workflowId, runId }, { type: 'stop', mode, by: requestedBy });
    return { runId, state: 'stopped' };
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    if (error instanceof AppError) {
      if (isBusy(error)) return 'busy';
      if (error.status === 404 || error.code === 'run_already_ended') return 'gone';
    }
    if (attempts + 1 < MAX_ATTEMPTS) return { runId, state: 'waiting' };
    logger.error({ tenant_id: tenantId, run_id: runId, stop_id: id, err: error }, 'a run could not be stopped');
    return { runId, state: 'failed' };
  }
}
