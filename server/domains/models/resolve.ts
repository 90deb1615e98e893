import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { invalid } from '../../platform/errors.ts';
import { isEmbeddingModel } from './known-models.ts';
import { type ModelReference, parseReference } from './reference.ts';
import type { ResolveInput, ResolveOutput } from './schemas.ts';
import { listKeyRows, selectKey, usableKeys } from './select-key.ts';

/** POST /v1/llm/resolve: returns what a step with this model would call. Throws AppError 422 for an unknown model. */
export async function resolveModel(
  { principal, services }: Context,
  input: z.output<typeof ResolveInput>,
): Promise<z.input<typeof ResolveOutput>> {
  const reference = parseReference(input.model);
  if ('code' in reference) {
    throw invalid('This is not a reference to a model.', [
      { path: 'model', message: reference.message, code: reference.code },
    ]);
  }
  const key = selectKey(usableKeys(await listKeyRows(services, principal)), reference);
  if ('code' in key) return { ...reference, connection_id: null, available: false, reason: key.message };
  const { id, baseUrl } = key;
  const reason = misfit(reference, input.purpose);
  return {
    ...reference,
    connection_id: id,
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    available: reason === null,
    ...(reason === null ? {} : { reason }),
  };
}

/** Returns why a model does not serve a purpose; null if it may. */
function misfit(reference: ModelReference, purpose: z.output<typeof ResolveInput>['purpose']): string | null {
  if (purpose === undefined) return null;
  if (purpose === 'embedding' && reference.provider === 'anthropic') return 'Anthropic has no embeddings.';
  const embeds = isEmbeddingModel(reference);
  if (purpose !== 'embedding' && embeds) return 'The model makes embeddings: it neither answers nor calls tools.';
  // The workspace's own servers choose the names of their models, so the purpose of a model is unknown.
  if (purpose === 'embedding' && !embeds && reference.provider !== 'openai_compatible') {
    return 'The model answers: it makes no embeddings.';
  }
  return null;
}
