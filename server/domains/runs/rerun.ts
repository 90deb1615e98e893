import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import type { Graph, JsonValue, RunStartedData } from '../../orchestrator/core/index.ts';
import { compile } from '../../orchestrator/core/index.ts';
import { conflict, invalid } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { carriedScopes } from '../identity/authority.ts';
import { callersTrace, toStarted, triggerTypeOf } from './command.ts';
import { requireRun } from './find.ts';
import { editNeeded, mayEdit } from './override-rights.ts';
import { type RecordedValues, readRecordedValues } from './recorded-values.ts';
import type { CommandOutput, RerunInput } from './schemas.ts';
import { startPrepared } from './start.ts';
import { findGraph, hasStarted } from './store.ts';

/** Results a rerun may seed, in bytes. */
const seedBudgetBytes = 64 * 1024 * 1024;

/**
 * A new run of the same version and input, in the same session. With `from_step` it is an episode of that step and its descendants, in which
 * the other steps keep the results of the old run. AppError 404, 409 `run_not_ended` (from_step of a run still under
 * way), 422 `unknown_step` or `rerun_too_large`; refused like any start.
 */
export async function rerun(ctx: Context, input: z.output<typeof RerunInput>): Promise<z.input<typeof CommandOutput>> {
  const { services, principal } = ctx;
  const { tenantId, projectId } = principal;
  const run = await requireRun(ctx, input);
  const ref = { tenantId, workflowId: run.workflow_id, version: run.version };
  const recorded = await readRecordedValues(services.pool, run.id, seedBudgetBytes);
  const { traceparent: _, ...before } = recorded.started;
  const again: RunStartedData = {
    ...before,
    ...callersTrace(ctx),
    version: run.version,
    trigger_type: triggerTypeOf(ctx),
    started_by: principal.email,
  };
  let data = again;
  if (input.from_step !== undefined) {
    const graph = await findGraph(services.pool, ref);
    if (graph === null) throw new Error(`Run ${run.id} is of a version that does not exist.`);
    if (!graph.steps.some(step => step.id === input.from_step)) {
      throw invalid(
        'The run has no such step.',
        [{ path: 'from_step', message: 'is not a step of this run' }],
        'unknown_step',
      );
    }
    if (run.ended_at === null) throw conflict('run_not_ended', 'Only a run that has ended can be rerun from a step.');
    await requireReached(ctx, run.id, input.from_step);
    data = { ...again, ...episodeFrom(graph, input.from_step, recorded) };
  }
  const start = { runId: newId(), tenantId, projectId, workflowId: run.workflow_id, data };
  return toStarted(await startPrepared(services, start, [carriedScopes(principal)]));
}

/**
 * AppError 403 where a token that may not edit the workflow asks for a step that the run did not come to: what stands before it, such
 * as an approval, was never passed.
 */
async function requireReached({ services, principal }: Context, runId: string, step: string): Promise<void> {
  if (mayEdit([carriedScopes(principal)]) || (await hasStarted(services.pool, runId, step))) return;
  throw editNeeded('Rerunning from a step that the run did not reach', [
    { path: 'from_step', message: 'was not started in this run' },
  ]);
}

/** The part of a start that makes an episode of `step` and what depends on it. */
export function episodeFrom(
  graph: Graph,
  step: string,
  { started, results }: RecordedValues,
): Pick<RunStartedData, 'mode' | 'trigger_steps' | 'seed_results'> {
  const compiled = compile(graph);
  const seeds = new Map<string, JsonValue>(Object.entries(started.seed_results));
  for (const [id, { value, ref }] of results) {
    if (ref !== undefined) {
      throw invalid('The results of the old run are too large to start from.', undefined, 'rerun_too_large');
    }
    seeds.set(id, value);
  }
  for (const id of compiled.order) {
    if (id === step || compiled.ancestors(id).has(step)) seeds.delete(id);
  }
  const overrides = Object.hasOwn(started.trigger_steps, step) ? started.trigger_steps[step] : undefined;
  return {
    mode: 'episode',
    trigger_steps: Object.fromEntries([[step, overrides ?? {}]]),
    seed_results: Object.fromEntries(seeds),
  };
}
