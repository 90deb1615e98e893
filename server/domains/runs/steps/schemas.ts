import { z } from 'zod';
import { Id, MAX_INTEGER } from '../../../operation/wire.ts';
import { JsonValueSchema } from '../../../platform/zod-json.ts';
import { RunStepInput, StepSnapshot } from '../schemas.ts';

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

const PromptPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['text', 'reasoning']), text: z.string() }),
  z.strictObject({ type: z.literal('tool_call'), id: z.string(), name: z.string(), arguments: JsonValueSchema }),
  z.strictObject({
    type: z.literal('tool_result'),
    id: z.string().meta({ description: 'Of the call' }),
    name: z.string(),
    outcome: z.enum(['result', 'error', 'denied']),
    text: z.string(),
  }),
]);
export const RunPrompt = z.strictObject({
  run_id: Id,
  step_id: z.string(),
  model: z.string(),
  messages: z.array(
    z.strictObject({ role: z.enum(['system', 'user', 'assistant', 'tool']), content: z.array(PromptPart) }),
  ),
  left_out: z.number().int().meta({ description: 'Older messages that are not shown, because all are too long' }),
  tools: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  tool_choice: z.enum(['auto', 'none']).meta({ description: '`none`: it was to answer without calling tools' }),
});
