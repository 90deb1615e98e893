import type { Clock } from '../clock.ts';
import type { Json, JsonObject } from '../json.ts';
import { boundedFetch, ModelAnswerTooLarge } from './bounded-fetch.ts';
import { type ModelFailure, modelFailure } from './failure.ts';
import { createLanguageModel, type LanguageModel } from './language-model.ts';
import { type ModelAccess, type ModelProvider, providerFacts } from './providers.ts';
import { isStrictSchema, parseObject, schemaInstruction } from './structured-output.ts';

/** The limit for the text of an answer, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 1024 * 1024;

export type ModelQuestion = ModelAccess & {
  /** The provider's own name of the model. */
  model: string;
  prompt: string;
  system?: string | undefined;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /**
   * The required form of the answer: a JSON Schema for the provider, and a check that returns what is wrong with a
   * value ('' for nothing).
   */
  object?: { schema: JsonObject; problem(value: Json): string } | undefined;
  /** Sent with the request: an idempotency key, a trace context. */
  headers?: Readonly<Record<string, string>> | undefined;
};

export type ModelSurroundings = {
  fetch: typeof globalThis.fetch;
  clock: Clock;
  signal: AbortSignal;
  /** Called with each piece of text as it comes. */
  onText?(piece: string): void;
};

/** The tokens that the provider counted. */
export type ModelUsage = { inputTokens: number; outputTokens: number };

export type ModelReply =
  | {
      kind: 'answer';
      text: string;
      object?: Json;
      /** The provider's name of the model that answered. */
      model: string;
      /** Absent where the provider said nothing about it. */
      usage?: ModelUsage;
      /** Whether it ended at the limit of tokens. */
      cut: boolean;
      /** Names the settings that the model does not support. */
      warnings: string[];
    }
  | (ModelFailure & { usage?: ModelUsage });

type CallOptions = Parameters<LanguageModel['doStream']>[0];
type Part = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;
type Finish = Extract<Part, { type: 'finish' }>;
type Warning = Extract<Part, { type: 'stream-start' }>['warnings'][number];

type Received = {
  text: string;
  bytes: number;
  model: string;
  usage: ModelUsage | undefined;
  /** Null until the provider has said why it ended. */
  finish: Finish['finishReason']['unified'] | null;
  warnings: string[];
};

/**
 * Asks a model one question and reads its answer as it arrives. Never retries: the engine does (`retry_count`).
 * Resolves with a failure for anything that the provider, the network or the answer can cause; rejects only for
 * defects.
 */
export async function askModel(question: ModelQuestion, on: ModelSurroundings): Promise<ModelReply> {
  const received: Received = {
    text: '',
    bytes: 0,
    model: question.model,
    usage: undefined,
    finish: null,
    warnings: [],
  };
  try {
    await receive(question, on, received);
  } catch (error) {
    const failure = on.signal.aborted
      ? cancelled
      : modelFailure(error, { provider: question.provider, now: on.clock.now() });
    if (failure === undefined) throw error;
    return withUsage(failure, received);
  }
  return on.signal.aborted ? withUsage(cancelled, received) : judge(question, received);
}

const cancelled: ModelFailure = {
  kind: 'failed',
  code: 'cancelled',
  message: 'The call was cancelled.',
  retryable: false,
};

function withUsage(failure: ModelFailure, { usage }: Received): ModelReply {
  return usage === undefined ? failure : { ...failure, usage };
}

async function receive(question: ModelQuestion, on: ModelSurroundings, received: Received): Promise<void> {
  const model = await createLanguageModel({ ...question, fetch: boundedFetch(on.fetch) });
  const { stream } = await model.doStream(callOptions(question, on.signal));
  // Leaving the loop early (too large an answer, a broken one) cancels the stream, and with it the request.
  for await (const part of stream) {
    switch (part.type) {
      case 'text-delta':
        take(part.delta, received);
        on.onText?.(part.delta);
        break;
      case 'stream-start':
        received.warnings = part.warnings.map(warningText);
        break;
      case 'response-metadata':
        received.model = part.modelId || question.model;
        break;
      case 'finish':
        received.usage = usageOf(part.usage);
        received.finish = part.finishReason.unified;
        break;
      case 'error':
        throw part.error;
      default:
      // Reasoning, sources and the like are not asked for.
    }
  }
}

