import type { Context } from '../../operation/context.ts';
import type { Phase } from '../../orchestrator/core/index.ts';
import { requireRun } from '../runs/access/find.ts';

/** Longer than any run of the example takes on a busy machine; seeding must not delay a start forever. */
const MAX_WAIT_MS = 60_000;

/**
 * Resolves once the run is in one of `phases`. It is checked after each of its committed events, and first after
 * subscribing, so that no event is missed. Throws an Error after a minute.
 */
export async function settled(
  ctx: Context,
  ref: { id: string; runID: string },
  phases: readonly Phase[],
): Promise<void> {
  const { orchestrator } = ctx.services;
  const { tenantId } = ctx.principal;
  const reached = Promise.withResolvers<void>();
  const look = async () => {
    const run = await requireRun(ctx, ref);
    if (phases.includes(run.orchestration_phase)) reached.resolve();
  };
  const lookAgain = () => void look().catch(reached.reject);
  const unsubscribe = orchestrator.subscribe({ tenantId, workflowId: ref.id, runId: ref.runID }, lookAgain);
  const timer = setTimeout(() => reached.reject(new Error(`Run ${ref.runID} did not settle.`)), MAX_WAIT_MS);
  lookAgain();
  try {
    await reached.promise;
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}
