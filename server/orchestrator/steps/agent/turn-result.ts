import { z } from 'zod';
import { sha256 } from '../../../platform/crypto/digest.ts';
import { isJson, isObject } from '../../../platform/json.ts';
import type { JsonValue } from '../../core/index.ts';
import { type ToolCallPart, TurnContent } from './turn-messages.ts';

/** The result of a turn, as the event log keeps it: a field is never renamed. */
const StoredTurn = z.strictObject({
  /** Absent where it is long: `content` has it. */
  text: z.string().optional(),
  content: TurnContent,
  object: z.custom<JsonValue>(isJson).optional(),
  finish_reason: z.enum(['stop', 'length', 'tool_calls']),
  model: z.string(),
  /** `estimated`: the provider told nothing. */
  usage: z.strictObject({
    input_tokens: z.number(),
    output_tokens: z.number(),
    estimated: z.literal(true).optional(),
  }),
  /** Characters of the request, which give the number of tokens a measure. */
  sent_characters: z.number().optional(),
  /** Why calls are not carried out, by their numbers in the turn, from 1. */
  problems: z.record(z.string(), z.strictObject({ code: z.string(), message: z.string() })).optional(),
});
type StoredTurn = z.infer<typeof StoredTurn>;
export type TurnResult = StoredTurn & { text: string };

/** A longer text is stored once, in the parts of the answer. */
const MAX_REPEATED_LENGTH = 16_384;

/** The result of a turn as the log keeps it. */
export function storedTurn({ text, ...result }: TurnResult): StoredTurn {
  return text.length > MAX_REPEATED_LENGTH ? result : { text, ...result };
}

/** The text of an answer without its other parts. */
export const textOfContent = (content: TurnResult['content']): string =>
  content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('');

/** Every later turn of an agent reads the results of those before it: checking each once is a tenth of a turn's CPU time. */
const results = new WeakMap<object, TurnResult | null>();

/** The result of a turn, which callers do not change; null where there is none. */
export function turnResultOf(result: JsonValue): TurnResult | null {
  if (!isObject(result)) return null;
  let found = results.get(result);
  if (found === undefined) {
    const { data } = StoredTurn.safeParse(result);
    found = data === undefined ? null : { ...data, text: data.text ?? textOfContent(data.content) };
    results.set(result, found);
  }
  return found;
}

/** The calls of a turn, in the order of their numbers. */
export function callsOf({ content }: Pick<TurnResult, 'content'>): ToolCallPart[] {
  return content.filter(part => part.type === 'tool_call');
}

const digests = new WeakMap<object, string>();

/** Returns a text that is equal for values that differ only in the order of their fields. */
export function digestOf(value: JsonValue): string {
  if (!isObject(value)) return newDigest(value);
  const digest = digests.get(value) ?? newDigest(value);
  digests.set(value, digest);
  return digest;
}

function newDigest(value: JsonValue): string {
  return sha256(JSON.stringify(value, sorted)).toString('base64url').slice(0, 16);
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
