import { z } from 'zod';
import { AnyObject, Id } from '../../../operation/wire.ts';
import { JsonValueSchema } from '../../../platform/zod-json.ts';

/** The longest path of a step: its id and the ids of two loops around it, with dots between them. */
const MAX_STEP_PATH = 3 * 64 + 2;
export const TestRunInput = z.strictObject({
  id: Id,
  params: AnyObject.default({}).meta({ description: 'The params of the `start` command' }),
  step: z.string().min(1).max(MAX_STEP_PATH).optional().meta({
    description: 'Runs only this step of the draft. A step in a loop is named with its loop, as in `each.fetch`',
  }),
  item: JsonValueSchema.optional().meta({
    description: 'With a `step` in a loop: the item that it reads, as the first and only one; default: null',
  }),
  results: AnyObject.optional().meta({
    description: 'With `step`: results of the steps before it, by their ids. A step without one has the result null',
  }),
  from_run: Id.optional().meta({
    description: 'With `step`: a run whose results and input are used where `results` and `params` give none',
  }),
});
