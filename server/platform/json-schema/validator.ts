import type { JsonObject } from '../json.ts';
import { Evaluation, TooMuchWork } from './evaluation.ts';
import { References } from './references.ts';
import type { CompilePattern, EvaluationSettings } from './settings.ts';
import type { Value } from './value.ts';
import type { Finding } from './words.ts';

export type ValidatorOptions = {
  /** Compiles a pattern, or returns undefined for one that cannot be used: it then refuses nothing. */
  patterns: CompilePattern;
  /** Whether the formats that are known are enforced; otherwise all are annotations. */
  formats: boolean;
  /** The maximum length of a list for which `uniqueItems` is checked, because every pair is compared. */
  maxUniqueItems?: number;
};

/**
 * Checks values against a JSON Schema: draft 2020-12, with what older drafts and OpenAPI 3.0 write differently. All JSON Schema
 * checks of Baton go through this class. Bigints are integers with all their digits. `$ref` stays within the schema, and nothing
 * is ever fetched.
 */
export class SchemaValidator {
  readonly #schema: JsonObject;
  readonly #settings: EvaluationSettings;

  constructor(schema: JsonObject, { patterns, formats, maxUniqueItems }: ValidatorOptions) {
    const { $schema } = schema;
    const compiled = new Map<string, ReturnType<CompilePattern>>();
    this.#schema = schema;
    this.#settings = {
      references: new References(schema),
      formats,
      maxUniqueItems,
      // Up to draft 7 a `$ref` replaced all keywords next to it.
      siblings: !(typeof $schema === 'string' && /draft-0[3-7]/.test($schema)),
      patterns(source) {
        if (!compiled.has(source)) compiled.set(source, patterns(source));
        return compiled.get(source);
      },
    };
  }

  /**
   * Returns at most 50 findings about a value; undefined if the check takes more than `budget` units of about 100 ns. A part of
   * the schema that cannot be judged refuses nothing.
   */
  check(value: Value, budget: number): Finding[] | undefined {
    const findings: Finding[] = [];
    try {
      const verdict = new Evaluation(this.#settings, budget).judge(this.#schema, value, findings);
      return verdict === 'invalid' ? findings : [];
    } catch (error) {
      if (error instanceof TooMuchWork) return undefined;
      throw error;
    }
  }
}
