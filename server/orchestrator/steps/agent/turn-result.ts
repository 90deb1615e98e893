import { z } from 'zod';
import { sha256 } from '../../../platform/crypto/digest.ts';
import { isJson, isObject } from '../../../platform/json.ts';
import type { JsonValue } from '../../core/index.ts';
import { type ToolCallPart, TurnContent } from './turn-messages.ts';

/** The result of a turn in the event log. A field is never renamed. */
const StoredTurn = z.strictObject({
  /** The text; absent if it is long, because `content` has it. */
  text: z.string().optional(),
  content: TurnContent,
  object: z.custom<JsonValue>(isJson).optional(),
  finish_reason: z.enum(['stop', 'length', 'tool_calls']),
  model: z.string(),
  /** The tokens. `estimated`: the provider returned no counts. */
  usage: z.strictObject({
    input_tokens: z.number(),
    output_tokens: z.number(),
    estimated: z.literal(true).optional(),
  }),
  /** The characters of the request, from which the tokens per character are computed. */
  sent_characters: z.number().optional(),
  /** The problems of calls that are not made, by the number of the call in the turn, from 1. */
  problems: z.record(z.string(), z.strictObject({ code: z.string(), message: z.string() })).optional(),
});
type StoredTurn = z.infer<typeof StoredTurn>;
export type TurnResult = StoredTurn & { text: string };

/** The length above which a text is stored only in `content`. */
const MAX_REPEATED_LENGTH = 16_384;

/** Returns the result of a turn as the log stores it. */
export function storedTurn({ text, ...result }: TurnResult): StoredTurn {
  return text.length > MAX_REPEATED_LENGTH ? result : { text, ...result };
}

/** Returns the text parts of an answer. */
export const textOfContent = (content: TurnResult['content']): string =>
  content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('');

/** Parsed results. Every turn reads the results of all earlier turns, and parsing them again would take a tenth of its CPU time. */
const results = new WeakMap<object, TurnResult | null>();

/** Returns the parsed result of a turn, which callers must not change; null if it is no result of a turn. */
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

/** Returns the calls of a turn in order. */
export function callsOf({ content }: Pick<TurnResult, 'content'>): ToolCallPart[] {
  return content.filter(part => part.type === 'tool_call');
}

const digests = new WeakMap<object, string>();

/** Returns a digest that does not depend on the order of fields. */
export function digestOf(value: JsonValue): string {
  if (!isObject(value)) return newDigest(value);
  const digest = digests.get(value) ?? newDigest(value);
  digests.set(value, digest);
  return digest;
}

function newDigest(value: JsonValue): string {
  return sha256(JSON.stringify(value, sortKeys)).toString('base64url').slice(0, 16);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
