import type { Services } from '../../contract/services.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { validateForm } from '../../orchestrator/steps/form.ts';
import type { ModelAnswer, ModelCall, ModelCaller } from '../../orchestrator/steps/model-caller.ts';
import { AppError } from '../../platform/errors.ts';
import type { Json } from '../../platform/json.ts';
import { askModel, type ModelQuestion, type ModelReply } from '../../platform/models/ask-model.ts';
import { isModelProvider, providerFacts } from '../../platform/models/providers.ts';
import { inSecretScope } from '../../platform/secrets/in-use.ts';
import { createRedactor, type Redactor } from '../../platform/secrets/redaction.ts';
import { loadCredentials } from '../connections/credentials.ts';
import { NO_SECRET } from '../connections/document.ts';
import { isHeaderValue } from '../connections/schemas.ts';
import { parseReference, type ReferenceProblem } from './reference.ts';
import { KeyConfig } from './schemas.ts';
import { type KeyScope, listKeyRows, selectKey, type UsableKey, usableKeys } from './select-key.ts';
import { StreamedLines } from './streamed-lines.ts';

export type ModelServices = Pick<Services, 'pool' | 'prisma' | 'secrets' | 'clock' | 'egress' | 'config'>;
type On = { signal: AbortSignal; log: (lines: string[]) => void };

/** The caller of models for `llm_call` steps; it uses only keys of the tenant's own connections. */
export function createModelCaller(services: ModelServices): ModelCaller {
  const keysOf = sharedReading(async scope => usableKeys(await listKeyRows(services, scope)));
  return {
    async check(scope, { model }) {
      const reference = parseReference(model);
      const found = 'code' in reference ? reference : selectKey(await keysOf(scope), reference);
      return 'code' in found ? [{ path: 'model', ...found }] : [];
    },
    call: (call, on) =>
      inSecretScope(async () => {
        const question = await prepare(services, keysOf, call);
        return 'kind' in question ? question : await ask(services, question, on);
      }),
  };
}

/** A graph's steps are checked at once and ask for the same: one reading serves all that come while it is on its way. */
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

type Prepared = { question: ModelQuestion; redactor: Redactor; fetch: typeof globalThis.fetch };
type Failed = Extract<ModelAnswer, { kind: 'failed' }>;

/** Where a key is sent: the base URL that was stored with it, else the provider's own; '' where there is neither. */
export function addressOfKey({ provider, config }: { provider: string; config: JsonMap }): string {
  const baseUrl = KeyConfig.safeParse(config).data?.base_url;
  return baseUrl ?? (isModelProvider(provider) ? providerFacts[provider].baseUrl : null) ?? '';
}

/** A key from before keys were checked when they are stored. */
export const unsendableKey: ReferenceProblem = {
  code: 'model_key_invalid',
  message:
    'the key contains a line break or another character that no header can carry: enter it again under Model keys',
};

const failed = ({ code, message }: ReferenceProblem, retryable = false): Failed => ({
  kind: 'failed',
  code,
  message,
  retryable,
});

async function prepare(
  services: ModelServices,
  keysOf: (scope: KeyScope) => Promise<UsableKey[]>,
  call: ModelCall,
): Promise<Prepared | Failed> {
  const reference = parseReference(call.model);
  if ('code' in reference) return failed(reference);
  const key = selectKey(await keysOf(call), reference);
  if ('code' in key) return failed(key);
  const loaded = await loadKey(services, call, key.id);
  if ('kind' in loaded) return loaded;
  const { apiKey, baseUrl, fetch } = loaded;
  const { prompt, system, temperature, maxTokens, responseSchema, idempotencyKey, traceparent } = call;
  return {
    fetch,
    redactor: createRedactor(apiKey === NO_SECRET ? [] : [apiKey]),
    question: {
      ...reference,
      apiKey: apiKey === NO_SECRET ? undefined : apiKey,
      baseUrl,
      prompt,
      system,
      temperature,
      maxTokens,
      object: responseSchema && objectOf(responseSchema),
      headers: { 'Idempotency-Key': idempotencyKey, ...(traceparent === undefined ? {} : { traceparent }) },
    },
  };
}

/** Key and address of one and the same writing, or why there are none: a new key must not go to the address before it. */
async function loadKey(
  services: ModelServices,
  { tenantId, projectId }: KeyScope,
  connectionId: string,
): Promise<{ apiKey: string; baseUrl: string | undefined; fetch: typeof globalThis.fetch } | Failed> {
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

function objectOf(schema: JsonMap): ModelQuestion['object'] {
  return {
    schema,
    problem(value: Json) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is no object';
      const [first] = validateForm(schema, value);
      return first === undefined ? '' : `${first.path.replace(/^result\b/, 'object')}: ${first.message}`.slice(0, 300);
    },
  };
}

async function ask(
  { clock }: Pick<ModelServices, 'clock'>,
  { question, redactor, fetch }: Prepared,
  on: On,
): Promise<ModelAnswer> {
  const tell = (lines: string[]) => on.log(lines.map(redactor.text));
  const lines = new StreamedLines(() => clock.now(), tell);
  const onText = (piece: string) => lines.add(piece);
  const reply = await askModel(question, { fetch, clock, signal: on.signal, onText });
  const log = [...lines.rest(), ...remarks(reply)].map(redactor.text);
  return { ...answerOf(reply, question, redactor), ...(log.length > 0 ? { log } : {}) };
}

function remarks(reply: ModelReply): string[] {
  if (reply.kind === 'failed') return [];
  return [
    ...reply.warnings.map(warning => `Warning: ${warning}`),
    ...(reply.cut ? ['Warning: the answer was cut at the limit of tokens'] : []),
    ...(reply.usage === undefined ? ['Warning: the provider did not tell how many tokens it used'] : []),
  ];
}

function answerOf(reply: ModelReply, question: ModelQuestion, redactor: Redactor): ModelAnswer {
  if (reply.kind === 'failed') return { ...reply, message: redactor.text(reply.message) };
  return {
    kind: 'answer',
    text: redactor.text(reply.text),
    ...(reply.object === undefined ? {} : { object: redactor.json(reply.object) }),
    model: `${question.provider}/${reply.model}`,
    finishReason: reply.cut ? 'length' : 'stop',
    usage: reply.usage ?? { inputTokens: 0, outputTokens: 0 },
  };
}
