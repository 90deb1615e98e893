import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { DEFAULT_KIND } from '../../contract/workflow-kinds.ts';
import { whyUnchanged } from './precondition.ts';
import type { WorkflowRef } from './schemas.ts';
import { archiveWorkflow } from './sql/store.ts';
import { projectScope } from './view.ts';

/**
 * Archives for good: no more starts, no more changes; versions and runs stay readable. Repeating it changes nothing. Throws AppError 404, 409
 * `managed_elsewhere`.
 */
export async function archive(ctx: Context, input: z.output<typeof WorkflowRef>): Promise<void> {
  const { pool, clock } = ctx.services;
  const ref = { id: input.id, kind: DEFAULT_KIND, at: new Date(clock.now()) };
  if (!(await archiveWorkflow(pool, projectScope(ctx), ref))) throw await whyUnchanged(ctx, input.id);
}
