import type { z } from 'zod';
import { invalid } from '../../platform/errors.ts';
import { storageProblem } from '../../platform/storable-json.ts';
import { type Extras, MAX_DELIVERY_BYTES } from './schemas.ts';

/** Throws AppError 422 for extras that cannot be stored, or that are larger than a delivery may be. */
export function requireStorable(extras: z.output<typeof Extras>): void {
  const problem = storageProblem(extras);
  if (problem) throw invalid('The extras cannot be stored.', [{ ...problem, path: `extras.${problem.path}` }]);
  if (Buffer.byteLength(JSON.stringify(extras)) <= MAX_DELIVERY_BYTES) return;
  throw invalid('The extras are too large.', [
    { path: 'extras', message: `is larger than ${MAX_DELIVERY_BYTES} bytes` },
  ]);
}
