import type { Services } from '../../operation/services.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import type { CheckScope, StepProblem } from '../../orchestrator/ports/step-type.ts';
import { validateForm } from '../../orchestrator/steps/form.ts';
import { AppError } from '../../platform/errors.ts';
import type { Json } from '../../platform/json.ts';
import { isModelProvider, type ModelAccess, providerFacts } from '../../platform/models/providers.ts';
import { createRedactor, type Redactor } from '../../platform/secrets/redaction.ts';
import { loadCredentials } from '../connections/credentials.ts';
import { NO_SECRET } from '../connections/document.ts';
import { isHeaderValue } from '../connections/schemas.ts';
import { contextWindowOf, maxOutputOf } from './known-models.ts';
import { parseReference, type ReferenceProblem } from './reference.ts';
import { KeyConfig } from './schemas.ts';
import { type KeyScope, listKeyRows, selectKey, type UsableKey, usableKeys } from './select-key.ts';

export type ModelServices = Pick<Services, 'pool' | 'prisma' | 'secrets' | 'clock' | 'egress' | 'config'>;

/** A model that can be called. `fetch` sends the key only to its own origin, and `redactor` removes it from answers. */
export type OpenModel = {
  access: ModelAccess & { model: string };
  redactor: Redactor;
  fetch: typeof globalThis.fetch;
};
export type ModelRefused = { kind: 'failed'; code: string; message: string; retryable: boolean };

/** Finds the models that a project may call, by the keys of its own workspace only. */
export class ModelDirectory {
  readonly #services: ModelServices;
  readonly #keysOf: (scope: KeyScope) => Promise<UsableKey[]>;

  constructor(services: ModelServices) {
    this.#services = services;
    this.#keysOf = sharedReading(async scope => usableKeys(await listKeyRows(services, scope)));
  }

  /** Returns the problems of a step that names this model: an unknown provider or model, or a missing key. */
  async check(scope: CheckScope, { model }: { model: string }): Promise<StepProblem[]> {
    const reference = parseReference(model);
    const found = 'code' in reference ? reference : selectKey(await this.#keysOf(scope), reference);
    return 'code' in found ? [{ path: 'model', ...found }] : [];
  }

  /** Returns the context window of the model in tokens, from its key or from the known models; null if neither has it. */
  async contextWindow(scope: KeyScope, model: string): Promise<number | null> {
    const reference = parseReference(model);
    if ('code' in reference) return null;
    const key = selectKey(await this.#keysOf(scope), reference);
    const ofKey = 'code' in key ? undefined : key.contextWindow;
    return ofKey ?? contextWindowOf(reference) ?? null;
  }

  /** Returns the maximum number of tokens of an answer of the model; null if unknown. */
  mostOutput(model: string): number | null {
    const reference = parseReference(model);
    return 'code' in reference ? null : (maxOutputOf(reference) ?? null);
  }

  /** Returns a model with its key, or the reason why it cannot be called. */
  async open(scope: KeyScope, model: string): Promise<OpenModel | ModelRefused> {
    const reference = parseReference(model);
    if ('code' in reference) return failed(reference);
    const key = selectKey(await this.#keysOf(scope), reference);
    if ('code' in key) return failed(key);
    const loaded = await loadKey(this.#services, scope, key.id);
    if ('kind' in loaded) return loaded;
    const { apiKey, baseUrl, fetch } = loaded;
    const used = apiKey === NO_SECRET ? undefined : apiKey;
    return {
      access: { ...reference, apiKey: used, baseUrl },
      redactor: createRedactor(used === undefined ? [] : [used]),
      fetch,
    };
  }
}

/** Returns the headers of a request that an engine may send twice. */
export function callHeaders({
  idempotencyKey,
  traceparent,
}: {
  idempotencyKey: string;
  traceparent?: string | undefined;
}) {
  return { 'Idempotency-Key': idempotencyKey, ...(traceparent === undefined ? {} : { traceparent }) };
}

/** Returns a reader whose concurrent calls share one reading: the steps of a graph are checked at once and need the same keys. */
function sharedReading<T>(read: (scope: KeyScope) => Promise<T>): (scope: KeyScope) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return scope => {
    const key = `${scope.tenantId}/${scope.projectId}`;
    const known = underWay.get(key);
    if (known) return known;
    const reading = read(scope).finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };
}

/** Returns the address to which a key is sent: the base URL stored with it, else the provider's own; '' if neither exists. */
export function addressOfKey({ provider, config }: { provider: string; config: JsonMap }): string {
  const baseUrl = KeyConfig.safeParse(config).data?.base_url;
  return baseUrl ?? (isModelProvider(provider) ? providerFacts[provider].baseUrl : null) ?? '';
}

/** The problem of a key that was stored before keys were checked. */
export const unsendableKey: ReferenceProblem = {
  code: 'model_key_invalid',
  message:
    'the key contains a line break or another character that no header can carry: enter it again under Model keys',
};

const failed = ({ code, message }: ReferenceProblem, retryable = false): ModelRefused => ({
  kind: 'failed',
  code,
  message,
  retryable,
});

/** Returns the key and the address that were stored together, or why it has none: a new key must not go to the former address. */
async function loadKey(
  services: ModelServices,
  { tenantId, projectId }: KeyScope,
  connectionId: string,
): Promise<{ apiKey: string; baseUrl: string | undefined; fetch: typeof globalThis.fetch } | ModelRefused> {
  try {
    const loaded = await loadCredentials(services, { tenantId, projectId, connectionId }, addressOfKey);
    const config = KeyConfig.safeParse(loaded?.config);
    const apiKey = loaded?.values.api_key;
    const baseUrl = config.data?.base_url;
    const reachable = config.success && (baseUrl !== undefined || loaded?.provider !== 'openai_compatible');
    if (apiKey !== undefined && !isHeaderValue(apiKey)) return failed(unsendableKey);
    if (loaded !== null && apiKey !== undefined && reachable) return { apiKey, baseUrl, fetch: loaded.fetch };
    const message = 'the connection of this model has no usable key: replace it under Settings, Model keys';
    return failed({ code: 'model_key_missing', message });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return failed(error, error.status >= 500);
  }
}

/** Returns the required form of an answer: a schema, and a check that describes what is wrong with a value. */
export function objectOf(schema: JsonMap): { schema: JsonMap; problem(value: Json): string } {
  return {
    schema,
    problem(value: Json) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no object';
      const [first] = validateForm(schema, value);
      return first === undefined ? '' : `${first.path.replace(/^result\b/, 'object')}: ${first.message}`.slice(0, 300);
    },
  };
}
