import type { JsonMap, JsonValue, StepError } from '../../core/index.ts';

/** The values that an expression reads. `result` throws for a step that is not an ancestor. */
export type CelScope = {
  input: JsonMap;
  result(step: string): JsonValue;
  /** Returns undefined for a step that did not fail. */
  errorOf?(step: string): StepError | undefined;
  /** Returns the JSON text of a result that has not been parsed yet. */
  resultText?(step: string): string | undefined;
  ancestors(): ReadonlySet<string>;
  /** Null or absent outside loops. */
  readonly item?: { item: JsonValue; index: number } | null | undefined;
};
