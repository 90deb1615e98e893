import { z } from 'zod';
import { AnyObject, Id } from '../../../operation/wire.ts';
import { JsonValueSchema } from '../../../platform/zod-json.ts';
import { RunErrorSchema, runOutputFields } from '../schemas.ts';
import { CommandOutput } from '../start/schemas.ts';

/** The maximum wait for the end of a run, in seconds. */
export const MAX_WAIT_S = 60;
export const RunInput = z.strictObject({
  id: Id,
  wait_s: z.number().int().min(0).max(MAX_WAIT_S).default(0).meta({
    description: 'For how many seconds the answer waits for the end of the run; default 0: it does not wait',
  }),
  params: AnyObject.default({}).meta({
    description: 'The input, which must fit the `input_schema` of the workflow',
  }),
});
/** The answer to a start, with the output once the run has ended. */
export const RunResult = CommandOutput.omit({ orchestration_phase: true }).extend({
  output: JsonValueSchema.optional().meta({
    description: 'Present once the run has ended; null unless it has completed',
  }),
  output_error: runOutputFields.output_error.optional(),
  error: RunErrorSchema.nullable().optional().meta({ description: 'Why the run failed' }),
});
