import type { Json, JsonObject } from '../json.ts';
import { ModelAnswerTooLarge } from './bounded-fetch.ts';
import type { ModelFailure } from './failure.ts';
import type { ModelAccess } from './providers.ts';
import {
  type CallOptions,
  MAX_TEXT_BYTES,
  nothingReceived,
  type Received,
  readStream,
  type StreamSurroundings,
} from './read-stream.ts';
import { instructionsWith, parseAnswer, structuredOptions } from './structured-output.ts';

export type ModelQuestion = ModelAccess & {
  /** The provider's own name of the model. */
  model: string;
  prompt: string;
  system?: string | undefined;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /**
   * The required form of the answer: a JSON Schema for the provider, and a check that describes the problem of a value ('' for
   * none).
   */
  object?: { schema: JsonObject; problem(value: Json): string } | undefined;
  /** Sent with the request: an idempotency key, a trace context. */
  headers?: Readonly<Record<string, string>> | undefined;
};

export type ModelSurroundings = StreamSurroundings & {
  /** Called with each piece of text as it comes. */
  onText?(piece: string): void;
};

/** The tokens that the provider counted. */
export type ModelUsage = { inputTokens: number; outputTokens: number };

/** `written`: the characters of the answer that have arrived. */
export type ModelReply = { written: number } & (
  | {
      kind: 'answer';
      text: string;
      object?: Json;
      /** The thoughts that the model wrote before the JSON of its answer. */
      reasoning?: string;
      /** The provider's name of the model that answered. */
      model: string;
      /** Absent if the provider did not report it. */
      usage?: ModelUsage;
      /** Whether it ended at the limit of tokens. */
      cut: boolean;
      /** Names the settings that the model does not support. */
      warnings: string[];
    }
  | (ModelFailure & { usage?: ModelUsage })
);

/**
 * Asks a model one question and reads its answer as it arrives. Never retries: the engine does (`retry_count`).
 * Resolves with a failure for anything that the provider, the network or the answer can cause; rejects only for
 * defects.
 */
export async function askModel(question: ModelQuestion, on: ModelSurroundings): Promise<ModelReply> {
  const received = nothingReceived(question.model);
  let text = '';
  let bytes = 0;
  const failure = await readStream(question, callOptions(question), {
    ...on,
    received,
    take(part) {
      // Reasoning, sources and other parts are not requested.
      if (part.type !== 'text-delta') return;
      bytes += Buffer.byteLength(part.delta);
      if (bytes > MAX_TEXT_BYTES) throw new ModelAnswerTooLarge('it exceeds 1 MiB of text');
      text += part.delta;
      on.onText?.(part.delta);
    },
  });
  const reply = failure === undefined ? judge(question, text, received) : withUsage(failure, received);
  return { ...reply, written: text.length };
}

type Judged = Omit<Extract<ModelReply, { kind: 'answer' }>, 'written'> | (ModelFailure & { usage?: ModelUsage });

function withUsage(failure: ModelFailure, received: Received): Judged {
  const usage = usageOf(received);
  return usage === undefined ? failure : { ...failure, usage };
}

function usageOf({ usage }: Received): ModelUsage | undefined {
  return usage && { inputTokens: usage.input, outputTokens: usage.output };
}

function callOptions(question: ModelQuestion): CallOptions {
  const { provider, system, prompt, temperature, maxTokens, object } = question;
  const instructions = instructionsWith(system, provider === 'openai_compatible' ? object?.schema : undefined);
  return {
    prompt: [
      ...(instructions === undefined ? [] : [{ role: 'system' as const, content: instructions }]),
      { role: 'user', content: [{ type: 'text', text: prompt }] },
    ],
    temperature,
    maxOutputTokens: maxTokens,
    ...structuredOptions(provider, object?.schema),
    headers: { ...question.headers },
  };
}

/** Evaluates a complete answer. */
function judge(question: ModelQuestion, text: string, received: Received): Judged {
  const { model, finish, warnings } = received;
  const usage = usageOf(received);
  const cut = finish === 'length';
  const answer = { kind: 'answer' as const, text, model, cut, warnings, ...(usage === undefined ? {} : { usage }) };
  if (question.object === undefined) return answer;
  const parsed = parseAnswer(text, { cut, problem: question.object.problem });
  if ('kind' in parsed) return withUsage(parsed, received);
  const { value, reasoning } = parsed;
  return { ...answer, text: parsed.text, object: value, ...(reasoning === '' ? {} : { reasoning }) };
}
