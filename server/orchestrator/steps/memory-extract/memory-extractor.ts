import type { JsonMap } from '../../core/index.ts';
import type { Attempt, CheckScope, StepProblem } from '../../ports/step-type.ts';
import type { TokenUsage } from '../llm-call/model-caller.ts';

/** A part of an episode from which items are to be extracted. */
export type ExtractionCall = {
  run: Attempt['run'];
  /** The number of the part in its job. */
  part: number;
  /** `provider/model`. */
  model: string;
  /** `<run_id>:<step_id>`. */
  idempotencyKey: string;
  traceparent?: string | undefined;
};

/** `usage` is the total of all model calls of the attempt, whether or not it finished. */
export type ExtractionAnswer = { usage?: TokenUsage } & (
  | { kind: 'extracted'; result: JsonMap }
  | { kind: 'failed'; code: string; message: string; retryable: boolean; retryAfterMs?: number }
);

/** The port of `memory_extract`, which the domain of memory implements. */
export type MemoryExtractor = {
  /** Returns the problems of a model that cannot be used in this project. */
  check(scope: CheckScope, call: { model: string }): Promise<StepProblem[]>;
  /** Proposes items from a part of an episode. A part that was processed before gets the same answer again. */
  extract(call: ExtractionCall, on: { signal: AbortSignal; log: (lines: string[]) => void }): Promise<ExtractionAnswer>;
};
