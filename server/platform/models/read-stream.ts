import type { Clock } from '../clock.ts';
import type { Json } from '../json.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { type ModelFailure, modelFailure } from './failure.ts';
import { createLanguageModel, type LanguageModel } from './language-model.ts';
import { type ModelAccess, providerFacts } from './providers.ts';
import { type Ending, refusalOf } from './refusal.ts';

/** The maximum length of an answer of a model, in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 1024 * 1024;

/** Characters of an answer that may turn out to be the reason why there is none. */
const MAX_SAID_LENGTH = 1_000;

/** The environment of a request to a model. */
export type StreamSurroundings = { fetch: typeof globalThis.fetch; clock: Clock; signal: AbortSignal };

export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type StreamPart =
  Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;
type Finish = Extract<StreamPart, { type: 'finish' }>;
type Warning = Extract<StreamPart, { type: 'stream-start' }>['warnings'][number];

/** The facts about an answer, besides its content. */
export type Received = {
  /** The provider's name of the model that answered. */
  model: string;
  /** Absent where the provider said nothing about it. */
  usage: TokenCounts | undefined;
  /** Null until the provider has said why it ended. */
  finish: Finish['finishReason']['unified'] | null;
  /** The provider's own reason and details for it. */
  ending: Ending | undefined;
  /** The beginning of its text. */
  said: string;
  /** Names the settings that the model does not support. */
  warnings: string[];
};

/** The tokens that the provider counted; `input` and `output` include the others. */
export type TokenCounts = { input: number; output: number; cachedInput: number; reasoning: number };

/**
 * Asks a model once and hands the parts of its answer to `take` as they arrive. Returns the failure for anything that the
 * provider, the network or a part can cause, undefined for a complete stream; rejects only for defects. An error that `take`
 * throws is classified like an error of the stream, and ends the request.
 */
export async function readStream(
  access: ModelAccess & { model: string },
  options: Omit<CallOptions, 'abortSignal'>,
  on: StreamSurroundings & { received: Received; take: (part: StreamPart) => void },
): Promise<ModelFailure | undefined> {
  try {
    await receive(access, options, on);
  } catch (error) {
    const failure = on.signal.aborted
      ? cancelled
      : modelFailure(error, { provider: access.provider, now: on.clock.now() });
    if (failure === undefined) throw error;
    return failure;
  }
  return on.signal.aborted ? cancelled : incomplete(access, on.received);
}

/** Returns the initial facts, before any part of the answer has arrived. */
export const nothingReceived = (model: string): Received => ({
  model,
  usage: undefined,
  finish: null,
  ending: undefined,
  said: '',
  warnings: [],
});

const cancelled: ModelFailure = {
  kind: 'failed',
  code: 'cancelled',
  message: 'The call was cancelled.',
  retryable: false,
};

async function receive(
  access: ModelAccess & { model: string },
  options: Omit<CallOptions, 'abortSignal'>,
  { fetch, signal, received, take }: StreamSurroundings & { received: Received; take: (part: StreamPart) => void },
): Promise<void> {
  const model = await createLanguageModel({ ...access, fetch: boundedFetch(fetch, { events: true }) });
  const { stream } = await model.doStream({ ...options, abortSignal: signal });
  // Leaving the loop early (too large an answer, a broken one) cancels the stream, and with it the request.
  for await (const part of stream) {
    switch (part.type) {
      case 'stream-start':
        received.warnings = part.warnings.map(warningText);
        break;
      case 'response-metadata':
        received.model = part.modelId || access.model;
        break;
      case 'finish':
        received.usage = countsOf(part.usage);
        received.finish = part.finishReason.unified;
        received.ending = { ...part.finishReason, metadata: part.providerMetadata as Json | undefined };
        break;
      case 'error':
        throw part.error;
      default:
        if (part.type === 'text-delta' && received.said.length < MAX_SAID_LENGTH) received.said += part.delta;
        take(part);
    }
  }
}

/** Returns why a stream that ended without an error is no answer; undefined if it is one. */
function incomplete({ provider }: ModelAccess, { finish, ending, said }: Received): ModelFailure | undefined {
  const server = providerFacts[provider].name;
  const refusal = ending && refusalOf(provider, ending, said);
  if (refusal !== undefined) return refusal;
  if (finish !== null && finish !== 'error' && finish !== 'interrupted') return undefined;
  const message = `${server} broke off before the answer was complete.`;
  return { kind: 'failed', code: 'model_unavailable', message, retryable: true };
}

function countsOf({ inputTokens, outputTokens }: Finish['usage']): TokenCounts | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return {
    input: count(inputTokens.total),
    output: count(outputTokens.total),
    cachedInput: count(inputTokens.cacheRead),
    reasoning: count(outputTokens.reasoning),
  };
}

/** Returns a valid token count: the number comes from the provider and is charged for. */
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