function callOptions(question: ModelQuestion, abortSignal: AbortSignal): CallOptions {
  const { provider, prompt, temperature, maxTokens, object } = question;
  const system = instructionsOf(question);
  return {
    prompt: [
      ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user', content: [{ type: 'text', text: prompt }] },
    ],
    temperature,
    maxOutputTokens: maxTokens,
    ...(object === undefined ? {} : { responseFormat: { type: 'json', name: 'response', schema: object.schema } }),
    headers: { ...question.headers },
    providerOptions: optionsOf(provider, object?.schema),
    abortSignal,
  };
}

function take(piece: string, received: Received): void {
  received.bytes += Buffer.byteLength(piece);
  if (received.bytes > MAX_TEXT_BYTES) throw new ModelAnswerTooLarge('it exceeds 1 MiB of text');
  received.text += piece;
}

function instructionsOf({ provider, system, object }: ModelQuestion): string | undefined {
  if (object === undefined || provider !== 'openai_compatible') return system;
  return schemaInstruction(system, object.schema);
}

function optionsOf(provider: ModelProvider, schema: JsonObject | undefined): Record<string, JsonObject> {
  const strictJsonSchema = schema !== undefined && isStrictSchema(schema);
  switch (provider) {
    case 'openai':
      // Otherwise OpenAI keeps question and answer for 30 days.
      return { openai: { store: false, strictJsonSchema } };
    case 'mistral':
      return { mistral: { strictJsonSchema } };
    case 'openai_compatible':
      return { openaiCompatible: { strictJsonSchema } };
    case 'anthropic':
    case 'google':
      return {};
  }
}

function usageOf({ inputTokens, outputTokens }: Finish['usage']): ModelUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return { inputTokens: count(inputTokens.total), outputTokens: count(outputTokens.total) };
}

/** Somebody else's number: it is paid by, so it has to be a count. */
function count(tokens: number | undefined): number {
  return Number.isSafeInteger(tokens) ? Math.max(0, tokens ?? 0) : 0;
}

function warningText(warning: Warning): string {
  switch (warning.type) {
    case 'unsupported':
    case 'compatibility':
      return (warning.details ?? `${warning.feature} is not supported by this model`).slice(0, 300);
    default:
      return warning.message.slice(0, 300);
  }
}

/** Evaluates a complete answer. */
function judge(question: ModelQuestion, received: Received): ModelReply {
  const { text, model, usage, finish, warnings } = received;
  const server = providerFacts[question.provider].name;
  const fail = (code: string, message: string, retryable: boolean) =>
    withUsage({ kind: 'failed', code, message, retryable }, received);
  if (finish === 'content-filter') {
    return fail('model_content_filtered', `${server} refused to answer: its content filter stepped in.`, false);
  }
  if (finish === null || finish === 'error' || finish === 'interrupted') {
    return fail('model_unavailable', `${server} broke off before the answer was complete.`, true);
  }
  const cut = finish === 'length';
  const answer = { kind: 'answer' as const, text, model, cut, warnings, ...(usage === undefined ? {} : { usage }) };
  if (question.object === undefined) return answer;
  if (cut) {
    // The same limit cuts the next answer as well.
    return fail(
      'model_output_truncated',
      'The answer reached the limit of tokens before its JSON was complete: raise max_tokens.',
      false,
    );
  }
  const parsed = parseObject(text);
  const problem = parsed === undefined ? 'it is not JSON' : question.object.problem(parsed.value);
  // Models draw at random: the next answer may fit.
  if (parsed === undefined || problem !== '') {
    return fail('response_schema_mismatch', `The answer does not fit response_schema: ${problem}.`, true);
  }
  return { ...answer, object: parsed.value };
}
