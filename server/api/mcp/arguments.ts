import type { z } from 'zod';
import { invalid } from '../../platform/errors.ts';

/**
 * Parses the arguments of a tool that is not an operation. Throws AppError 422 with `details`, as for
 * the fields of an operation.
 */
export function readArguments<Schema extends z.ZodType>(
  schema: Schema,
  args: Record<string, unknown>,
): z.output<Schema> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.slice(0, 50).map(({ path, message }) => ({ path: path.join('.'), message }));
  throw invalid('The arguments are not valid.', details, 'validation_error');
}
