import type { JsonValue } from './events.ts';

/**
 * A large result that the state does not hold: its JSON text, `bytes` of UTF-8, is stored in the log under `id` and is
 * loaded when a step needs it. A class, because no JSON value can be mistaken for an instance of one.
 */
export class StoredValue {
  readonly id: string;
  readonly bytes: number;

  constructor(id: string, bytes: number) {
    this.id = id;
    this.bytes = bytes;
  }
}

/** The result of a step as events and states hold it. */
export type StepResult = JsonValue | StoredValue;

/** Bytes that a run holds for each of its steps, measured on graphs of 10 to 2,000 steps. */
export const BYTES_PER_STEP = 256;
/** The same for an added step, which has its own fields and ids. */
export const BYTES_PER_ADDED_STEP = 1_200;
/** Bytes for each item that has ended, in addition to its results. */
export const BYTES_PER_ITEM = 64;
/** Bytes for each run that a step called and that is to be stopped. */
export const BYTES_PER_ABANDONED_CALL = 96;
const BYTES_PER_VALUE = 16;
const BYTES_PER_OBJECT = 56;
/** The memory that the reference to a stored result takes. */
export const BYTES_PER_STORED_VALUE: number = BYTES_PER_OBJECT;
/** The maximum bytes of memory for each byte of JSON text: nested lists take 64 for every `[]`. */
export const MAX_BYTES_PER_JSON_BYTE = 32;
const DEEPEST = 500;

/**
 * Returns the approximate size of a JSON value in memory, in bytes. Its JSON text is a poor measure: `[{},{},…]` takes
 * twenty times as much as its text.
 */
export function sizeOf(value: JsonValue | undefined, depth = 0): number {
  if (typeof value === 'string') return BYTES_PER_VALUE + value.length;
  if (typeof value !== 'object' || value === null) return BYTES_PER_VALUE;
  let bytes = BYTES_PER_OBJECT;
  // Values nested too deeply are refused elsewhere; here they must not overflow the stack.
  if (depth > DEEPEST) return bytes;
  if (Array.isArray(value)) {
    for (const item of value) bytes += 8 + sizeOf(item, depth + 1);
    return bytes;
  }
  for (const key in value) bytes += 8 + key.length + sizeOf(value[key], depth + 1);
  return bytes;
}

/** Returns the bytes that a result counts towards the budget of its run. */
export function resultSize(result: StepResult): number {
  return result instanceof StoredValue ? result.bytes : sizeOf(result);
}
