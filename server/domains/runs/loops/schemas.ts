import { z } from 'zod';
import { Id, MAX_INTEGER } from '../../../operation/wire.ts';
import { StepSnapshot } from '../reading/schemas.ts';
import { RunStepInput } from '../steps/schemas.ts';

/** One item of a loop, with the steps that were added for the item. */
export const LoopItem = z.strictObject({
  index: z.number().int().meta({ description: 'Counts from 0' }),
  status: z.enum(['pending', 'running', 'completed', 'failed', 'cancelled']),
  steps: z
    .array(StepSnapshot)
    .meta({ description: 'Those that have started or ended, without what they added in turn' }),
});
export const LoopItems = z.strictObject({
  run_id: Id,
  step_id: z.string(),
  total: z.number().int().nullable().meta({ description: 'Null until the loop has its items' }),
  ended: z.number().int(),
  failed: z.number().int(),
  failed_items: z.array(z.number().int()).meta({ description: 'The items that failed, the first 1,000 of them' }),
  items: z.array(LoopItem),
});
export const LoopItemsInput = RunStepInput.extend({
  from: z.coerce.number().int().min(0).max(MAX_INTEGER).default(0).meta({ description: 'The first item; default 0' }),
  limit: z.coerce.number().int().min(1).max(100).default(20).meta({ description: 'Default 20, at most 100' }),
});
