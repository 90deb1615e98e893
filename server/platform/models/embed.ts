import type { Clock } from '../clock.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { type ModelFailure, modelFailure } from './failure.ts';
import { createEmbeddingModel } from './language-model.ts';
import { type ModelAccess, providerFacts } from './providers.ts';

/** The maximum number of texts in one request differs: OpenAI 2,048, Google 100, Mistral 32. */
const MAX_TEXTS_PER_REQUEST = 64;
/** Vectors of models in use have 256 to 4,096 numbers. */
export const MAX_DIMENSIONS = 8_192;

export type Embeddings =
  | {
      kind: 'vectors';
      /** One for each text, in their order; all of one length. */
      vectors: number[][];
      /** The tokens that the provider counted; 0 if it did not report them. */
      tokens: number;
    }
  | ModelFailure;

/**
 * Turns texts into vectors. Resolves with a failure for anything that the provider, the network or the answer can cause, such as
 * vectors of different lengths; rejects only for defects.
 */
export async function embedTexts(
  access: ModelAccess & { model: string },
  texts: readonly string[],
  on: { fetch: typeof globalThis.fetch; clock: Clock; signal: AbortSignal },
): Promise<Embeddings> {
  const about = { provider: access.provider, now: on.clock.now() };
  try {
    const model = await createEmbeddingModel({ ...access, fetch: boundedFetch(on.fetch) });
    if (model === undefined)
      return failed('model_unsuited', `${providerFacts[access.provider].name} has no embeddings.`);
    const size = Math.min(MAX_TEXTS_PER_REQUEST, (await model.maxEmbeddingsPerCall) ?? MAX_TEXTS_PER_REQUEST);
    const vectors: number[][] = [];
    let tokens = 0;
    for (let from = 0; from < texts.length; from += size) {
      const values = texts.slice(from, from + size);
      const { embeddings, usage } = await model.doEmbed({ values, abortSignal: on.signal });
      if (!isComplete(embeddings, values.length, vectors[0]?.length)) {
        const { name } = providerFacts[access.provider];
        return failed('model_answer_malformed', `${name} did not answer with one vector for each text.`);
      }
      vectors.push(...embeddings);
      tokens += Number.isSafeInteger(usage?.tokens) ? Math.max(0, usage?.tokens ?? 0) : 0;
    }
    return { kind: 'vectors', vectors, tokens };
  } catch (error) {
    if (on.signal.aborted) return failed('cancelled', 'The call was cancelled.');
    const failure = modelFailure(error, about);
    if (failure === undefined) throw error;
    return failure;
  }
}

const failed = (code: string, message: string): ModelFailure => ({ kind: 'failed', code, message, retryable: false });

/** Returns whether the vectors are as many as the texts, finite, and of equal length. */
function isComplete(vectors: readonly number[][], count: number, length = vectors[0]?.length ?? 0): boolean {
  return (
    vectors.length === count &&
    length > 0 &&
    length <= MAX_DIMENSIONS &&
    vectors.every(vector => vector.length === length && vector.every(Number.isFinite))
  );
}
