import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';

/** A call of a tool on an MCP instance, as an `mcp_call` step makes it. */
export type ToolCall = {
  tenantId: string;
  projectId: string;
  instanceId: string;
  toolName: string;
  /** The rendered arguments. */
  args: JsonMap;
  /** `<run_id>:<step_id>`, sent in `_meta` (docs/specification/steps.md#idempotency-key). */
  idempotencyKey: string;
  traceparent?: string | undefined;
};

/**
 * The outcome of a call. `unsent`: the call certainly never reached the tool, so it is not charged. `details`: the JSON
 * that the tool or its server returned about the failure.
 */
export type ToolAnswer =
  | { kind: 'result'; result: JsonValue }
  | {
      kind: 'failed';
      code: string;
      message: string;
      details?: JsonValue;
      retryable: boolean;
      retryAfterMs?: number;
      unsent?: true;
    };

/** The port of `mcp_call`, which the domain of MCP servers implements. */
export type ToolCaller = {
  /** Returns the problems of a step that names this instance and tool. Templates in `args` match any value. */
  check(
    scope: CheckScope,
    call: { instanceId: string; toolName: string; args: JsonMap | undefined },
  ): Promise<StepProblem[]>;
  /**
   * Calls the tool once. After `signal` aborts, notifies the server and resolves soon. Progress notifications become
   * log lines. Values of the connection's credentials are redacted from everything that it returns and logs.
   */
  call(call: ToolCall, on: { signal: AbortSignal; log: (lines: string[]) => void }): Promise<ToolAnswer>;
};
