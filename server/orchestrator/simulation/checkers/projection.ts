import { isDeepStrictEqual } from 'node:util';
import { phase } from '../../core/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { hasTask } from '../history.ts';
import { deadlineOf } from './growth.ts';
import { Violation } from './violation.ts';

/**
 * Checks that the row of a run agrees with its log: in all fields if the commit wrote the row, otherwise in all fields
 * except the progress (`steps_done`, `steps_skipped`, `last_seq`), which may lag for a moment.
 */
export function checkProjection(run: AuditedRun, written: boolean): void {
  const { row } = run.stored;
  const { state, history } = run;
  const expected = {
    status: history.status,
    // A paused run drains while attempts are executing. The log does not show these; checkRest checks them.
    phase: phase(state, row.phase === 'paused' ? state.inFlight.size : 0),
    pendingTasks: [...history.steps.values()].filter(step => hasTask(step) && step.end === null).length,
    endedAt: history.isTerminal ? (history.events.at(-1)?.at ?? null) : null,
    stepsTotal: history.graph.steps.length,
    tenantId: run.tenantId,
    startedAt: history.events[0]?.at,
  };
  for (const [column, value] of Object.entries(expected)) {
    const found = row[column as keyof typeof row];
    if (found !== value) throw fail(run, column, found, value);
  }
  const error = row.error === null ? null : JSON.parse(row.error);
  if (!isDeepStrictEqual(error, state.error)) throw fail(run, 'error', row.error, JSON.stringify(state.error));
  checkTimer(run);
  if (written) checkProgress(run);
}

/** Checks at rest that no field of the row is outdated. */
export function checkProgress(run: AuditedRun): void {
  const { row } = run.stored;
  const ended = [...run.history.steps.values()].filter(step => step.end !== null && step.added === null);
  if (row.stepsDone !== ended.length) throw fail(run, 'stepsDone', row.stepsDone, ended.length);
  const skipped = ended.filter(({ end }) => end?.type === 'step_completed' && 'skipped' in end.data).length;
  if (row.stepsSkipped !== skipped) throw fail(run, 'stepsSkipped', row.stepsSkipped, skipped);
  if (row.credits !== run.state.credits) throw fail(run, 'credits', row.credits, run.state.credits);
  if (row.lastSeq !== run.history.events.length) throw fail(run, 'lastSeq', row.lastSeq, run.history.events.length);
}

/** Recovery leaves a blocked run in the log, and relies on its timer. */
function checkTimer(run: AuditedRun): void {
  if (run.stored.row.phase !== 'blocked') return;
  const due = [...run.history.steps].flatMap(([id, { asked, waitsUntil, end }]) => {
    const at = end === null ? (waitsUntil ?? asked?.dueAt ?? deadlineOf(run.history, id)) : null;
    return at === null ? [] : [at];
  });
  const expected = due.length === 0 ? null : Math.min(...due);
  if (run.stored.row.nextTimerAt !== expected) throw fail(run, 'nextTimerAt', run.stored.row.nextTimerAt, expected);
}

const fail = (run: AuditedRun, column: string, found: unknown, expected: unknown) =>
  new Violation('projection', `${column} of ${run.id} is ${found}, but by the log it is ${expected}`);
