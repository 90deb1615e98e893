import type { z } from 'zod';
import type { Context } from '../../api/context.ts';
import type { Graph } from '../../orchestrator/core/graph.ts';
import { validateGraph } from '../../orchestrator/validation/index.ts';
import { requireWorkflow } from './get.ts';
import type { ValidateInput, ValidationReport } from './schemas.ts';
import { projectScope } from './view.ts';

/** What publishing would say of the draft, or of the graph that is given. Saves nothing. */
export async function validate(
  ctx: Context,
  input: z.output<typeof ValidateInput>,
): Promise<z.input<typeof ValidationReport>> {
  const workflow = await requireWorkflow(ctx, input.id);
  const graph = input.graph === undefined ? workflow.graph : (input.graph as Graph);
  return validateGraph(graph, ctx.services.stepTypes, projectScope(ctx));
}
