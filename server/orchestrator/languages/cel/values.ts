import { isNumber } from '../../../platform/json-text.ts';
import type { JsonValue } from '../../core/index.ts';
import { CelError } from './cel-error.ts';
import { type CelNumber, calculate, numberType } from './numbers.ts';

export { CelError };

/**
 * The values of a CEL expression: JSON values, timestamps, durations and bytes. As in JSON, there is one type of
 * number: `1 == 1.0`, `input.n + 1 > 2.5` works for 1 and for 1.5, and `7 / 2` is 3.5
 * (docs/specification/steps.md#condition). A strict CEL rejects mixed int and double, and every author would run into
 * that first.
 */
export class Timestamp {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}
export class Duration {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
}
/** Bytes, which expressions create and read, but which JSON does not have. */
export class Bytes {
  readonly data: Buffer;
  constructor(data: Buffer) {
    this.data = data;
  }
}
export type CelMap = { [key: string]: CelValue };
export type CelValue = null | boolean | CelNumber | string | Timestamp | Duration | Bytes | CelValue[] | CelMap;

/**
 * The remaining budget of an evaluation. A node costs 1 unit. An operation on n characters or elements has a cost
 * proportional to n, so that a unit is 10 to 300 ns and at most ~100 bytes (`cost.test.ts` measures every function).
 */
export class Budget {
  #left: number;
  /** The clock is read again when fewer units than this are left. */
  #checkAt: number;
  readonly #maxMs: number;
  #deadline: number | undefined;

  /**
   * An evaluation that takes longer than `maxMs` fails as too expensive, even if budget remains. The clock is first
   * read after some work: most evaluations end before, and reading the clock would take as long as they do.
   */
  constructor(units: number, maxMs = Number.POSITIVE_INFINITY) {
    this.#left = units;
    this.#maxMs = maxMs;
    this.#checkAt = Math.max(0, units - UNITS_BETWEEN_CLOCK_READS);
  }

  get left(): number {
    return this.#left;
  }

  /** Spends `units`, a number that is not negative. Throws CelError when no units are left or the time is up. */
  spend(units: number): void {
    this.#left -= units;
    if (!(units >= 0 && this.#left >= this.#checkAt)) this.#check(units);
  }

  /** Charges the cost of reading or creating a text of this length. */
  spendText(length: number): void {
    this.spend(Math.ceil(length / CHARACTERS_PER_UNIT));
  }

  #check(units: number): void {
    if (!(units >= 0)) throw new RangeError(`a cost must not be ${units}`);
    const now = performance.now();
    this.#deadline ??= now + this.#maxMs;
    if (this.#left < 0 || now > this.#deadline) {
      throw new CelError(
        'the expression does too much work: loop over less, or use a lua_script step',
        'expression_too_costly',
      );
    }
    this.#checkAt = Math.max(0, this.#left - UNITS_BETWEEN_CLOCK_READS);
  }
}

const UNITS_BETWEEN_CLOCK_READS = 1_000;
const CHARACTERS_PER_UNIT = 8;
/**
 * The characters that a comparison of two texts compares per unit of cost: comparing takes a fraction of the time of reading
 * the characters one by one.
 */
const COMPARED_CHARACTERS_PER_UNIT = 64;
const MAX_QUOTE_LENGTH = 60;

/** Formats a value for an error message. Cuts a text before quoting it, so that a long text costs no more. */
export function quote(value: CelValue): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_QUOTE_LENGTH));
  return typeof value === 'object' && value !== null ? typeName(value) : String(value);
}

export function isMap(value: CelValue): value is CelMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Timestamp) &&
    !(value instanceof Duration) &&
    !(value instanceof Bytes)
  );
}

/** Returns the value as JSON. Throws CelError for a timestamp, a duration or bytes, which JSON cannot represent. */
export function jsonOf(value: CelValue): JsonValue {
  if (value instanceof Timestamp || value instanceof Duration)
    throw new CelError(`a ${typeName(value)} is not JSON: use string()`);
  if (value instanceof Bytes) throw new CelError('bytes are not JSON: use string() or base64.encode()');
  if (Array.isArray(value)) return value.map(jsonOf);
  // fromEntries defines each key instead of assigning it: a key may be __proto__.
  if (isMap(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonOf(inner)]));
  return value;
}

