import { z } from 'zod';
import { Id, MAX_INTEGER } from '../../../operation/wire.ts';

export const RerunInput = z.strictObject({
  id: Id,
  runID: Id,
  from_step: z.string().min(1).max(64).optional(),
  version: z
    .union([z.enum(['latest', 'draft']), z.number().int().min(1).max(MAX_INTEGER)])
    .optional()
    .meta({ description: "With `from_step`: the version that continues the run; default: the run's own" }),
});
