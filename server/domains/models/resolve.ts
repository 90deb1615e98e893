import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { invalid } from '../../platform/errors.ts';
import { parseReference } from './reference.ts';
import type { ResolveInput, ResolveOutput } from './schemas.ts';
import { listKeyRows, selectKey, usableKeys } from './select-key.ts';

/** POST /v1/llm/resolve: what a step that names this model would ask. AppError 422 for what is no model of any provider. */
export async function resolveModel(
  { principal, services }: Context,
  input: z.output<typeof ResolveInput>,
): Promise<z.input<typeof ResolveOutput>> {
  const reference = parseReference(input.model);
  if ('code' in reference) {
    throw invalid('This is not a model.', [{ path: 'model', message: reference.message, code: reference.code }]);
  }
  const key = selectKey(usableKeys(await listKeyRows(services, principal)), reference);
  if ('code' in key) return { ...reference, connection_id: null, available: false, reason: key.message };
  const { id, baseUrl } = key;
  return {
    ...reference,
    connection_id: id,
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    available: true,
  };
}
