import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { requireRun } from '../access/find.ts';
import type { RunRef } from '../schemas.ts';
import { findGraph, type RunRow } from '../store.ts';
import { NO_OUTPUT, type RunOutput, readOutput } from './output.ts';
import { readRecordedValues } from './recorded.ts';
import type { RunContext } from './schemas.ts';

/** The maximum number of bytes of large results in one answer. A run of 2,000 steps may have 2 GiB of results. */
const MAX_CONTEXT_BYTES = 8 * 1024 * 1024;

/**
 * Returns the input of a run, its output, and the results of its steps so far, including seeded
 * ones; skipped steps have none.
 */
export async function getContext(ctx: Context, input: z.output<typeof RunRef>): Promise<z.input<typeof RunContext>> {
  const run = await requireRun(ctx, input);
  const { started, results } = await readRecordedValues(ctx.services.pool, run.id, MAX_CONTEXT_BYTES);
  const steps = new Map<string, z.input<typeof RunContext>['steps'][string]>();
  for (const [step, result] of Object.entries(started.seed_results)) steps.set(step, { result });
  for (const [step, { value, ref }] of results) {
    steps.set(step, ref === undefined ? { result: value } : { result: value, result_ref: ref });
  }
  return {
    run_id: run.id,
    workflow_id: run.workflow_id,
    version: run.version,
    input: started.input,
    ...(await outputOf(ctx, run)),
    // A step may be named `__proto__`: fromEntries defines it as a property, which an assignment would not.
    steps: Object.fromEntries(steps),
  };
}

async function outputOf(ctx: Context, run: RunRow): Promise<RunOutput> {
  if (run.status !== 'completed') return NO_OUTPUT;
  const version = { tenantId: ctx.principal.tenantId, workflowId: run.workflow_id, version: run.version };
  const graph = await findGraph(ctx.services.pool, version);
  return graph === null ? NO_OUTPUT : readOutput(ctx.services.pool, run.id, graph);
}
