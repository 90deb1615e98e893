import { hasPlainPrototype, type Json } from './json.ts';

/**
 * JSON text in both directions. A double holds integers exactly up to 2^53; identifiers of other systems have up to
 * 64 bits. An integer beyond the safe range is therefore a `bigint` in memory, and has its digits in every text. Every
 * other number is a `number`, so that nothing changes for values that a double holds exactly
 * (docs/adr/0024-integers-of-64-bits.md).
 */

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 64n - 1n;
const MAX_SHOWN_DIGITS = 40;

/** A number in a JSON text that neither 64 bits nor a double can hold. `path` has the form `items[0].id`. */
export class JsonNumberError extends Error {
  readonly path: string;
  /** The rule that the number breaks, without the path. */
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(path === '' ? `The value ${problem}.` : `The value of "${path}" ${problem}.`);
    this.name = 'JsonNumberError';
    this.path = path;
    this.problem = problem;
  }
}

declare global {
  interface JSON {
    /** Returns what JSON.stringify writes as the text itself (ECMAScript proposal JSON.parse source text access). */
    rawJSON(text: string): unknown;
  }
}

// JSON.stringify throws at a bigint otherwise. On the prototype, since libraries (MCP, tRPC, models' SDKs) write JSON too.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  value(this: bigint) {
    return JSON.rawJSON(this.toString());
  },
});

/** Returns whether an integer has at most 64 bits, with a sign or without. */
export const isInt64 = (value: bigint): boolean => value >= MIN_INTEGER && value <= MAX_INTEGER;

/**
 * Returns the one form in which a number is kept in memory: an integer beyond the safe range is a bigint if it has at
 * most 64 bits. Texts of a double and of the bigint made from it are equal, so a value that was stored and read again
 * is the same value.
 */
export function canonicalNumber(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }
  if (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) > 2e19) return value;
  const exact = BigInt(value.toString());
  return isInt64(exact) ? exact : value;
}

/** Reads a number as a person writes it. Integers are exact; NaN for integers beyond 64 bits and for other text. */
export function readNumber(text: string): number | bigint {
  if (!/^\s*[-+]?\d+\s*$/.test(text)) return text.trim() === '' ? Number.NaN : canonicalNumber(Number(text));
  const exact = BigInt(text.trim().replace('+', ''));
  return isInt64(exact) ? canonicalNumber(exact) : Number.NaN;
}

/** Returns whether a value is a number, which a large integer is as well. */
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || typeof value === 'number';

/**
 * JSON.parse reads a text without a match exactly: no number has 16 digits in a row (shorter ones lose no digit), and none has an
 * exponent, which may overflow.
 */
