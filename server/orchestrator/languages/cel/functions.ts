import { canonicalNumber, isNumber, readNumber } from '../../../platform/json-text.ts';
import { compilePattern, MAX_PATTERN_CHARACTERS, MAX_PATTERN_SIZE, patternSize } from '../pattern.ts';
import { bytesOf, textOf } from './encoders.ts';
import type { CelNumber } from './numbers.ts';
import { timeMethods } from './time.ts';
import {
  type Budget,
  Bytes,
  CelError,
  type CelMap,
  type CelValue,
  Duration,
  isMap,
  quote,
  Timestamp,
  typeName,
} from './values.ts';

/**
 * The functions that an expression may call. The compiler looks them up in this Map only, so that no name in an
 * expression can reach JavaScript.
 */
export type CelFunction = {
  /** The permitted numbers of arguments, including the receiver. */
  readonly arity: readonly number[];
  readonly call: (args: CelValue[], budget: Budget) => CelValue;
};

function text(value: CelValue | undefined, what: string): string {
  if (typeof value === 'string') return value;
  throw new CelError(`${what} takes a string, not ${typeName(value ?? null)}`);
}
function number(value: CelValue | undefined, what: string): number {
  if (typeof value === 'number') return value;
  throw new CelError(`${what} takes a number, not ${typeName(value ?? null)}`);
}

function size(value: CelValue | undefined, budget: Budget): number {
  if (typeof value === 'string') {
    budget.spendText(value.length);
    let count = 0;
    for (const _ of value) count++;
    return count;
  }
  if (Array.isArray(value)) return value.length;
  if (value instanceof Bytes) return value.data.length;
  if (value !== undefined && isMap(value)) {
    const { length } = Object.keys(value);
    budget.spend(length);
    return length;
  }
  throw new CelError(`size takes a string, bytes, list or map, not ${typeName(value ?? null)}`);
}

const UNIT_MS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, ns: 1e-6 };

/** Parses a duration such as `1h30m`, `-1.5s` or `250ms`, in Go's syntax, as CEL prescribes. */
function duration(value: string): Duration {
  const parts = /^([-+]?)((?:\d+(?:\.\d+)?(?:h|ms|us|ns|m|s))+)$/.exec(value.slice(0, 100));
  if (!parts) throw new CelError('duration takes a text such as "1h30m" or "90s"');
  let ms = 0;
  for (const [, amount, unit] of (parts[2] ?? '').matchAll(/(\d+(?:\.\d+)?)(h|ms|us|ns|m|s)/g)) {
    ms += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  }
  return new Duration(parts[1] === '-' ? -ms : ms);
}

function timestamp(value: string): Timestamp {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[-+]\d\d:\d\d)$/.test(value)
    ? Date.parse(value)
    : Number.NaN;
  if (Number.isNaN(ms)) throw new CelError('timestamp takes an RFC 3339 text such as "2026-01-31T12:00:00Z"');
  return new Timestamp(ms);
}

function toNumber(value: CelValue | undefined, name: string): CelNumber {
  const result = isNumber(value)
    ? value
    : typeof value === 'string' && value.length < 400 && value.trim() !== ''
      ? readNumber(value)
      : value instanceof Timestamp
        ? value.ms / 1000
        : Number.NaN;
  if (typeof result === 'number' && !Number.isFinite(result))
    throw new CelError(`${name} cannot convert ${quote(value ?? null)}`);
  return result;
}

/** `int(x)` and `uint(x)`. Throws CelError for an integer that their 64 bits cannot hold. */
const toInteger =
  (name: 'int' | 'uint'): CelFunction['call'] =>
  ([value]) => {
    const number = toNumber(value, name);
    const whole = typeof number === 'number' ? canonicalNumber(Math.trunc(number)) : number;
    const { min, max } = INTEGER_RANGES[name];
    if (whole < min || whole > max) throw new CelError(`${quote(whole)} is out of the range of ${name}`);
    return whole;
  };
const INTEGER_RANGES = {
  int: { min: -(2n ** 63n), max: 2n ** 63n - 1n },
  uint: { min: 0n, max: 2n ** 64n - 1n },
} as const;

function toText(value: CelValue, budget: Budget): string {
  if (typeof value === 'string') return value;
  if (isNumber(value) || typeof value === 'boolean') return String(value);
  if (value instanceof Timestamp) return new Date(value.ms).toISOString();
  if (value instanceof Duration) return `${value.ms / 1000}s`;
  if (value instanceof Bytes) return textOf(value, budget);
  throw new CelError(`string cannot convert ${typeName(value)}`);
}

function toBool(value: CelValue | undefined): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new CelError(`bool cannot convert ${quote(value ?? null)}`);
}

function join(list: CelValue | undefined, separator: string, budget: Budget): string {
  if (!Array.isArray(list)) throw new CelError(`join takes a list, not ${typeName(list ?? null)}`);
  const texts = list.map(item => text(item, 'join'));
  budget.spend(texts.length);
  budget.spendText(texts.reduce((sum, item) => sum + item.length + separator.length, 0));
  return texts.join(separator);
}

/**
 * V8 finds a text of at most this length in linear time. For a longer one, the time is proportional to both lengths.
 */
const QUICKLY_FOUND_CHARACTERS = 250;
const SLOW_STEPS_PER_UNIT = 512;

/** Charges the cost of searching for one text in another. */
function chargeSearch(budget: Budget, subject: string, needle: string): void {
  budget.spendText(subject.length + needle.length);
  const slow = Math.max(0, Math.min(needle.length, subject.length) - QUICKLY_FOUND_CHARACTERS);
  budget.spend(Math.ceil((slow * subject.length) / SLOW_STEPS_PER_UNIT));
}

