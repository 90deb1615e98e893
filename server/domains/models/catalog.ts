import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { type ModelProvider, modelProviders, providerFacts } from '../../platform/models/providers.ts';
import { isEmbeddingModel, knownModels } from './known-models.ts';
import type { CatalogOutput } from './schemas.ts';
import { listKeyRows, type UsableKey, usableKeys } from './select-key.ts';

type Provider = z.input<typeof CatalogOutput>['providers'][number];

/** GET /v1/llm-provider-keys/catalog: models to choose from, including those that the workspace's own servers list. */
export async function listCatalog({ principal, services }: Context): Promise<z.input<typeof CatalogOutput>> {
  const keys = usableKeys(await listKeyRows(services, principal));
  return { providers: modelProviders.map(provider => entry(provider, keys)) };
}

function entry(provider: ModelProvider, keys: readonly UsableKey[]): Provider {
  const { name, documentationUrl } = providerFacts[provider];
  const own = keys.filter(key => key.provider === provider);
  return {
    provider,
    name,
    configured: own.length > 0,
    documentation_url: documentationUrl,
    models: provider === 'openai_compatible' ? modelsOfServers(own) : knownModelsOf(provider),
  };
}

function knownModelsOf(provider: keyof typeof knownModels): Provider['models'] {
  return knownModels[provider].map(({ id, name, contextWindow, maxOutput, temperature, embeddings = false }) => ({
    id: `${provider}/${id}`,
    name,
    ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
    ...(maxOutput === undefined ? {} : { max_output: maxOutput }),
    supports: supportsOf({ embeddings, temperature }),
  }));
}

function modelsOfServers(servers: readonly UsableKey[]): Provider['models'] {
  const ids = new Set(servers.flatMap(({ models }) => models));
  return [...ids].map(id => {
    // If several servers list a model, the first one serves it.
    const contextWindow = servers.find(({ models }) => models.includes(id))?.contextWindow;
    const embeddings = isEmbeddingModel({ provider: 'openai_compatible', model: id });
    return {
      id: `openai_compatible/${id}`,
      name: id,
      ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
      supports: supportsOf({ embeddings, temperature: !embeddings }),
    };
  });
}

const supportsOf = ({ embeddings, temperature }: { embeddings: boolean; temperature: boolean }) => ({
  structured_output: !embeddings,
  temperature,
  tools: !embeddings,
  embeddings,
});
