import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { notFound } from '../../platform/errors.ts';
import type { WorkflowRef } from './schemas.ts';
import { archiveWorkflow } from './sql/store.ts';
import { projectScope } from './view.ts';

/** Archives for good: no more starts, no more changes; versions and runs stay readable. Repeating it changes nothing. */
export async function archive(ctx: Context, input: z.output<typeof WorkflowRef>): Promise<void> {
  const { pool, clock } = ctx.services;
  if (!(await archiveWorkflow(pool, projectScope(ctx), input.id, new Date(clock.now())))) throw notFound('Workflow');
}