type Charge = (budget: Budget, subject: string, other: string) => void;
const chargeSubject: Charge = (budget, subject) => budget.spendText(subject.length);
const chargeShorter: Charge = (budget, subject, other) => budget.spendText(Math.min(subject.length, other.length));

const onText =
  (name: string, charge: Charge, apply: (value: string, other: string) => CelValue): CelFunction['call'] =>
  ([value, other], budget) => {
    const subject = text(value, name);
    const argument = other === undefined ? '' : text(other, name);
    charge(budget, subject, argument);
    return apply(subject, argument);
  };

/** Functions that are called as `f(x)`. */
export const globalFunctions: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ['size', { arity: [1], call: ([value], budget) => size(value, budget) }],
  ['string', { arity: [1], call: ([value = null], budget) => toText(value, budget) }],
  ['bytes', { arity: [1], call: ([value], budget) => bytesOf(value, 'bytes', budget) }],
  ['int', { arity: [1], call: toInteger('int') }],
  ['uint', { arity: [1], call: toInteger('uint') }],
  ['double', { arity: [1], call: ([value]) => canonicalNumber(Number(toNumber(value, 'double'))) }],
  ['bool', { arity: [1], call: ([value]) => toBool(value) }],
  ['type', { arity: [1], call: ([value = null]) => typeName(value) }],
  ['dyn', { arity: [1], call: ([value = null]) => value }],
  [
    'timestamp',
    { arity: [1], call: ([value]) => (value instanceof Timestamp ? value : timestamp(text(value, 'timestamp'))) },
  ],
  [
    'duration',
    { arity: [1], call: ([value]) => (value instanceof Duration ? value : duration(text(value, 'duration'))) },
  ],
  ['matches', { arity: [2], call: matches }],
]);

/** The units for compiling one instruction of a pattern. */
const COMPILE_UNITS = 10;

function matches([value, source]: CelValue[], budget: Budget): boolean {
  const subject = text(value, 'matches');
  const pattern = text(source, 'matches');
  if (pattern.length > MAX_PATTERN_CHARACTERS) {
    throw new CelError(`a pattern may have at most ${MAX_PATTERN_CHARACTERS} characters`);
  }
  const size = patternSize(pattern);
  if (size > MAX_PATTERN_SIZE) throw new CelError(`the pattern ${quote(pattern)} is too large: repeat less often`);
  budget.spend(size * (COMPILE_UNITS + subject.length));
  const regex = compilePattern(pattern);
  if (!regex) throw new CelError(`${quote(pattern)} is not a pattern in RE2 syntax`);
  return regex.matcher(subject).find();
}

function substring([value, from, to]: CelValue[], budget: Budget): string {
  const subject = text(value, 'substring');
  budget.spendText(subject.length);
  const start = number(from, 'substring');
  const end = to === undefined ? subject.length : number(to, 'substring');
  if (start < 0 || end > subject.length || start > end) throw new CelError('substring is out of range');
  return subject.slice(start, end);
}

/** Splits a text. Never makes more parts than the budget can pay for. */
function split(subject: string, separator: string, budget: Budget): string[] {
  chargeSearch(budget, subject, separator);
  const parts = subject.split(separator, budget.left + 1);
  budget.spend(parts.length);
  return parts;
}

function replace([value, search, by]: CelValue[], budget: Budget): string {
  const needle = text(search, 'replace');
  const replacement = text(by, 'replace');
  const parts = split(text(value, 'replace'), needle, budget);
  budget.spendText(Math.max(0, parts.length - 1) * replacement.length);
  return parts.join(replacement);
}

/** Functions that are called as `x.f(y)`. The receiver is the first argument. */
export const methods: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ['size', { arity: [1], call: ([value], budget) => size(value, budget) }],
  ['contains', { arity: [2], call: onText('contains', chargeSearch, (value, other) => value.includes(other)) }],
  ['startsWith', { arity: [2], call: onText('startsWith', chargeShorter, (value, other) => value.startsWith(other)) }],
  ['endsWith', { arity: [2], call: onText('endsWith', chargeShorter, (value, other) => value.endsWith(other)) }],
  ['indexOf', { arity: [2], call: onText('indexOf', chargeSearch, (value, other) => value.indexOf(other)) }],
  ['matches', { arity: [2], call: matches }],
  ['lowerAscii', { arity: [1], call: onText('lowerAscii', chargeSubject, value => value.toLowerCase()) }],
  ['upperAscii', { arity: [1], call: onText('upperAscii', chargeSubject, value => value.toUpperCase()) }],
  ['trim', { arity: [1], call: onText('trim', chargeSubject, value => value.trim()) }],
  ['substring', { arity: [2, 3], call: substring }],
  ['replace', { arity: [3], call: replace }],
  [
    'split',
    {
      arity: [2],
      call: ([value, separator], budget) => split(text(value, 'split'), text(separator, 'split'), budget),
    },
  ],
  ['join', { arity: [1, 2], call: ([list, separator = ''], budget) => join(list, text(separator, 'join'), budget) }],
  ...timeMethods,
]);

/** Returns the keys or elements over which a macro loops. */
export function iterate(value: CelValue, budget: Budget): CelValue[] {
  const items = Array.isArray(value) ? value : isMap(value) ? Object.keys(value as CelMap) : undefined;
  if (!items) throw new CelError(`a list or map expected, not ${typeName(value)}`);
  budget.spend(items.length);
  return items;
}
