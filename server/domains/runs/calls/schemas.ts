import { z } from 'zod';
import { Id, nextCursor, page } from '../../../operation/wire.ts';
import { RunLink, RunSchema } from '../schemas.ts';

export const ListCalledRunsInput = z.strictObject({
  id: Id,
  runID: Id,
  ...page,
  step_id: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .meta({ description: 'Only runs called by this step, or by a step that it added to the run' }),
});
export const CalledRun = RunLink.extend({
  step_id: z.string(),
  attempt: z.number().int(),
  run: RunSchema.nullable().meta({ description: 'Null before the called run has started and once it is deleted' }),
});
export const ListCalledRunsOutput = z.strictObject({ called_runs: z.array(CalledRun), ...nextCursor });
