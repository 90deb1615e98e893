import type { Json, JsonObject } from '../json.ts';
import { isMultipleOf, isNumeric, quoteValue } from './value.ts';
import { counted } from './words.ts';

/** Why a keyword refuses a value; null if it cannot be judged, undefined if it allows the value. */
export type KeywordProblem = string | null | undefined;

/** Judges a keyword of numbers. Numbers and bigints are compared exactly. */
export function numberProblem(schema: JsonObject, keyword: string, value: number | bigint): KeywordProblem {
  const limit: Json | bigint | undefined = schema[keyword];
  // In draft 4 and OpenAPI 3.0, a boolean says whether the limit itself is excluded.
  const excluded = schema[keyword === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'] === true;
  const judge = (fits: (limit: number | bigint) => boolean, words: string): KeywordProblem => {
    if (!isNumeric(limit)) return typeof limit === 'boolean' ? undefined : null;
    return fits(limit) ? undefined : `must be ${words} ${quoteValue(limit)}`;
  };
  switch (keyword) {
    case 'minimum':
      return excluded ? judge(least => value > least, 'more than') : judge(least => value >= least, 'at least');
    case 'maximum':
      return excluded ? judge(most => value < most, 'less than') : judge(most => value <= most, 'at most');
    case 'exclusiveMinimum':
      return judge(least => value > least, 'more than');
    case 'exclusiveMaximum':
      return judge(most => value < most, 'less than');
    case 'multipleOf':
      return judge(divisor => !(divisor > 0) || isMultipleOf(value, divisor), 'a multiple of');
    default:
      return undefined;
  }
}

/** Judges `min…` and `max…` of a count of characters, items or fields. */
export function countProblem(keyword: string, count: number, limit: Json, what: string): KeywordProblem {
  if (typeof limit !== 'number') return null;
  const isLeast = keyword.startsWith('min');
  if (isLeast ? count >= limit : count <= limit) return undefined;
  return `must have at ${isLeast ? 'least' : 'most'} ${counted(limit, what)}, not ${count}`;
}
