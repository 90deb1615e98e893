import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { GraphStep } from '../../../orchestrator/core/graph.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/errors.ts';
import { runScope } from '../access/find.ts';
import { requireReader } from '../access/readers.ts';
import type { RunRef } from '../schemas.ts';
import { findGraph, findRunWithSteps, type StepEventRow } from '../store.ts';
import { NO_OUTPUT, readOutput } from '../values/output.ts';
import { toRun } from '../view.ts';
import type { RunSummary, StepSummary } from './schemas.ts';

/**
 * Returns the status of a run, with every step of its version in the order of the graph. Reads results
 * only if the run has an output.
 */
export async function getSummary(ctx: Context, input: z.output<typeof RunRef>): Promise<z.input<typeof RunSummary>> {
  const { pool } = ctx.services;
  const found = await findRunWithSteps(pool, runScope(ctx, input));
  if (found === null) throw notFound('Run');
  const { run, parent, events, added, lastSeq } = found;
  await requireReader(ctx, run);
  const version = { tenantId: ctx.principal.tenantId, workflowId: run.workflow_id, version: run.version };
  const graph = await findGraph(pool, version);
  const steps = summarise(graph?.steps ?? [], events);
  const steps_done = Math.max(run.steps_done, steps.filter(step => step.ended_at !== null).length);
  // Added up from the log, like the steps: the row of a fast run lags for a moment.
  const credits_microcredits = steps.reduce((sum, step) => sum + step.credits_microcredits, added.credits);
  return {
    ...toRun(run),
    parent,
    steps_done,
    steps_skipped: steps.filter(step => step.status === 'skipped').length,
    credits_microcredits,
    last_seq: lastSeq,
    added_steps: { total: added.total, done: added.done },
    ...(graph !== null && run.status === 'completed' ? await readOutput(pool, run.id, graph) : NO_OUTPUT),
    steps,
  };
}

type Step = z.input<typeof StepSummary>;

/** Folds step events into one entry per step; a step without events is `pending`. */
export function summarise(steps: readonly GraphStep[], events: readonly StepEventRow[]): Step[] {
  const byId = new Map<string, Step>();
  for (const step of steps) {
    byId.set(step.id, {
      step_id: step.id,
      type: step.type,
      name: step.name ?? null,
      status: 'pending',
      attempt: 0,
      skip_reason: null,
      started_at: null,
      ended_at: null,
      error: null,
      credits_microcredits: 0,
      child_run: null,
    });
  }
  for (const event of events) {
    const step = byId.get(event.step_id);
    if (step !== undefined) apply(step, event);
  }
  return [...byId.values()];
}

function apply(step: Step, event: StepEventRow): void {
  const at = isoTimestamp(event.created_at.getTime());
  step.attempt = event.attempt ?? step.attempt;
  step.credits_microcredits += event.credits;
  switch (event.event_type) {
    case 'step_started':
      step.status = 'running';
      step.started_at ??= at;
      step.error = null;
      return;
    case 'step_retrying':
      step.status = 'retrying';
      step.error = event.error;
      return;
    case 'child_called':
      step.child_run = event.child_run;
      return;
    case 'task_pending':
      step.status = 'waiting';
      return;
    case 'step_waiting':
      step.status = 'sleeping';
      return;
    case 'step_completed':
      step.status = event.skip_reason === null ? 'completed' : 'skipped';
      step.skip_reason = event.skip_reason;
      step.ended_at = at;
      return;
    case 'step_failed':
      step.status = 'failed';
      step.error = event.error;
      step.ended_at = at;
      return;
    case 'step_cancelled':
      step.status = 'cancelled';
      step.ended_at = at;
      return;
    case 'task_completed':
      // The end of the step follows immediately, unless a step that may have happened is to be repeated.
      step.status = 'ready';
      return;
    default: // types added later do not change the status of a step
      return;
  }
}
