import { hasPlainPrototype, type Json } from './json.ts';
import { MAX_JSON_DEPTH } from './storable-json.ts';

/**
 * Returns a JSON value whose texts and keys PostgreSQL can store: U+FFFD stands for each NUL and for each half of a surrogate
 * pair. A value without any is returned as it is; what is nested too deeply to be stored is not looked at.
 */
export function cleanJson(value: Json, depth = 0): Json {
  if (typeof value === 'string') return cleanString(value);
  if (typeof value !== 'object' || value === null || depth > MAX_JSON_DEPTH) return value;
  if (Array.isArray(value)) {
    const items = value.map(item => cleanJson(item, depth + 1));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!hasPlainPrototype(value)) return value;
  const fields = Object.entries(value);
  const cleaned = fields.map(([key, item]) => [cleanString(key), cleanJson(item, depth + 1)] as const);
  const isSame = cleaned.every(([key, item], at) => key === fields[at]?.[0] && item === fields[at]?.[1]);
  return isSame ? value : Object.fromEntries(cleaned);
}

const cleanString = (text: string): string =>
  text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '\ufffd').toWellFormed() : text;
