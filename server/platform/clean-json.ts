import { hasPlainPrototype } from './json.ts';
import { canonicalNumber } from './json-text.ts';

/**
 * Returns the text in a form that PostgreSQL can store and read: U+FFFD replaces U+0000 and lone surrogates. A json column stores
 * both, but PostgreSQL then refuses to read any field of the value.
 */
export function cleanText(text: string): string {
  return text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '\uFFFD').toWellFormed() : text;
}

/** Deeper values, such as cycles, need not be clean, because they are refused as results. */
const MAX_DEPTH = 220;
class TooDeep extends Error {}

/**
 * Returns a JSON value in the form in which it is read from the log again: all texts and keys are clean, and large integers are
 * bigints. Usually nothing differs, and the value itself is returned. Keys that would become equal get further U+FFFD. Instances
 * of classes are unchanged.
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
  // Object.fromEntries defines properties, so that a key `__proto__` is kept.
  return fields === null ? value : Object.fromEntries(fields);
}
