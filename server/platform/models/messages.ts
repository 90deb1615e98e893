import { z } from 'zod';
import { isJson, type Json } from '../json.ts';
import { JsonObjectSchema } from '../zod-json.ts';

/**
 * The messages of a conversation with a model that may call tools, as plain JSON. They are stored in the event log, so fields
 * must not be renamed. `provider_metadata` belongs to the provider (reasoning signatures, ids of its items) and is returned to
 * it unchanged; a provider refuses a conversation in which it was changed or omitted.
 */

const AnyJson = z.custom<Json>(isJson, 'must be JSON');
const provider_metadata = JsonObjectSchema.optional();

const TextPart = z.strictObject({ type: z.literal('text'), text: z.string(), provider_metadata });
const ReasoningPart = z.strictObject({ type: z.literal('reasoning'), text: z.string(), provider_metadata });
const ToolCallPart = z.strictObject({
  type: z.literal('tool_call'),
  /** Names the call in its result; unique within its message only. */
  id: z.string().min(1),
  /** The name as the model wrote it: it may be a tool that was not offered. */
  name: z.string(),
  /** The parsed arguments, of any JSON type: not yet checked against the tool's schema. With `malformed`, their text. */
  arguments: AnyJson,
  /** The arguments are not JSON, or none that can be stored. Such a call must not be executed. */
  malformed: z.literal(true).optional(),
  /** The arguments' text, where it is not what JSON.stringify makes of `arguments`: with it, the provider's cache still fits. */
  raw: z.string().optional(),
  provider_metadata,
});
const ToolResultPart = z.strictObject({
  type: z.literal('tool_result'),
  id: z.string().min(1),
  name: z.string(),
  output: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('text'), value: z.string() }),
    z.strictObject({ type: z.literal('json'), value: AnyJson }),
    z.strictObject({ type: z.literal('error'), value: z.string() }),
    z.strictObject({ type: z.literal('denied'), reason: z.string().optional() }),
  ]),
});

const ContentPart = z.discriminatedUnion('type', [TextPart, ReasoningPart, ToolCallPart]);
const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.array(TextPart) }),
  z.strictObject({ role: z.literal('assistant'), content: z.array(ContentPart) }),
  z.strictObject({ role: z.literal('tool'), content: z.array(ToolResultPart) }),
]);

/** The parts of a model's answer, in their order. */
export const TurnContent = z.array(ContentPart);
/** A conversation: instructions first, then by turns. Every tool call of a message has its result in the next one. */
export const TurnMessages = z.array(Message);

export type TextPart = z.infer<typeof TextPart>;
export type ReasoningPart = z.infer<typeof ReasoningPart>;
export type ToolCallPart = z.infer<typeof ToolCallPart>;
export type ToolResultPart = z.infer<typeof ToolResultPart>;
export type ContentPart = z.infer<typeof ContentPart>;
export type TurnMessage = z.infer<typeof Message>;
