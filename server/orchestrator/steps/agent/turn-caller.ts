import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';
import type { TokenUsage } from '../llm-call/model-caller.ts';
import type { ContentPart, TurnMessage } from './turn-messages.ts';

/** A tool that a model may call. */
export type TurnTool = {
  /** A name that is unique in the request: at most 64 characters of `[A-Za-z0-9_-]`, which every provider accepts. */
  name: string;
  description?: string | undefined;
  /** JSON Schema of an object. */
  inputSchema: JsonMap;
};

/** The request for a turn of a model, which answers with text or calls tools. */
export type TurnRequest = {
  tenantId: string;
  projectId: string;
  /** `provider/model`. */
  model: string;
  messages: readonly TurnMessage[];
  /** The tools, including those that only earlier turns called, because providers refuse messages with calls of unknown tools. */
  tools: readonly TurnTool[];
  toolChoice: 'auto' | 'none';
  temperature?: number | undefined;
  /** The maximum number of tokens of the answer, reasoning included. */
  maxTokens?: number | undefined;
  /** JSON Schema of an object for the text. A turn that calls tools need not satisfy it. */
  responseSchema?: JsonMap | undefined;
  /** `<run_id>:<step_id>`, sent as a header (docs/specification/steps.md#idempotency-key). */
  idempotencyKey: string;
  traceparent?: string | undefined;
};

/** The counts of the provider. `inputTokens` and `outputTokens` include the others. */
export type TurnUsage = TokenUsage & { cachedInputTokens?: number; reasoningTokens?: number };

/**
 * A piece of the answer as it arrives. `index`: the index of its part in the `content` of the answer. The joined pieces of a part are its text,
 * or its arguments as the model writes them.
 */
export type TurnPiece =
  | { type: 'text' | 'reasoning'; index: number; text: string }
  | { type: 'tool_call'; index: number; id: string; name: string }
  | { type: 'arguments'; index: number; text: string };

/** The outcome of a turn. `usage` has the counts of the provider, even for an unusable answer. */
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
  /** Returns the maximum number of tokens of an answer of the model; null if unknown. */
  mostOutput?(model: string): number | null;
  /**
   * Sends the request once. Resolves soon after `signal` aborts, and rejects only for defects. Keys are redacted from the
   * answer and its pieces.
   */
  turn(request: TurnRequest, on: { signal: AbortSignal; onPart?(piece: TurnPiece): void }): Promise<TurnAnswer>;
};
