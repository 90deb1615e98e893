import type { GraphStep, JsonValue } from '../core/index.ts';
import { MAX_PATTERN_CHARACTERS, patternSize } from '../languages/pattern.ts';

/**
 * The number of instructions to which all patterns of a graph together may compile. Checking a graph compiles each
 * pattern, at ~1 µs per instruction: without a limit, 2,000 forms with the largest patterns took 6 s.
 */
export const MAX_GRAPH_PATTERNS_SIZE = 500_000;

/** The fields of steps that contain a JSON Schema. */
const SCHEMA_FIELDS = ['form', 'response_schema'] as const;

/** Counts the patterns of a graph while its steps are checked. */
export class PatternBudget {
  #left = MAX_GRAPH_PATTERNS_SIZE;

  /**
   * Adds the patterns of a step. Returns the field whose patterns exceed the rest of the
   * budget; null if all of them fit.
   */
  take(step: GraphStep): string | null {
    for (const field of SCHEMA_FIELDS) if (!this.takeSchema(step[field])) return field;
    return null;
  }

  /** Adds the patterns of a schema. Returns whether they fit. */
  takeSchema(schema: JsonValue | undefined): boolean {
    const size = patternsSize(schema);
    this.#left -= size;
    return size === 0 || this.#left >= 0;
  }
}

/** Not recursive: the value is not known to be a schema yet, and may be nested deeper than the stack. */
function patternsSize(schema: JsonValue | undefined): number {
  let size = 0;
  const pending: (JsonValue | undefined)[] = [schema];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const [keyword, inner] of Object.entries(value)) {
      // Longer patterns are refused without being compiled.
      if (keyword !== 'pattern' || typeof inner !== 'string') pending.push(inner);
      else if (inner.length <= MAX_PATTERN_CHARACTERS) size += patternSize(inner);
    }
  }
  return size;
}
