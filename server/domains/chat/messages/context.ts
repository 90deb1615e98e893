import type { z } from 'zod';
import type { Context } from '../../../contract/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireScopes } from '../../identity/authority.ts';
import { requireRun } from '../../runs/find.ts';
import { findWorkflow } from '../../workflows/store.ts';
import { projectScope } from '../../workflows/view.ts';
import type { MessageContext } from '../schemas.ts';
import type { ContextPart } from '../stream/parts.ts';

/**
 * Returns what a message is about, as the caller may see it. Throws AppError 403 `insufficient_scope` without `workflow:read`, 404
 * for a workflow or a run that the project does not have.
 */
export async function readContext(
  ctx: Context,
  { workflow_id, run_id, step_id }: z.output<typeof MessageContext>,
): Promise<ContextPart> {
  requireScopes(ctx.principal, ['workflow:read']);
  const workflow = await findWorkflow(ctx.services.prisma, projectScope(ctx), workflow_id);
  if (workflow === null) throw notFound('Workflow');
  const run = run_id === undefined ? null : await requireRun(ctx, { id: workflow_id, runID: run_id });
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
