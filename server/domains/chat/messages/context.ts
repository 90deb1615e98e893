import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import { requireScopes } from '../../identity/authority.ts';
import { requireRun } from '../../runs/access/find.ts';
import { hasStep } from '../../runs/steps/added-step.ts';
import { findGraph, type RunRow } from '../../runs/store.ts';
import { findWorkflow, type WorkflowRow } from '../../workflows/store.ts';
import { projectScope } from '../../workflows/view.ts';
import type { MessageContext } from '../schemas.ts';
import type { ContextPart } from '../stream/parts.ts';

/**
 * Returns the context of a message with the caller's rights. Throws AppError 403 `insufficient_scope` without `workflow:read`, 404 for an
 * unknown workflow or run, 422 `unknown_step` for an unknown step.
 */
export async function readContext(
  ctx: Context,
  { workflow_id, run_id, step_id }: z.output<typeof MessageContext>,
): Promise<ContextPart> {
  requireScopes(ctx.principal, ['workflow:read']);
  const workflow = await findWorkflow(ctx.services.prisma, projectScope(ctx), workflow_id);
  if (workflow === null) throw notFound('Workflow');
  const run = run_id === undefined ? null : await requireRun(ctx, { id: workflow_id, runID: run_id });
  if (step_id !== undefined) await requireKnownStep(ctx, step_id, { workflow, run });
  const data = {
    workflow_id,
    workflow_name: workflow.name,
    run_id: run?.id ?? null,
    run_status: run?.status ?? null,
    version: run?.version ?? null,
    step_id: step_id ?? run?.error?.step_id ?? null,
    error: run?.error ? { code: run.error.code, message: run.error.message, step_id: run.error.step_id } : null,
  };
  return { type: 'data-context', data };
}

/** Requires that the step is one of the run, including added steps. Without a run, it must be a step of the draft, possibly in a loop. */
async function requireKnownStep(
  ctx: Context,
  step: string,
  { workflow, run }: { workflow: WorkflowRow; run: RunRow | null },
): Promise<void> {
  const { pool } = ctx.services;
  const version = run && { tenantId: ctx.principal.tenantId, workflowId: run.workflow_id, version: run.version };
  const graph = version === null ? workflow.graph : await findGraph(pool, version);
  if (graph !== null && (await hasStep(pool, run?.id ?? null, graph, step))) return;
  const where = run === null ? 'the draft of the workflow' : 'the run';
  const detail = { path: 'context.step_id', code: 'unknown_step', message: `is not a step of ${where}` };
  throw invalid('There is no such step.', [detail], 'unknown_step');
}
