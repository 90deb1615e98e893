import { invalid } from '../../../platform/errors.ts';
import { YamlReaders } from './yaml-readers.ts';

const yaml = new YamlReaders();

/**
 * Reads JSON or YAML text into a JSON value, for a tenant. Throws AppError 422 for text that is neither, or that takes too
 * long or too much memory, and 429 where the tenant has too many others being read.
 */
export async function readDocumentText(text: string, tenant: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const read = await yaml.read(tenant, text);
    if (read.ok) return JSON.parse(read.json) as unknown;
    throw invalid('The document is neither JSON nor YAML that can be read.', [
      { path: 'document', message: read.message },
    ]);
  }
}
