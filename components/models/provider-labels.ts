import type { Outputs } from '../trpc/provider.tsx';

export type ModelKey = Outputs['llm_provider_keys_list']['keys'][number];
export type Provider = ModelKey['provider'];

export const providerLabels: Readonly<Record<Provider, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
  mistral: 'Mistral AI',
  openai_compatible: 'OpenAI-compatible server',
};