const MAY_BE_INEXACT = /\d{16}|[:,[ \t\n\r]-?\d[\d.]*[eE]|^-?\d/;

/**
 * Parses JSON text. Integers of up to 64 bits are exact. Throws SyntaxError for malformed text, and JsonNumberError,
 * with the path, for an integer beyond 64 bits that a double would round and for a number that overflows.
 */
export function parseJson(text: string): Json {
  const value: Json = JSON.parse(text);
  const marked = markNumbers(text);
  return marked === text ? value : reviveNumbers(JSON.parse(marked), refuseNumber);
}

/**
 * Parses JSON text that Baton has written itself, such as stored events. A number that requests may no longer contain is read as
 * a double, so that all stored text remains readable.
 */
export function readJson(text: string): Json {
  const value: Json = JSON.parse(text);
  const marked = markNumbers(text);
  return marked === text ? value : reviveNumbers(JSON.parse(marked));
}

/**
 * Parses the JSON of a server's answer. A number that cannot be kept becomes its text: the server has already acted, so its
 * answer must not be lost. Throws SyntaxError.
 */
export function parseAnswerJson(text: string): Json {
  const value: Json = JSON.parse(text);
  const marked = markNumbers(text);
  return marked === text ? value : reviveNumbers(JSON.parse(marked), literal => literal);
}

/**
 * Parses the JSON of a request like parseJson. JSON.parse takes 40 ms and 42 MB to find that a megabyte of open
 * brackets has no end, so a text that does not end with the counterpart of its first bracket is refused before that.
 */
export function parseRequestJson(text: string): Json {
  const last = text.trimEnd().at(-1);
  const isCutOff = (text.startsWith('{') && last !== '}') || (text.startsWith('[') && last !== ']');
  if (isCutOff) throw new SyntaxError('It does not end with the bracket that it begins with.');
  return parseJson(text);
}

/** Refuses a number for `reviveNumbers`. Throws JsonNumberError. */
export function refuseNumber(literal: string, path: () => string): never {
  const shown = literal.length > MAX_SHOWN_DIGITS ? `${literal.slice(0, MAX_SHOWN_DIGITS)}…` : literal;
  const problem = /[.eE]/.test(literal)
    ? `is the number ${shown}, which is too large for a double`
    : `is the integer ${shown}, which has more than 64 bits; send it as text`;
  throw new JsonNumberError(path(), problem);
}

/** The beginning of each marked number. It is random, so that text from outside cannot contain it. */
const MARK = `\0${crypto.randomUUID()}:`;
const WRITTEN_MARK = JSON.stringify(MARK).slice(0, -1);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
/** Digits and `.`, `e`, `E`, `+`, `-`. */
const isNumberCharacter = (code: number) =>
  isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === MINUS;

/**
 * Returns well-formed JSON text in which each number that JSON.parse might change is a string that `reviveNumbers`
 * recognizes. A reviver with the source text takes 50 times as long as parsing for a list of 500,000 numbers.
 */
export function markNumbers(text: string): string {
  if (!MAY_BE_INEXACT.test(text)) return text;
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (code !== MINUS && !isDigit(code)) {
      at++;
      continue;
    }
    const start = at;
    while (isNumberCharacter(text.charCodeAt(at))) at++;
    const literal = text.slice(start, at);
    if (!isInexact(literal)) continue;
    marked += `${text.slice(copied, start)}${WRITTEN_MARK}${literal}"`;
    copied = at;
  }
  return marked === '' ? text : marked + text.slice(copied);
}

/** A number (RFC 8259, section 6). Other literals stay as they are, and the parser refuses them. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function isInexact(literal: string): boolean {
  if (literal.length < 16 && !/[eE]/.test(literal)) return false;
  if (!NUMBER.test(literal)) return false;
  const double = Number(literal);
  return !Number.isFinite(double) || (Number.isInteger(double) && !Number.isSafeInteger(double));
}

/** Returns the index after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}

type Otherwise = (literal: string, path: () => string) => number | string;

/** Returns the canonical number of a literal; `otherwise` handles a literal that has none. */
function numberOf(literal: string, otherwise: Otherwise, path: () => string): number | bigint | string {
  const double = Number(literal);
  if (!Number.isFinite(double)) return otherwise(literal, path);
  if (/[.eE]/.test(literal)) return canonicalNumber(double);
  const exact = BigInt(literal);
  if (isInt64(exact)) return canonicalNumber(exact);
  // 100000000000000000000 is how a double is written, and no digit is lost: a value that was sent can be sent back.
  return String(double) === literal ? double : otherwise(literal, path);
}

/**
 * Replaces the strings that `markNumbers` has written by their numbers, in place. Not recursive: the text may be nested
 * deeper than the stack. `otherwise` decides about numbers that cannot be kept; without it they are doubles.
 */
export function reviveNumbers(root: Json, otherwise: Otherwise = Number): Json {
  const holder = { root };
  const pending: { value: Json[] | { [key: string]: Json }; path: Path | null }[] = [{ value: holder, path: null }];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { value, path } = item;
    const set = (key: string | number, child: Json) => {
      if (typeof child === 'object' && child !== null) {
        pending.push({ value: child, path: { key, above: path } });
      } else if (typeof child === 'string' && child.startsWith(MARK)) {
        const number = numberOf(child.slice(MARK.length), otherwise, () => pathText({ key, above: path }));
        // Defined, not assigned: a key may be __proto__.
        Object.defineProperty(value, key, { value: number, writable: true, enumerable: true, configurable: true });
      }
    };
    if (Array.isArray(value)) for (let index = 0; index < value.length; index++) set(index, value[index] ?? null);
    else if (hasPlainPrototype(value)) for (const key of Object.keys(value)) set(key, value[key] ?? null);
  }
  return holder.root;
}

/** The path of a value: its key, and the path of its container. */
type Path = { key: string | number; above: Path | null };

function pathText(path: Path): string {
  const keys: (string | number)[] = [];
  for (let at: Path | null = path; at !== null; at = at.above) keys.unshift(at.key);
  return keys
    .slice(1)
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${key}`))
    .join('');
}
