import type { Context } from '../../contract/context.ts';
import { type AppError, invalid } from '../../platform/errors.ts';
import { derivedId } from '../../platform/ids.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { graphOf, newSettings } from '../agents/settings.ts';
import { requireValid } from '../agents/validate.ts';
import { listCatalog } from '../models/catalog.ts';
import { insertPublished } from '../workflows/insert-published.ts';
import { findWorkflow } from '../workflows/store.ts';
import { projectScope } from '../workflows/view.ts';

const INSTRUCTIONS =
  'You are the assistant of a workspace that runs workflows. Answer briefly and to the point, in the language of the person. Say so when you do not know something.';
const WHERE = 'Add a key under Settings, Model keys, or by POST /v1/llm-provider-keys.';

/**
 * Returns the workflow whose runs answer where no agent is chosen: one for each model of the project, made when it is first
 * needed. No list shows it. Throws AppError 422 `model_not_configured`.
 */
export async function assistantFor(
  ctx: Context,
  given: string | undefined,
): Promise<{ workflowId: string; model: string }> {
  const { prisma, clock } = ctx.services;
  const model = given ?? (await firstModel(ctx));
  const scope = projectScope(ctx);
  const workflowId = derivedId(0, ['chat assistant', scope.tenantId, scope.projectId, model]);
  const settings = newSettings({ model, instructions: INSTRUCTIONS });
  await requireValid(ctx, workflowId, settings).catch((error: AppError) => {
    if (error.code !== 'invalid_agent') throw error;
    const details = error.details ?? [];
    throw invalid(`The model ${model} cannot be used. ${WHERE}`, details, 'model_not_configured');
  });
  if ((await findWorkflow(prisma, scope, workflowId)) !== null) return { workflowId, model };
  const { userId } = ctx.principal;
  const at = new Date(clock.now());
  const texts = { name: `Chat with ${model}`, description: '' };
  const workflow = { id: workflowId, scope, ...texts, graph: graphOf(settings), kind: 'agent' } as const;
  try {
    await transact({ prisma }, tx => insertPublished(tx, { ...workflow, createdBy: userId, at }));
  } catch (error) {
    // A concurrent caller made it.
    if ((await findWorkflow(prisma, scope, workflowId)) === null) throw error;
  }
  return { workflowId, model };
}

async function firstModel(ctx: Context): Promise<string> {
  const { providers } = await listCatalog(ctx);
  for (const { configured, models } of providers) {
    const model = configured ? models.find(({ supports }) => supports.tools) : undefined;
    if (model !== undefined) return model.id;
  }
  throw invalid(`No model has a key here, so nothing can answer. ${WHERE}`, undefined, 'model_not_configured');
}
