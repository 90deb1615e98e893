import { type AppError, invalid } from '../../../platform/errors.ts';
import { JsonNumberError, parseJson } from '../../../platform/json-text.ts';
import { YamlReaders } from './yaml-readers.ts';

const yaml = new YamlReaders();

/**
 * Parses JSON or YAML text into a JSON value, for a tenant. Throws AppError 422 for text that is neither or takes too
 * much time or memory, and 429 if too many texts of the tenant are being parsed.
 */
export async function readDocumentText(text: string, tenant: string): Promise<unknown> {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonNumberError) throw refused(error);
    const read = await yaml.read(tenant, text);
    if (read.ok) return parsedYaml(read.json);
    throw invalid('The document is neither JSON nor YAML that can be read.', [
      { path: 'document', message: read.message },
    ]);
  }
}

function parsedYaml(json: string): unknown {
  try {
    return parseJson(json);
  } catch (error) {
    throw error instanceof JsonNumberError ? refused(error) : error;
  }
}

function refused({ path, problem }: JsonNumberError): AppError {
  return invalid('The document has a number that cannot be kept.', [{ path: `document.${path}`, message: problem }]);
}
