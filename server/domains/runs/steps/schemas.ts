import { z } from 'zod';
import { AnyObject, Id } from '../../../operation/wire.ts';
import { JsonValueSchema } from '../../../platform/zod-json.ts';

/** One value that a step read: a field with resolved templates, or a value that its script or expression names. */
const ResolvedValue = z.strictObject({
  name: z.string().meta({ description: 'A field such as `prompt`, or a reference such as `steps.a.result.total`' }),
  value: JsonValueSchema,
  problem: z.string().nullable().meta({ description: 'Why there is no value' }),
});
export const RunStep = z.strictObject({
  run_id: Id,
  step_id: z.string(),
  definition: AnyObject.meta({ description: "The step of the run's version, with the overrides of this run" }),
  resolved: z.array(ResolvedValue),
  has_result: z.boolean(),
  result: JsonValueSchema,
  result_ref: z.strictObject({ payload_id: Id, bytes: z.number().int() }).optional(),
  reused: z
    .boolean()
    .meta({ description: 'Whether the result was given at the start: the result in the run of `rerun_of`' }),
});
/** An added step has the ids of its parents before its own. */
export const RunStepInput = z.strictObject({ id: Id, runID: Id, step_id: z.string().min(1).max(512) });

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
