import { cleanText } from '../../platform/clean-json.ts';
import { type RunState, rootAbove } from '../core/index.ts';
import type { NewRun } from '../log/index.ts';
import type { RunIdentity } from './turn.ts';

/** Returns the columns of a run that has just started. */
export function newRun(run: RunIdentity, state: RunState): NewRun {
  if (state.started === null || state.startedAt === null) throw new Error(`run ${run.runId} has not started`);
  const root = rootAbove(state.started);
  return {
    tenantId: run.tenantId,
    projectId: run.projectId,
    workflowId: run.workflowId,
    version: run.version,
    sessionId: cleanText(state.started.session_id),
    triggerType: cleanText(state.started.trigger_type),
    startedBy: cleanText(state.started.started_by),
    startedAt: state.startedAt,
    stepsTotal: state.steps.size,
    ...(state.started.spends_for !== undefined && { spenderId: state.started.spends_for }),
    ...(state.started.rerun_of !== undefined && { rerunOf: state.started.rerun_of.run_id }),
    ...(state.started.parent !== undefined && { parent: state.started.parent }),
    ...(root !== null && { root }),
  };
}
