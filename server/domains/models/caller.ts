import type { JsonMap } from '../../orchestrator/core/index.ts';
import { validateForm } from '../../orchestrator/steps/form.ts';
import type { ModelAnswer, ModelCall, ModelCaller } from '../../orchestrator/steps/model-caller.ts';
import { AppError } from '../../platform/errors.ts';
import type { Json } from '../../platform/json.ts';
import { askModel, type ModelQuestion, type ModelReply } from '../../platform/models/ask-model.ts';
import { createRedactor, type Redactor } from '../../platform/secrets/redaction.ts';
import type { Services } from '../../services.ts';
import { loadCredentials } from '../connections/credentials.ts';
import { parseReference, type ReferenceProblem } from './reference.ts';
import { KeyConfig } from './schemas.ts';
import { listKeyRows, noKey, selectKey, type UsableKey, usableKeys } from './select-key.ts';
import { StreamedLines } from './streamed-lines.ts';

export type ModelServices = Pick<Services, 'pool' | 'secrets' | 'clock' | 'egress' | 'config'>;
type On = { signal: AbortSignal; log: (lines: string[]) => void };

/** What `llm_call` steps ask their models through: keys are those of the tenant's own connections, never any other. */
export function createModelCaller(services: ModelServices): ModelCaller {
  const keysOf = sharedReading(async tenantId => usableKeys(await listKeyRows(services.pool, tenantId)));
  return {
    async check({ tenantId }, { model }) {
      const reference = parseReference(model);
      const found = 'code' in reference ? reference : selectKey(await keysOf(tenantId), reference);
      return 'code' in found ? [{ path: 'model', ...found }] : [];
    },
    async call(call, on) {
      const question = await prepare(services, keysOf, call);
      return 'kind' in question ? question : ask(services, question, on);
    },
  };
}

/** A graph's steps are checked at once and ask for the same: one reading serves all that come while it is on its way. */
function sharedReading<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return key => {
    const known = underWay.get(key);
    if (known) return known;
    const reading = read(key).finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };
}

type Prepared = { question: ModelQuestion; redactor: Redactor };
type Failed = Extract<ModelAnswer, { kind: 'failed' }>;

const failed = ({ code, message }: ReferenceProblem, retryable = false): Failed => ({
  kind: 'failed',
  code,
  message,
  retryable,
});

async function prepare(
  services: ModelServices,
  keysOf: (tenantId: string) => Promise<UsableKey[]>,
  call: ModelCall,
): Promise<Prepared | Failed> {
  const reference = parseReference(call.model);
  if ('code' in reference) return failed(reference);
  const key = selectKey(await keysOf(call.tenantId), reference);
  if ('code' in key) return failed(key);
  const loaded = await loadKey(services, call.tenantId, key.id);
  if ('kind' in loaded) return loaded;
  const { apiKey, baseUrl } = loaded;
  const { prompt, system, temperature, maxTokens, responseSchema, idempotencyKey, traceparent } = call;
  return {
    redactor: createRedactor(apiKey === noKey ? [] : [apiKey]),
    question: {
      ...reference,
      apiKey: apiKey === noKey ? undefined : apiKey,
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
  tenantId: string,
  connectionId: string,
): Promise<{ apiKey: string; baseUrl: string | undefined } | Failed> {
  try {
    const loaded = await loadCredentials(services, { tenantId, connectionId });
    const config = KeyConfig.safeParse(loaded?.config);
    const apiKey = loaded?.values.api_key;
    const baseUrl = config.data?.base_url;
    const reachable = config.success && (baseUrl !== undefined || loaded?.provider !== 'openai_compatible');
    if (apiKey !== undefined && reachable) return { apiKey, baseUrl };
    const message = 'the connection of this model holds no key that can be used: replace it under Settings, Model keys';
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

async function ask(services: ModelServices, { question, redactor }: Prepared, on: On): Promise<ModelAnswer> {
  const { clock, egress } = services;
  const tell = (lines: string[]) => on.log(lines.map(redactor.text));
  const lines = new StreamedLines(() => clock.now(), tell);
  const onText = (piece: string) => lines.add(piece);
  const reply = await askModel(question, { fetch: egress.fetch, clock, signal: on.signal, onText });
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
