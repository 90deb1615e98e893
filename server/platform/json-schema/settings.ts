import type { References } from './references.ts';

/** Compiles a pattern; undefined for one that cannot be used. `cost` is that of matching one character. */
export type CompilePattern = (source: string) => { test(text: string): boolean; cost: number } | undefined;

/** The rules by which values are judged. */
export type EvaluationSettings = {
  references: References;
  patterns: CompilePattern;
  /** Whether formats are enforced. */
  formats: boolean;
  /** Whether the keywords next to a `$ref` count. */
  siblings: boolean;
  maxUniqueItems?: number | undefined;
};
