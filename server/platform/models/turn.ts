import type { Json, JsonObject } from '../json.ts';
import type { Redactor } from '../secrets/redaction.ts';
import type { ModelFailure } from './failure.ts';
import type { ContentPart, TurnMessage } from './messages.ts';
import type { ModelAccess } from './providers.ts';
import {
  type CallOptions,
  nothingReceived,
  type Received,
  readStream,
  type StreamSurroundings,
  type TokenCounts,
} from './read-stream.ts';
import { parseAnswer, type StructuredAnswer, structuredOptions } from './structured-output.ts';
import { type AdaptedTools, adaptTools } from './tool-schema.ts';
import { TurnContentReader, type TurnPiece } from './turn-content.ts';
import { promptOf } from './turn-prompt.ts';

export type TurnQuestion = ModelAccess & {
  /** The provider's own name of the model. */
  model: string;
  messages: readonly TurnMessage[];
  tools: readonly { name: string; description?: string | undefined; inputSchema: JsonObject }[];
  toolChoice: 'auto' | 'none';
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /** The required form of a text: a JSON Schema, and a check that describes the problem of a value ('' for none). */
  object?: { schema: JsonObject; problem(value: Json): string } | undefined;
  /** Sent with the request: an idempotency key, a trace context. */
  headers?: Readonly<Record<string, string>> | undefined;
};

/** `written`: the characters of the answer that have arrived. */
export type TurnReply = { written: number } & (
  | {
      kind: 'answer';
      content: ContentPart[];
      object?: Json;
      /** The provider's name of the model that answered. */
      model: string;
      /** Absent where the provider said nothing about it. */
      usage?: TokenCounts;
      finish: 'stop' | 'length' | 'tool_calls';
      /** Names the settings that the model does not support. */
      warnings: string[];
    }
  | (ModelFailure & { usage?: TokenCounts })
);

/**
 * Asks a model for its next turn in a conversation. Never retries: the engine does. Resolves with a failure for anything that the
 * provider, the network or the answer can cause; rejects only for defects. Content, pieces and messages are redacted.
 */
export async function askTurn(
  question: TurnQuestion,
  on: StreamSurroundings & { redactor: Redactor; onPiece(piece: TurnPiece): void },
): Promise<TurnReply> {
  const received = nothingReceived(question.model);
  const reader = new TurnContentReader(on.redactor, on.onPiece);
  const adapted = adaptTools(question.provider, question.tools);
  const failure = await readStream(question, callOptions(question, adapted), {
    ...on,
    received,
    take: part => reader.take(part),
  });
  // The shown text is kept: an answer that is too long ends at the limit.
  if (reader.isCut) received.finish = 'length';
  else if (failure !== undefined) return failed(failure, received, reader, on.redactor);
  const judged = judge(question, adapted.restore(reader.content()), received);
  if (judged.kind === 'failed') return failed(judged, received, reader, on.redactor);
  return { ...judged, written: reader.written };
}

function failed(
  { tooLong, ...failure }: ModelFailure,
  { usage }: Received,
  { written }: TurnContentReader,
  redactor: Redactor,
): TurnReply {
  return {
    ...failure,
    written,
    message: redactor.text(failure.message),
    ...(usage === undefined ? {} : { usage }),
    // The conversation would be as long at the next attempt.
    ...(tooLong ? { code: 'context_length_exceeded', retryable: false } : {}),
  };
}

function callOptions(question: TurnQuestion, { tools }: AdaptedTools): CallOptions {
  const { provider, messages, toolChoice, temperature, maxTokens, object } = question;
  // Only OpenAI is known to take a form and tools together on all its models; for the others the instructions describe the form.
  const inWords = tools.length > 0 && toolChoice === 'auto' && provider !== 'openai';
  const schemaInWords = inWords || provider === 'openai_compatible' ? object?.schema : undefined;
  return {
    prompt: promptOf(messages, { provider, schema: schemaInWords, cached: tools.length > 0 }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(tool => ({ type: 'function' as const, ...tool })),
          toolChoice: { type: toolChoice },
        }),
    temperature,
    maxOutputTokens: maxTokens,
    ...structuredOptions(provider, inWords ? undefined : object?.schema),
    headers: { ...question.headers },
  };
}

type Judged = Omit<Extract<TurnReply, { kind: 'answer' }>, 'written'> | ModelFailure;

/** Evaluates a complete answer. */
function judge(question: TurnQuestion, content: ContentPart[], received: Received): Judged {
  const { model, usage, warnings } = received;
  const calls = content.some(({ type }) => type === 'tool_call');
  const cut = received.finish === 'length';
  // Some servers say `stop` though they call tools, and the other way round.
  const finish = cut ? 'length' : calls ? 'tool_calls' : 'stop';
  const answer: Judged = { kind: 'answer', content, model, finish, warnings, ...(usage ? { usage } : {}) };
  if (question.object === undefined || calls) return answer;
  const text = content.flatMap(part => (part.type === 'text' ? part.text : [])).join('');
  const parsed = parseAnswer(text, { cut, problem: question.object.problem });
  if ('kind' in parsed) return parsed;
  return { ...answer, content: withoutThoughts(content, parsed), object: parsed.value };
}

/** Moves the thoughts that a model wrote before its JSON to a separate part. */
function withoutThoughts(content: ContentPart[], { text, reasoning }: StructuredAnswer): ContentPart[] {
  if (reasoning === '') return content;
  const first = content.findIndex(({ type }) => type === 'text');
  return content.flatMap((part, index): ContentPart[] => {
    if (part.type !== 'text') return [part];
    return index === first
      ? [
          { type: 'reasoning', text: reasoning },
          { ...part, text },
        ]
      : [];
  });
}
