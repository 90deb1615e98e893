import { isObject, type Json } from '../json.ts';

/** A JSON value as a schema judges it. Integers beyond 2^53 are bigints, which keep their digits. */
export type Value = Json | bigint;

/** The types that JSON Schema knows. */
export const SCHEMA_TYPES: ReadonlySet<string> = new Set([
  'null',
  'boolean',
  'integer',
  'number',
  'string',
  'array',
  'object',
]);

/** Returns whether a value is a JSON number of either kind. */
export const isNumeric = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Returns JSON Schema's name of a value's type; `integer` is a kind of `number`. */
export function typeOf(value: Value): 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isNumeric(value)) return 'number';
  if (typeof value === 'object') return 'object';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}

/** Returns whether a value is a whole number, such as 3, 3.0 or a bigint. */
export const isInteger = (value: Value): boolean => typeof value === 'bigint' || Number.isInteger(value);

/** Returns whether two JSON values are equal. Numbers are compared exactly, bigints too. */
export function isSame(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  // JavaScript compares a bigint and a number by their mathematical values.
  if (isNumeric(a) && isNumeric(b)) return !(a < b) && !(a > b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

/** Returns the number of values in a value. A long text counts as several. */
export function countNodes(value: Value): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / 64);
  if (value === null || typeof value !== 'object') return 1;
  let count = 1;
  for (const item of Array.isArray(value) ? value : Object.values(value)) count += countNodes(item);
  return count;
}

/** Returns a number's digits without a point, and the power of ten by which they are multiplied. */
function decimalOf(value: number | bigint): [digits: bigint, exponent: number] {
  if (typeof value === 'bigint') return [value, 0];
  const [coefficient = '0', exponent = '0'] = String(value).split('e');
  const point = coefficient.indexOf('.');
  const decimals = point === -1 ? 0 : coefficient.length - point - 1;
  return [BigInt(coefficient.replace('.', '')), Number(exponent) - decimals];
}

/** Returns whether a number is a multiple of a positive one, in decimal arithmetic: 0.3 is one of 0.1. */
export function isMultipleOf(value: number | bigint, divisor: number | bigint): boolean {
  const [a, aExponent] = decimalOf(value);
  const [b, bExponent] = decimalOf(divisor);
  const shift = aExponent - bExponent;
  const power = 10n ** BigInt(Math.abs(shift));
  return shift >= 0 ? (a * power) % b === 0n : a % (b * power) === 0n;
}

/** Returns a value as JSON, cut after `maxLength` characters: a message quotes values of any size. */
export function quoteValue(value: Value, maxLength = 200): string {
  let text = '';
  const add = (item: Value): void => {
    if (text.length > maxLength) return;
    if (isNumeric(item)) text += String(item);
    else if (typeof item === 'string') text += JSON.stringify(item.slice(0, maxLength + 1));
    else if (Array.isArray(item)) {
      addAll('[', item, each => add(each));
      text += ']';
    } else if (isObject(item)) {
      addAll('{', Object.entries(item), ([key, each]) => {
        text += `${JSON.stringify(key.slice(0, maxLength + 1))}:`;
        add(each);
      });
      text += '}';
    } else text += String(item);
  };
  const addAll = <T>(open: string, items: readonly T[], addOne: (item: T) => void): void => {
    text += open;
    for (const [index, item] of items.entries()) {
      if (text.length > maxLength) return;
      if (index > 0) text += ', ';
      addOne(item);
    }
  };
  add(value);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
