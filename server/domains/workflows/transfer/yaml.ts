import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/** A JSON value, or the reason why the text has none. */
export type YamlRead = { ok: true; value: unknown } | { ok: false; message: string };

/**
 * Parses untrusted YAML. Refuses aliases (an entity bomb needs them), tags and merge keys. Refuses a repeated key in a
 * map, because one of its values would be lost; the library's own check compares keys pairwise, which is quadratic.
 */
export function readYaml(text: string): YamlRead {
  try {
    const lines = new LineCounter();
    const parsed = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false,
      intAsBigInt: true,
      // With `silent`, the library drops all documents but the first without an error.
      logLevel: 'error',
      lineCounter: lines,
    });
    const [problem] = [...parsed.errors, ...parsed.warnings];
    if (problem !== undefined) return { ok: false, message: problem.message.split('\n')[0] ?? 'malformed' };
    const repeated = repeatedKeyOf(parsed, lines);
    if (repeated !== null) return { ok: false, message: repeated };
    return { ok: true, value: parsed.toJS({ maxAliasCount: 0 }) as unknown };
  } catch (error) {
    // Deep nesting ends the library's recursion with a RangeError, an alias with a ReferenceError.
    if (error instanceof RangeError) return { ok: false, message: 'is nested too deeply' };
    if (error instanceof ReferenceError) return { ok: false, message: 'aliases are not accepted' };
    throw error;
  }
}

const MAX_SHOWN_KEY = 100;

/**
 * Returns a message about the first repeated key in a map; null if there is none. Keys are compared in their JSON form.
 */
function repeatedKeyOf(document: Document.Parsed, lines: LineCounter): string | null {
  let message: string | null = null;
  visit(document, {
    Map(_, { items }) {
      const firstLines = new Map<string, number>();
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value ?? '') : String(key);
        const { line } = lines.linePos(startOf(key));
        const first = firstLines.get(name);
        if (first === undefined) {
          firstLines.set(name, line);
          continue;
        }
        const shown = JSON.stringify(name.length > MAX_SHOWN_KEY ? `${name.slice(0, MAX_SHOWN_KEY)}…` : name);
        message = `the key ${shown} is given twice, on line ${first} and on line ${line}`;
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return message;
}

function startOf(key: unknown): number {
  const range = typeof key === 'object' && key !== null && 'range' in key ? key.range : null;
  return Array.isArray(range) ? Number(range[0]) : 0;
}