/** Returns the CEL name of a value's type. */
export function typeName(value: CelValue): string {
  if (value === null) return 'null_type';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return numberType(value);
    case 'string':
      return 'string';
    default:
      if (Array.isArray(value)) return 'list';
      if (value instanceof Timestamp) return 'timestamp';
      if (value instanceof Bytes) return 'bytes';
      return value instanceof Duration ? 'duration' : 'map';
  }
}

/** Compares deeply. Values of different types are unequal, which is not an error. */
export function equal(a: CelValue, b: CelValue, budget: Budget): boolean {
  budget.spend(1);
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) {
    budget.spend(Math.floor(a.length / COMPARED_CHARACTERS_PER_UNIT));
  }
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.ms === b.ms;
  if (a instanceof Duration) return b instanceof Duration && a.ms === b.ms;
  if (a instanceof Bytes) return b instanceof Bytes && compareBytes(a, b, budget) === 0;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index] ?? null, budget));
  }
  if (!isMap(b)) return false;
  const keys = Object.keys(a);
  budget.spend(keys.length);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(key => Object.hasOwn(b, key) && equal(a[key] ?? null, b[key] ?? null, budget));
}

function compareBytes(a: Bytes, b: Bytes, budget: Budget): number {
  budget.spend(Math.floor(Math.min(a.data.length, b.data.length) / COMPARED_CHARACTERS_PER_UNIT));
  return Buffer.compare(a.data, b.data);
}

/** Orders two values of one type: negative, 0 or positive. Throws CelError for types without an order. */
export function compare(a: CelValue, b: CelValue, operator: string, budget: Budget): number {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') {
    budget.spend(Math.floor(Math.min(a.length, b.length) / COMPARED_CHARACTERS_PER_UNIT));
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return a.ms - b.ms;
  if (a instanceof Duration && b instanceof Duration) return a.ms - b.ms;
  if (a instanceof Bytes && b instanceof Bytes) return compareBytes(a, b, budget);
  throw new CelError(`${typeName(a)} ${operator} ${typeName(b)} is not defined`);
}

function add(a: CelValue, b: CelValue, budget: Budget): CelValue | undefined {
  if (typeof a === 'string' && typeof b === 'string') {
    budget.spendText(a.length + b.length);
    return a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    budget.spend(a.length + b.length);
    return a.concat(b);
  }
  if (a instanceof Bytes && b instanceof Bytes) {
    budget.spendText(a.data.length + b.data.length);
    return new Bytes(Buffer.concat([a.data, b.data]));
  }
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.ms + b.ms);
  if (a instanceof Timestamp && b instanceof Duration) return new Timestamp(a.ms + b.ms);
  if (a instanceof Duration && b instanceof Timestamp) return new Timestamp(a.ms + b.ms);
  return undefined;
}

function subtract(a: CelValue, b: CelValue): CelValue | undefined {
  if (a instanceof Timestamp && b instanceof Timestamp) return new Duration(a.ms - b.ms);
  if (a instanceof Timestamp && b instanceof Duration) return new Timestamp(a.ms - b.ms);
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.ms - b.ms);
  return undefined;
}

export type Arithmetic = '+' | '-' | '*' | '/' | '%';

/**
 * Returns `a operator b`. Throws CelError if the operator is undefined for these types, divides by zero or gives an
 * infinite result.
 */
export function arithmetic(operator: Arithmetic, a: CelValue, b: CelValue, budget: Budget): CelValue {
  if (isNumber(a) && isNumber(b)) return calculate(operator, a, b);
  const other = operator === '+' ? add(a, b, budget) : operator === '-' ? subtract(a, b) : undefined;
  if (other !== undefined) return other;
  throw new CelError(`${typeName(a)} ${operator} ${typeName(b)} is not defined`);
}

/** Returns an own member of a map or an element of a list, or undefined. Inherited members are never returned. */
export function member(value: CelValue, key: CelValue): CelValue | undefined {
  if (Array.isArray(value)) {
    if (typeof key === 'bigint') return undefined;
    if (typeof key !== 'number' || !Number.isInteger(key))
      throw new CelError(`a list is indexed by integers, not by ${typeName(key)}`);
    return key >= 0 && key < value.length ? (value[key] ?? null) : undefined;
  }
  if (!isMap(value)) throw new CelError(`${typeName(value)} has no members`);
  if (typeof key !== 'string' && !isNumber(key) && typeof key !== 'boolean') {
    throw new CelError(`${typeName(key)} cannot be a key`);
  }
  const name = String(key);
  return Object.hasOwn(value, name) ? (value[name] ?? null) : undefined;
}
