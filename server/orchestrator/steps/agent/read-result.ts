import { z } from 'zod';
import { parseJson } from '../../../platform/json-text.ts';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import { valueAt } from '../../languages/value-at.ts';
import type { TurnTool } from './turn-caller.ts';

/** The tool that every agent has in addition to its own. */
export const READ_RESULT = 'read_result';
/** The maximum number of characters of a result that a model reads, about 2,000 tokens. */
export const SHOWN_CHARACTERS = 8_000;
const HEAD = 6_000;
const MAX_MATCHES = 20;
const AROUND_MATCH = 200;

const Arguments = z.strictObject({
  ref: z.string().min(1).max(200),
  from: z.number().int().min(0).optional(),
  search: z.string().min(1).max(200).optional(),
  path: z.string().min(1).max(500).optional(),
});

/** The description of the tool for models. */
export const readResultTool: TurnTool = {
  name: READ_RESULT,
  description: `Reads the whole of a result that was shortened. Returns up to ${SHOWN_CHARACTERS} characters from the position "from" on (default 0), or the places where the text "search" occurs; with "path", such as items[3].name, of the value there.`,
  inputSchema: {
    type: 'object',
    properties: {
      ref: { type: 'string', description: 'The result_ref of the shortened result' },
      from: { type: 'integer', minimum: 0 },
      search: { type: 'string' },
      path: { type: 'string', description: 'Where in a result that is JSON, such as items[3].name' },
    },
    required: ['ref'],
    additionalProperties: false,
  },
};

/** Returns a result as text. */
export function textOf(result: JsonValue): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** Returns a result as text for a model. A long text is cut to its head and tail, with a reference for `read_result`. */
export function shown(result: JsonValue, ref: string): string {
  const text = textOf(result);
  if (text.length <= SHOWN_CHARACTERS) return text;
  const tail = text.slice(text.length - (SHOWN_CHARACTERS - HEAD));
  const left = text.length - SHOWN_CHARACTERS;
  return `${text.slice(0, HEAD).toWellFormed()}\n[… ${left} characters left out; result_ref: ${ref} …]\n${tail.toWellFormed()}`;
}

/** Parses the arguments of `read_result`; null if they are invalid. */
export function readResultArguments(args: JsonMap): (ReadOf & { ref: string; path: string | null }) | null {
  const { data } = Arguments.safeParse(args);
  if (data === undefined) return null;
  return { ref: data.ref, from: data.from ?? 0, search: data.search ?? null, path: data.path ?? null };
}

type ReadOf = { from: number; search: string | null };

/** Returns the part of a result at a path; undefined for none. Text that is JSON has parts, too. */
export function partAt(result: JsonValue, path: string): JsonValue | undefined {
  const value = valueAt(result, path);
  if (value !== undefined || typeof result !== 'string') return value;
  try {
    return valueAt(parseJson(result) as JsonValue, path);
  } catch {
    return undefined;
  }
}

/** Returns the requested text of a result, or the matches of a search in it. */
export function readResult(
  result: JsonValue,
  { from, search }: ReadOf,
): { total_characters: number } & ({ from: number; text: string } | { matches: { at: number; text: string }[] }) {
  const text = textOf(result);
  if (search === null)
    return { total_characters: text.length, from, text: text.slice(from, from + SHOWN_CHARACTERS).toWellFormed() };
  const matches: { at: number; text: string }[] = [];
  for (let at = text.indexOf(search, from); at >= 0 && matches.length < MAX_MATCHES; ) {
    const start = Math.max(0, at - AROUND_MATCH);
    matches.push({ at, text: text.slice(start, at + search.length + AROUND_MATCH).toWellFormed() });
    at = text.indexOf(search, at + search.length);
  }
  return { total_characters: text.length, matches };
}
