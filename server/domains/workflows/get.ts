import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { notFound } from '../../platform/errors.ts';
import type { WorkflowRef, WorkflowSchema } from './schemas.ts';
import { findWorkflow, type WorkflowRow } from './store.ts';
import { answerWorkflow, projectScope } from './view.ts';

/** Returns a workflow of the request's project. Throws AppError 404 for any other. */
export async function requireWorkflow(ctx: Context, id: string): Promise<WorkflowRow> {
  const row = await findWorkflow(ctx.services.prisma, projectScope(ctx), id);
  if (row === null) throw notFound('Workflow');
  return row;
}

export async function getWorkflow(
  ctx: Context,
  input: z.output<typeof WorkflowRef>,
): Promise<z.input<typeof WorkflowSchema>> {
  return answerWorkflow(ctx, await requireWorkflow(ctx, input.id));
}
