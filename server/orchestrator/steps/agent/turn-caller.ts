import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';
import type { TokenUsage } from '../llm-call/model-caller.ts';
import type { ContentPart, TurnMessage } from './turn-messages.ts';

/** A tool that a model may call. */
export type TurnTool = {
  /** Unique within the request: `[A-Za-z0-9_-]`, at most 64 characters, which every provider takes. */
  name: string;
  description?: string | undefined;
  /** JSON Schema of an object. */
  inputSchema: JsonMap;
};

/** One turn of a model in a conversation: it answers with text, or calls tools. */
export type TurnRequest = {
  tenantId: string;
  projectId: string;
  /** `provider/model`. */
  model: string;
  messages: readonly TurnMessage[];
  /** Also those of earlier turns, with `toolChoice: 'none'` too: providers refuse calls of tools that they are not told. */
  tools: readonly TurnTool[];
  toolChoice: 'auto' | 'none';
  temperature?: number | undefined;
  /** The most tokens of the answer, reasoning included. */
  maxTokens?: number | undefined;
  /** JSON Schema of an object that a text must fulfil; a turn that calls tools need not. */
  responseSchema?: JsonMap | undefined;
  /** `<run_id>:<step_id>`, sent as a header (docs/specification/steps.md#idempotency-key). */
  idempotencyKey: string;
  traceparent?: string | undefined;
};

/** The counts that the provider told; `inputTokens` and `outputTokens` include the others. */
export type TurnUsage = TokenUsage & { cachedInputTokens?: number; reasoningTokens?: number };

/**
 * A piece of the answer as it arrives. `index` is the place of its part in the `content` of the answer. The pieces of a text,
 * joined, are that part's text; so are those of arguments as the model writes them.
 */
export type TurnPiece =
  | { type: 'text' | 'reasoning'; index: number; text: string }
  | { type: 'tool_call'; index: number; id: string; name: string }
  | { type: 'arguments'; index: number; text: string };

/** The outcome of a turn; `usage` is what the provider counted, even if the answer was unusable. */
export type TurnAnswer =
  | {
      kind: 'answer';
      content: ContentPart[];
      /** The value of the text as JSON, if `responseSchema` was given and no tool is called. */
      object?: JsonValue;
      /** `tool_calls`: `content` has at least one. `length`: cut at the limit of tokens; a call that was cut is `malformed`. */
      finishReason: 'stop' | 'length' | 'tool_calls';
      /** `provider/model` as the provider names the one that answered. */
      model: string;
      usage: TurnUsage;
      /** Notes about the answer for people, such as a setting that the model does not support. */
      warnings: string[];
    }
  | {
      kind: 'failed';
      /** `context_length_exceeded`: the conversation is longer than the model reads. */
      code: string;
      message: string;
      retryable: boolean;
      retryAfterMs?: number;
      usage?: TurnUsage;
    };

/** The port of agents' turns; the domain of models implements it. */
export type TurnCaller = {
  /** Returns the problems of a step that names this model: an unknown provider or model, or one without a key here. */
  check(scope: CheckScope, request: { model: string }): Promise<StepProblem[]>;
  /** Returns the context window of the model in tokens; null if it is unknown. */
  contextWindow(scope: { tenantId: string; projectId: string }, model: string): Promise<number | null>;
  /** Returns how many tokens an answer of the model has at most; null where that is not known. */
  mostOutput?(model: string): number | null;
  /**
   * Asks once. Resolves soon after `signal` aborts; rejects only for defects. Keys are redacted from everything that it
   * returns and hands to `onPart`.
   */
  turn(request: TurnRequest, on: { signal: AbortSignal; onPart?(piece: TurnPiece): void }): Promise<TurnAnswer>;
};
