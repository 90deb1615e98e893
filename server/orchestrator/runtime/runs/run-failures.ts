import { AppError, unavailable } from '../../../platform/errors.ts';
import { AppendError } from '../../log/index.ts';
import type { OwnTerm } from '../leadership/leader-terms.ts';
import type { FaultLog } from './fault-log.ts';
import type { LiveRun } from './live-run.ts';
import { runIdTaken } from './refusals.ts';
import type { RefusedTurns } from './refused-turns.ts';
import type { AttemptRef, RunKey } from './run-host.ts';

type Host = {
  /** The runs in memory. */
  live: Map<string, LiveRun>;
  refused: RefusedTurns;
  faults: FaultLog;
  leader: OwnTerm;
  /** Folds the run again after a delay. */
  later(run: RunKey): void;
};

type Failure = { error: unknown; isNew: boolean; outcomes: AttemptRef[] };

/** See RunHost.appendFailed. */
export function refuseAppend(host: Host, run: LiveRun, { error, isNew, outcomes }: Failure): AppError {
  const { faults, refused, later } = host;
  remove(host, run);
  const kind = error instanceof AppendError ? error.kind : 'rejected';
  if (kind === 'lost') return unavailable('unavailable', 'The database is not available.', 2, error);
  // The caller chose an id that is taken, which is no fault.
  if (kind === 'fenced' && isNew) return runIdTaken();
  faults.notWritten(run.identity, kind, error);
  if (kind === 'fenced') {
    later(run.identity);
    return unavailable('run_contended', 'Another process is executing this run.', 1, error);
  }
  if (!isNew) {
    if (outcomes.length > 0) void refused.fail(run.identity, outcomes);
    else later(run.identity);
  }
  return new AppError(422, 'not_storable', 'A value cannot be stored.', { cause: error });
}

/** See RunHost.turnDefect. */
export function dropDefective(host: Host, run: LiveRun, error: unknown): void {
  const { faults, leader, later } = host;
  faults.cannotGoOn(run.identity, error);
  // Attempts interrupted in this term count as lost from now on: a step that causes this must not start forever.
  leader.survived.delete(leader.term);
  remove(host, run);
  run.drop(new AppError(500, 'internal', 'An internal error interrupted the run.', { cause: error }));
  later(run.identity);
}

function remove({ live }: Host, run: LiveRun): void {
  const { runId } = run.identity;
  if (live.get(runId) === run) live.delete(runId);
}
