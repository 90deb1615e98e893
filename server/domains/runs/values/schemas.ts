import { z } from 'zod';
import { AnyObject, Id } from '../../../operation/wire.ts';
import { JsonValueSchema } from '../../../platform/zod-json.ts';
import { runOutputFields } from '../schemas.ts';

/**
 * The input and the step results of a run: `steps` maps a step id to `{result}`. Large results are resolved up to 8 MiB
 * in total; beyond that `result` is null and `result_ref` says where the value can be read.
 */
export const RunContext = z.strictObject({
  run_id: Id,
  workflow_id: Id,
  version: z.number().int(),
  input: AnyObject,
  ...runOutputFields,
  steps: z.record(
    z.string(),
    z.strictObject({
      result: JsonValueSchema,
      result_ref: z.strictObject({ payload_id: Id, bytes: z.number().int() }).optional(),
    }),
  ),
});
export const PayloadInput = z.strictObject({ id: Id, runID: Id, payload_id: Id });
export const PayloadOutput = z.strictObject({ payload_id: Id, run_id: Id, body: JsonValueSchema });
