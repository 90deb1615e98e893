import type { JsonMap } from '../../core/index.ts';
import type { Attempt, CheckScope, StepProblem } from '../../ports/step-type.ts';
import type { TokenUsage } from '../llm-call/model-caller.ts';

/** A part of an episode from which items are to be extracted. */
export type ExtractionCall = {
  run: Attempt['run'];
  /** Its number in the job. */
  part: number;
  /** `provider/model`. */
  model: string;
  /** `<run_id>:<step_id>`. */
  idempotencyKey: string;
  traceparent?: string | undefined;
};

/** `usage` counts all questions of the attempt, whether or not it came to an end. */
export type ExtractionAnswer = { usage?: TokenUsage } & (
  | { kind: 'extracted'; result: JsonMap }
  | { kind: 'failed'; code: string; message: string; retryable: boolean; retryAfterMs?: number }
);

/** The port of `memory_extract`; the domain of memory implements it. */
export type MemoryExtractor = {
  /** Returns the problems of a model that cannot be asked in this project. */
  check(scope: CheckScope, call: { model: string }): Promise<StepProblem[]>;
  /** Proposes what a part of an episode says; a part that was done before answers as it did then. */
  extract(call: ExtractionCall, on: { signal: AbortSignal; log: (lines: string[]) => void }): Promise<ExtractionAnswer>;
};
