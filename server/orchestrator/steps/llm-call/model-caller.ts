import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';

/** A question to a language model, as an `llm_call` step asks it. */
export type ModelCall = {
  tenantId: string;
  projectId: string;
  /** `provider/model`. */
  model: string;
  /** Rendered already, as is `system`. */
  prompt: string;
  system?: string | undefined;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /** JSON Schema that the answer must fulfil. */
  responseSchema?: JsonMap | undefined;
  /** `<run_id>:<step_id>`, sent as a header (docs/specification/steps.md#idempotency-key). */
  idempotencyKey: string;
  traceparent?: string | undefined;
};

/** `estimated`: the provider told nothing, so that characters were counted. */
export type TokenUsage = { inputTokens: number; outputTokens: number; estimated?: true };

/**
 * The outcome of a call; `usage` is what the provider counted, even if the answer was unusable. `log` contains lines
 * for which separate events would cost too much.
 */
export type ModelAnswer = { log?: string[] } & (
  | {
      kind: 'answer';
      text: string;
      object?: JsonValue;
      /** The thoughts that the model wrote before the JSON of its answer. */
      reasoning?: string;
      /** `provider/model` as the provider names the one that answered. */
      model: string;
      /** `length`: the answer was cut at the limit of tokens. */
      finishReason: 'stop' | 'length';
      usage: TokenUsage;
    }
  | {
      kind: 'failed';
      code: string;
      message: string;
      retryable: boolean;
      retryAfterMs?: number;
      usage?: TokenUsage;
    }
);

/** The port of `llm_call`; the domain of models implements it. */
export type ModelCaller = {
  /** Returns the problems of a step that names this model: an unknown provider or model, or one without a key here. */
  check(scope: CheckScope, call: { model: string }): Promise<StepProblem[]>;
  /**
   * Asks once, streaming text into `log` in lines few enough to be events each. Resolves soon after `signal` aborts. Keys are redacted
   * from everything it returns and logs.
   */
  call(call: ModelCall, on: { signal: AbortSignal; log: (lines: string[]) => void }): Promise<ModelAnswer>;
};
