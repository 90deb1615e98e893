import type { ModelProvider } from '../../platform/models/providers.ts';
import type { ModelReference } from './reference.ts';

export type KnownModel = {
  /** The provider's own id of the model. */
  id: string;
  name: string;
  /** The context window and the longest output in tokens; each is absent if unknown. */
  contextWindow?: number;
  maxOutput?: number;
  /** Whether `temperature` has an effect; reasoning models ignore it. */
  temperature: boolean;
  /** The model only creates embeddings. */
  embeddings?: true;
};

/**
 * The models to choose from, newest first. The list is short on purpose: any other id of a provider can be used as
 * well, and testing a key lists all models that it may use. Reviewed 2026-11; the AI SDK of that time names every id
 * (known-models.test.ts).
 */
export const knownModels: Readonly<Record<Exclude<ModelProvider, 'openai_compatible'>, readonly KnownModel[]>> = {
  openai: [
    { id: 'gpt-6.1-sol', name: 'GPT-6.1 Sol', temperature: false },
    { id: 'gpt-6.1-terra', name: 'GPT-6.1 Terra', temperature: false },
    { id: 'gpt-5.5', name: 'GPT-5.5', temperature: false },
    { id: 'gpt-5.4-mini', name: 'GPT-5.4 mini', temperature: false },
    { id: 'gpt-5.4-nano', name: 'GPT-5.4 nano', temperature: false },
    { id: 'gpt-5', name: 'GPT-5', contextWindow: 400_000, maxOutput: 128_000, temperature: false },
    { id: 'gpt-5-mini', name: 'GPT-5 mini', contextWindow: 400_000, maxOutput: 128_000, temperature: false },
    { id: 'gpt-4.1', name: 'GPT-4.1', contextWindow: 1_047_576, maxOutput: 32_768, temperature: true },
    { id: 'gpt-4.1-mini', name: 'GPT-4.1 mini', contextWindow: 1_047_576, maxOutput: 32_768, temperature: true },
    { id: 'text-embedding-3-small', name: 'Text Embedding 3 small', temperature: false, embeddings: true },
    { id: 'text-embedding-3-large', name: 'Text Embedding 3 large', temperature: false, embeddings: true },
  ],
  anthropic: [
    { id: 'claude-opus-5-5', name: 'Claude Opus 5.5', maxOutput: 128_000, temperature: false },
    { id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5', maxOutput: 128_000, temperature: false },
    { id: 'claude-haiku-5-5', name: 'Claude Haiku 5.5', maxOutput: 128_000, temperature: false },
    {
      id: 'claude-sonnet-4-5',
      name: 'Claude Sonnet 4.5',
      contextWindow: 200_000,
      maxOutput: 64_000,
      temperature: true,
    },
    { id: 'claude-haiku-4-5', name: 'Claude Haiku 4.5', contextWindow: 200_000, maxOutput: 64_000, temperature: true },
  ],
  google: [
    { id: 'gemini-pro-latest', name: 'Gemini Pro, the latest', temperature: true },
    { id: 'gemini-flash-latest', name: 'Gemini Flash, the latest', temperature: true },
    { id: 'gemini-flash-lite-latest', name: 'Gemini Flash-Lite, the latest', temperature: true },
    { id: 'gemini-2.5-pro', name: 'Gemini 2.5 Pro', contextWindow: 1_048_576, maxOutput: 65_536, temperature: true },
    {
      id: 'gemini-2.5-flash',
      name: 'Gemini 2.5 Flash',
      contextWindow: 1_048_576,
      maxOutput: 65_536,
      temperature: true,
    },
    { id: 'gemini-embedding-001', name: 'Gemini Embedding', temperature: false, embeddings: true },
  ],
  mistral: [
    { id: 'mistral-large-latest', name: 'Mistral Large, the latest', temperature: true },
    { id: 'mistral-medium-latest', name: 'Mistral Medium, the latest', temperature: true },
    { id: 'mistral-small-latest', name: 'Mistral Small, the latest', temperature: true },
    { id: 'magistral-medium-latest', name: 'Magistral Medium, the latest', temperature: true },
    { id: 'ministral-8b-latest', name: 'Ministral 8B, the latest', temperature: true },
    { id: 'mistral-embed', name: 'Mistral Embed', temperature: false, embeddings: true },
  ],
};

/** Returns the context window of a model in tokens; undefined if unknown. */
export function contextWindowOf({ provider, model }: ModelReference): number | undefined {
  return provider === 'openai_compatible'
    ? undefined
    : knownModels[provider].find(({ id }) => id === model)?.contextWindow;
}

/** Returns the maximum number of tokens that a model writes; undefined if unknown. */
export function maxOutputOf({ provider, model }: ModelReference): number | undefined {
  return provider === 'openai_compatible' ? undefined : knownModels[provider].find(({ id }) => id === model)?.maxOutput;
}

/** Returns whether a model creates embeddings instead of answers. An unknown model counts as one if its id contains “embed”. */
export function isEmbeddingModel({ provider, model }: ModelReference): boolean {
  const known = provider === 'openai_compatible' ? undefined : knownModels[provider].find(({ id }) => id === model);
  return known === undefined ? /embed/i.test(model) : known.embeddings === true;
}
