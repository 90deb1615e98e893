import type { Context } from '../../operation/context.ts';
import { type AppError, invalid } from '../../platform/errors.ts';
import { derivedId } from '../../platform/ids.ts';
import { type AgentSettings, ALL_MEMORIES, graphOf, newSettings } from '../agents/settings.ts';
import { requireValid } from '../agents/validate.ts';
import { listCatalog } from '../models/catalog.ts';
import { ensurePublished } from '../workflows/ensure-published.ts';
import { projectScope } from '../workflows/view.ts';
import { readSettings } from './settings-store.ts';

const INSTRUCTIONS =
  'You are the assistant of a workspace that runs workflows. Answer briefly and to the point, in the language of the person. Say so when you do not know something.';
const ADD_KEY_HINT = 'Add a key under Settings, Model keys, or by POST /v1/llm-provider-keys.';

/**
 * Returns the workflow whose runs answer in threads without an agent. Each model of the project has its own workflow, created on first use
 * and hidden from lists. Throws AppError 422 `model_not_configured`.
 */
export async function assistantFor(
  ctx: Context,
  given: string | undefined,
): Promise<{ workflowId: string; model: string }> {
  const model = given ?? (await defaultModel(ctx, 'assistant_model'));
  const scope = projectScope(ctx);
  const id = derivedId(0, ['chat assistant', scope.tenantId, scope.projectId, model]);
  const settings = newSettings({ model, instructions: INSTRUCTIONS, memory: ALL_MEMORIES });
  await requireUsable(ctx, id, settings);
  await ensurePublished(ctx, { id, name: `Chat with ${model}`, kind: 'agent', graph: graphOf(settings) });
  return { workflowId: id, model };
}

/** Throws AppError 422 `model_not_configured` with the place to add a key, if the model cannot be used. */
export async function requireUsable(ctx: Context, id: string, settings: AgentSettings): Promise<void> {
  await requireValid(ctx, id, settings).catch((error: AppError) => {
    if (error.code !== 'invalid_agent') throw error;
    const details = error.details ?? [];
    throw invalid(`The model ${settings.model} cannot be used. ${ADD_KEY_HINT}`, details, 'model_not_configured');
  });
}

/**
 * Returns the model that the workspace has chosen, else the first one that has a key and can call tools. A chosen model without a key is not
 * replaced, because another provider would receive the conversation. Throws AppError 422 `model_not_configured`.
 */
export async function defaultModel(ctx: Context, purpose: 'assistant_model' | 'autopilot_model'): Promise<string> {
  const chosen = (await readSettings(ctx.services.pool, ctx.principal.tenantId))[purpose];
  if (chosen !== null) return chosen;
  const { providers } = await listCatalog(ctx);
  for (const { configured, models } of providers) {
    const model = configured ? models.find(({ supports }) => supports.tools) : undefined;
    if (model !== undefined) return model.id;
  }
  throw invalid(`No model has a key, so no model can answer. ${ADD_KEY_HINT}`, undefined, 'model_not_configured');
}
