import { hasPlainPrototype } from './json.ts';
import { canonicalNumber } from './json-text.ts';

/**
 * Returns the text in a form that PostgreSQL can store and read: U+FFFD stands for U+0000 and for half a surrogate
 * pair. A column of json keeps both, but PostgreSQL then refuses to read any field of the value.
 */
export function cleanText(text: string): string {
  return text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '\uFFFD').toWellFormed() : text;
}

/** Deeper values, such as cycles, are refused as a result, and need not be clean. */
const MAX_DEPTH = 220;
class TooDeep extends Error {}

/**
 * Returns a JSON value in the form in which it is read from the log again: all texts and keys are clean, and large
 * integers are bigints. It is the value itself if nothing differs, which is the rule. Keys that become equal are told
 * apart by further U+FFFD. Objects with a class are left alone.
 */
export function cleanJson<T>(value: T): T {
  try {
    return clean(value, 0) as T;
  } catch (error) {
    if (error instanceof TooDeep) return value;
    throw error;
  }
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) throw new TooDeep();
  if (Array.isArray(value)) {
    let copy: unknown[] | null = null;
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      const cleaned = clean(item, depth + 1);
      if (cleaned === item) continue;
      copy ??= value.slice();
      copy[index] = cleaned;
    }
    return copy ?? value;
  }
  return hasPlainPrototype(value) ? cleanObject(value as Record<string, unknown>, depth) : value;
}

function cleanObject(value: Record<string, unknown>, depth: number): object {
  const entries = Object.entries(value);
  let fields: Map<string, unknown> | null = null;
  for (const [index, [key, field]] of entries.entries()) {
    let name = cleanText(key);
    while (name !== key && (fields?.has(name) || Object.hasOwn(value, name))) name += '\uFFFD';
    const cleaned = clean(field, depth + 1);
    if (fields === null && name === key && cleaned === field) continue;
    fields ??= new Map(entries.slice(0, index));
    fields.set(name, cleaned);
  }
  // fromEntries defines: a key may be __proto__.
  return fields === null ? value : Object.fromEntries(fields);
}
