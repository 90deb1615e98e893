import type { Context } from '../../operation/context.ts';
import { rootOf } from '../../orchestrator/core/step-ids.ts';
import { isBusy } from '../../orchestrator/ports/orchestrator.ts';
import { AppError } from '../../platform/errors.ts';
import { withLineage } from '../../platform/lineage.ts';
import { isDatabaseAway } from '../../platform/postgres/away.ts';
import { rerun } from '../runs/reruns/rerun.ts';
import type { StopRow } from './store.ts';
import type { Target, TargetOutcome } from './target-store.ts';

export const MAX_ATTEMPTS = 5;

/**
 * Starts the run that repeats or continues a target, with the rights of the requester. The id of the new run is stored with the target, so
 * that a start is not repeated after a crash. `busy`: the workspace has too many active runs now.
 */
export async function startAgain(
  ctx: Context | null,
  { action, version, requester }: StopRow,
  { runId, newRunId, workflowId, failedStep, attempts }: Target,
): Promise<TargetOutcome | 'busy'> {
  const failed = (error: string) => ({ runId, state: 'failed', error }) as const;
  if (ctx === null) return failed('The person or token that requested it may no longer start runs in the project.');
  if (newRunId === null) throw new Error(`The target ${runId} has no id for its new run.`);
  if (action === 'continue' && failedStep === null) return failed('The run does not say which step failed.');
  const from = action === 'continue' && failedStep !== null ? { from_step: rootOf(failedStep) } : {};
  const input = {
    id: workflowId,
    runID: runId,
    ...from,
    ...(action === 'continue' && version !== null && { version }),
  };
  try {
    await withLineage(requester?.lineage ?? null, () => rerun(ctx, input, newRunId));
    return { runId, state: 'stopped' };
  } catch (error) {
    if (isDatabaseAway(error) || !(error instanceof AppError)) throw error;
    // An earlier process has started the run before it died.
    if (error.code === 'run_id_taken') return { runId, state: 'stopped' };
    if (error.code === 'not_leading') throw error;
    if (isBusy(error) || error.status === 429) return 'busy';
    if (error.status >= 500 && attempts + 1 < MAX_ATTEMPTS) return { runId, state: 'waiting' };
    return failed(error.message);
  }
}
