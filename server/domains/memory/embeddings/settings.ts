import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { AppError, invalid } from '../../../platform/errors.ts';
import type { PatchSettingsInput, Settings } from '../schemas.ts';
import { endPause, SHARED_KEYS } from './embed-query.ts';
import { countPending, deleteSettings, readSettings, saveSettings } from './store.ts';

/** The limit up to which pending texts are counted, because counting all would take long. */
const MAX_COUNTED_PENDING = 10_000;
const TRIAL_TIMEOUT_MS = 10_000;

/** GET /v1/memory/settings. */
export async function getSettings({ principal, services }: Context): Promise<z.input<typeof Settings>> {
  const { tenantId } = principal;
  const settings = await readSettings(services.pool, tenantId);
  const pending = settings === null ? 0 : await countPending(services.pool, tenantId, MAX_COUNTED_PENDING);
  return {
    embedding_model: settings?.model ?? null,
    dimensions: settings?.dimensions ?? null,
    pending,
    ready: settings?.ready ?? true,
  };
}

/**
 * PATCH /v1/memory/settings: sets the embedding model after trying it. Every text is then embedded again in the background. Null deletes all
 * embeddings. Throws AppError 422 `embedding_model_unusable`, 503 if the provider is unavailable.
 */
export async function patchSettings(
  ctx: Context,
  { embedding_model: model }: z.output<typeof PatchSettingsInput>,
): Promise<z.input<typeof Settings>> {
  const { principal, services } = ctx;
  const { tenantId, userId } = principal;
  if (model === null) {
    await deleteSettings(services.pool, tenantId);
    return getSettings(ctx);
  }
  const request = { tenantId, projectId: SHARED_KEYS, model, texts: ['memory'] };
  const answer = await services.embed(request, AbortSignal.timeout(TRIAL_TIMEOUT_MS));
  if (answer.kind === 'failed') {
    if (answer.retryable) throw new AppError(503, 'embedding_model_unavailable', answer.message);
    throw invalid(
      'This model cannot embed texts.',
      [{ path: 'embedding_model', message: answer.message, code: answer.code }],
      'embedding_model_unusable',
    );
  }
  const dimensions = answer.vectors[0]?.length ?? 0;
  const settings = { model, dimensions, space: `${model}#${dimensions}`, updatedBy: userId };
  await saveSettings(services.pool, tenantId, settings, new Date(services.clock.now()));
  endPause(services, tenantId);
  return getSettings(ctx);
}
