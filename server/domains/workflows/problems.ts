import type { z } from 'zod';
import type { ErrorDetail } from '../../platform/errors.ts';
import type { GraphProblem } from './schemas.ts';

/** Returns the problems of a graph as `details` of an error response. */
export function toDetails(problems: readonly z.output<typeof GraphProblem>[]): ErrorDetail[] {
  return problems.map(({ path, message, code, step_id, hint }) => ({
    path,
    message,
    code,
    ...(step_id !== null && { step_id }),
    ...(hint !== undefined && { hint }),
  }));
}
