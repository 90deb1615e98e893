import { parseDocument } from 'yaml';
import { invalid } from '../../../platform/errors.ts';

/**
 * Reads JSON or YAML text into a JSON value. Throws AppError 422 for text that is neither. Safe on hostile text: no alias (an
 * entity bomb needs them), no custom tag, no merge key, and keys are not compared pairwise (yaml's own check is quadratic:
 * 100,000 keys took it minutes).
 */
export function readDocumentText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return readYaml(text);
  }
}

function readYaml(text: string): unknown {
  try {
    const parsed = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false,
      prettyErrors: true,
      logLevel: 'silent',
    });
    const [error] = parsed.errors;
    if (error === undefined) return parsed.toJS({ maxAliasCount: 0 }) as unknown;
    throw malformed(error.message);
  } catch (error) {
    // Nesting a hundred thousand deep ends yaml's recursion with a RangeError; an alias with a ReferenceError.
    if (error instanceof RangeError) throw malformed('it is nested too deeply');
    if (error instanceof ReferenceError) throw malformed('aliases are not accepted');
    throw error;
  }
}

function malformed(why: string): Error {
  return invalid('The document is neither JSON nor YAML.', [{ path: 'document', message: why.split('\n')[0] ?? why }]);
}
