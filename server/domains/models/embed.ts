import type { EmbedRequest } from '../../operation/embed.ts';
import { type Embeddings, embedTexts } from '../../platform/models/embed.ts';
import { inSecretScope } from '../../platform/secrets/in-use.ts';
import { ModelDirectory, type ModelServices } from './directory.ts';

/** The vectors of texts. Vectors of different values of `model` must not be mixed. */
export type EmbedAnswer =
  | (Extract<Embeddings, { kind: 'vectors' }> & { model: string })
  | { kind: 'failed'; code: string; message: string; retryable: boolean; retryAfterMs?: number };

/** Embeds texts. Resolves soon after `signal` aborts; rejects only for defects. */
export type Embed = (request: EmbedRequest, signal: AbortSignal) => Promise<EmbedAnswer>;

/** Creates the embedder of texts; it uses only keys of the tenant's own connections, and removes them from messages. */
export function createEmbed(services: ModelServices): Embed {
  const models = new ModelDirectory(services);
  return (request, signal) =>
    inSecretScope(async () => {
      const found = await models.open(request, request.model);
      if ('kind' in found) return found;
      const { access, fetch, redactor } = found;
      const answer = await embedTexts(access, request.texts, { fetch, clock: services.clock, signal });
      if (answer.kind === 'vectors') return { ...answer, model: request.model };
      return { ...answer, message: redactor.text(answer.message) };
    });
}
