import { parseDocument } from 'yaml';

/** A JSON value, or why there is none. */
export type YamlRead = { ok: true; value: unknown } | { ok: false; message: string };

/**
 * Parses untrusted YAML: no aliases (an entity bomb needs them), no tags, no merge keys, and keys are not compared
 * pairwise (the library's check is quadratic).
 */
export function readYaml(text: string): YamlRead {
  try {
    const parsed = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false,
      // At `silent` the library drops all documents but the first without a word.
      logLevel: 'error',
    });
    const [problem] = [...parsed.errors, ...parsed.warnings];
    if (problem !== undefined) return { ok: false, message: problem.message.split('\n')[0] ?? 'malformed' };
    return { ok: true, value: parsed.toJS({ maxAliasCount: 0 }) as unknown };
  } catch (error) {
    // Deep nesting ends the library's recursion with a RangeError, an alias with a ReferenceError.
    if (error instanceof RangeError) return { ok: false, message: 'is nested too deeply' };
    if (error instanceof ReferenceError) return { ok: false, message: 'aliases are not accepted' };
    throw error;
  }
}
