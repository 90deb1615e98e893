import { isModelProvider, type ModelProvider, modelProviders } from '../../platform/models/providers.ts';

/** A provider and the provider's own name of the model, as in `openai/gpt-5`; the name may contain slashes. */
export type ModelReference = { provider: ModelProvider; model: string };
export type ReferenceProblem = { code: string; message: string };

/** Parses `provider/model`, or returns what is wrong with it. */
export function parseReference(text: string): ModelReference | ReferenceProblem {
  const shown = JSON.stringify(text.slice(0, 80));
  const slash = text.indexOf('/');
  const provider = text.slice(0, Math.max(0, slash));
  const model = text.slice(slash + 1);
  if (slash < 1 || !/^[\w.:@+-][\w./:@+-]{0,189}$/.test(model) || /(^|\/)\.\.?(\/|$)|\/\//.test(model)) {
    return { code: 'model_malformed', message: `${shown} is not a model: write provider/model, such as openai/gpt-5` };
  }
  if (!isModelProvider(provider)) {
    const message = `"${provider.slice(0, 80)}" is not a model provider: one of ${modelProviders.join(', ')}`;
    return { code: 'unknown_model_provider', message };
  }
  return { provider, model };
}
