/** The providers whose wire format is spoken here. `openai_compatible` is any server that speaks OpenAI's chat completions. */
export const modelProviders = ['openai', 'anthropic', 'google', 'mistral', 'openai_compatible'] as const;
export type ModelProvider = (typeof modelProviders)[number];

type ProviderFacts = {
  /** The name that users know. */
  name: string;
  /** The base URL of its API; null if only the operator of the server knows it. */
  baseUrl: string | null;
  /** Where its models and keys are described. */
  documentationUrl: string;
};

export const providerFacts: Readonly<Record<ModelProvider, ProviderFacts>> = {
  openai: {
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    documentationUrl: 'https://platform.openai.com/docs/models',
  },
  anthropic: {
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    documentationUrl: 'https://docs.anthropic.com/en/docs/about-claude/models',
  },
  google: {
    name: 'Google Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    documentationUrl: 'https://ai.google.dev/gemini-api/docs/models',
  },
  mistral: {
    name: 'Mistral AI',
    baseUrl: 'https://api.mistral.ai/v1',
    documentationUrl: 'https://docs.mistral.ai/getting-started/models/models_overview/',
  },
  openai_compatible: {
    name: 'OpenAI-compatible server',
    baseUrl: null,
    documentationUrl: 'https://platform.openai.com/docs/api-reference/chat',
  },
};

export function isModelProvider(name: string): name is ModelProvider {
  return (modelProviders as readonly string[]).includes(name);
}

/** The settings needed to reach a provider. */
export type ModelAccess = {
  provider: ModelProvider;
  /** Absent for a server that requires no key (only `openai_compatible`). */
  apiKey?: string | undefined;
  /** Replaces the provider's own base URL; required for `openai_compatible`. */
  baseUrl?: string | undefined;
};

/** Returns the base URL of requests, without a trailing slash. Throws if there is none; callers have checked this. */
export function baseUrlOf({ provider, baseUrl }: ModelAccess): string {
  const url = baseUrl ?? providerFacts[provider].baseUrl;
  if (url === null) throw new Error(`${provider} has no base URL of its own.`);
  return url.replace(/\/+$/, '');
}
