import type { Clock } from '../clock.ts';
import { boundedFetch, readSome } from './bounded-fetch.ts';
import { type ModelFailure, modelFailure } from './failure.ts';
import { baseUrlOf, type ModelAccess, type ModelProvider, providerFacts } from './providers.ts';

/** A page of names is more than a person reads; Google lists some 50 models, routers a few hundred. */
const MAX_MODELS = 500;
const MAX_LIST_BYTES = 4 * 1024 * 1024;

export type ModelList = { kind: 'models'; models: string[] } | ModelFailure;

/**
 * Asks a provider which models the key may use: the cheapest request that needs a valid key, since it costs no tokens.
 * Returns at most 500 ids, in the form in which steps name them. Resolves with a failure for anything that provider and
 * network can cause.
 */
export async function listModels(
  access: ModelAccess,
  on: { fetch: typeof globalThis.fetch; clock: Clock; signal: AbortSignal },
): Promise<ModelList> {
  const about = { provider: access.provider, now: on.clock.now() };
  try {
    const url = `${baseUrlOf(access)}/models${pageSize[access.provider]}`;
    const response = await boundedFetch(on.fetch)(url, { headers: keyHeaders(access), signal: on.signal });
    const body = response.body === null ? '' : await (await readSome(response.body, MAX_LIST_BYTES)).text();
    if (!response.ok) return refusal(response, body, about);
    const models = idsIn(body);
    if (models !== undefined) return { kind: 'models', models: models.slice(0, MAX_MODELS) };
  } catch (error) {
    const failure = modelFailure(error, about);
    if (failure === undefined) throw error;
    return failure;
  }
  const { name } = providerFacts[access.provider];
  const message = `${name} did not answer with a list of models: is the base URL right?`;
  return { kind: 'failed', code: 'model_answer_malformed', message, retryable: false };
}

/** The default pages of some providers are short. */
const pageSize = {
  openai: '',
  anthropic: '?limit=500',
  google: '?pageSize=500',
  mistral: '',
  openai_compatible: '',
} as const;

function keyHeaders({ provider, apiKey }: ModelAccess): Record<string, string> {
  if (apiKey === undefined || apiKey === '') return {};
  switch (provider) {
    case 'anthropic':
      return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
    case 'google':
      return { 'x-goog-api-key': apiKey };
    case 'openai':
    case 'mistral':
    case 'openai_compatible':
      return { Authorization: `Bearer ${apiKey}` };
  }
}

/** Returns the same error that the SDK creates, so that both are mapped in one place. */
function refusal(response: Response, responseBody: string, about: { provider: ModelProvider; now: number }) {
  const responseHeaders = Object.fromEntries(response.headers);
  const error = Object.assign(new Error(''), {
    name: 'AI_APICallError',
    statusCode: response.status,
    responseHeaders,
    responseBody,
  });
  const failure = modelFailure(error, about);
  if (failure === undefined) throw error;
  return failure;
}

/** All providers answer `{data: [{id}]}` except Google, whose names begin with `models/`. */
function idsIn(text: string): string[] | undefined {
  let body: { data?: unknown; models?: unknown };
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const list = body?.data ?? body?.models;
  if (!Array.isArray(list)) return undefined;
  return list.flatMap(item => {
    const id: unknown = item?.id ?? item?.name;
    return typeof id === 'string' && id.length > 0 && id.length <= 200 ? [id.replace(/^models\//, '')] : [];
  });
}
