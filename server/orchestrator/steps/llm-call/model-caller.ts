import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';

/** A request to a language model, as an `llm_call` step makes it. */
export type ModelCall = {
  tenantId: string;
  projectId: string;
  /** `provider/model`. */
  model: string;
  /** Rendered, like `system`. */
  prompt: string;
  system?: string | undefined;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  /** The JSON Schema that the answer must satisfy. */
  responseSchema?: JsonMap | undefined;
  /** `<run_id>:<step_id>`, sent as a header (docs/specification/steps.md#idempotency-key). */
  idempotencyKey: string;
  traceparent?: string | undefined;
};

/** `estimated`: the provider reported no usage, so the tokens are estimated from characters. */
export type TokenUsage = { inputTokens: number; outputTokens: number; estimated?: true };

/**
 * The outcome of a call. `usage` is the count of the provider, even if the answer was unusable. `log` contains lines
 * for which separate events would cost too much.
 */
export type ModelAnswer = { log?: string[] } & (
  | {
      kind: 'answer';
      text: string;
      object?: JsonValue;
      /** The reasoning that the model wrote before the JSON of its answer. */
      reasoning?: string;
      /** `provider/model`: the model that answered, as the provider names it. */
      model: string;
      /** `length`: the answer was cut at the token limit. */
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

/** The port of `llm_call`, which the domain of models implements. */
export type ModelCaller = {
  /** Returns the problems of a step that names this model: an unknown provider or model, or one without a key here. */
  check(scope: CheckScope, call: { model: string }): Promise<StepProblem[]>;
  /**
   * Makes one request. Streams text into `log` in lines, few enough for one event each. Resolves soon after `signal`
   * aborts. Keys are redacted from everything that it returns and logs.
   */
  call(call: ModelCall, on: { signal: AbortSignal; log: (lines: string[]) => void }): Promise<ModelAnswer>;
};
