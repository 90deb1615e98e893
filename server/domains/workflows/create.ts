import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { newId } from '../../platform/ids.ts';
import { checksum } from './checksum.ts';
import { acceptDraft } from './draft.ts';
import { redactPins } from './pinned-results.ts';
import type { CreateWorkflowInput, WorkflowSchema } from './schemas.ts';
import { insertWorkflow } from './store.ts';
import { answerWorkflow, projectScope } from './view.ts';

/**
 * Creates a draft. The graph may be incomplete or absent. Throws AppError 422 for a value that does not have the form
 * of a graph.
 */
export async function createWorkflow(
  ctx: Context,
  input: z.output<typeof CreateWorkflowInput>,
): Promise<z.input<typeof WorkflowSchema>> {
  const { prisma, clock } = ctx.services;
  const graph = input.graph ?? { steps: [] };
  const runSetup = input.run_setup ?? {};
  acceptDraft({ graph, runSetup });
  const row = await insertWorkflow(prisma, {
    id: newId(),
    scope: projectScope(ctx),
    name: input.name,
    description: input.description ?? '',
    graph,
    runSetup: await redactPins(ctx, runSetup, null),
    graphChecksum: checksum(graph),
    folder: input.folder,
    tags: input.tags,
    createdBy: ctx.principal.userId,
    at: new Date(clock.now()),
  });
  return answerWorkflow(ctx, row);
}
