import { RE2JS } from 're2js';
import {
  type Budget,
  CelError,
  type CelMap,
  type CelValue,
  Duration,
  isMap,
  spend,
  Timestamp,
  typeName,
} from './values.ts';

/**
 * The functions an expression may call: this table and nothing else, looked up in a Map when the expression is
 * compiled, so that no name in an expression can reach JavaScript.
 */
export type CelFunction = {
  /** How many arguments, the receiver included. */
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
    spend(budget, value.length >> 3);
    let count = 0;
    for (const _ of value) count++;
    return count;
  }
  if (Array.isArray(value)) return value.length;
  if (value !== undefined && isMap(value)) {
    const { length } = Object.keys(value);
    spend(budget, length);
    return length;
  }
  throw new CelError(`size takes a string, list or map, not ${typeName(value ?? null)}`);
}

const UNIT_MS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, ns: 1e-6 };

/** `1h30m`, `-1.5s`, `250ms`: Go's syntax, as CEL prescribes. */
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

// Patterns are compiled once; re2js runs in linear time, so that no text can stall the process (ReDoS).
const patterns = new Map<string, RE2JS>();
const LONGEST_PATTERN = 1_000;
function pattern(source: string): RE2JS {
  const known = patterns.get(source);
  if (known) return known;
  if (source.length > LONGEST_PATTERN) throw new CelError(`a pattern may have at most ${LONGEST_PATTERN} characters`);
  try {
    const compiled = RE2JS.compile(source);
    if (patterns.size >= 500) patterns.clear();
    patterns.set(source, compiled);
    return compiled;
  } catch {
    throw new CelError(`"${source.slice(0, 80)}" is not a pattern in RE2 syntax`);
  }
}

function toNumber(value: CelValue | undefined, name: string): number {
  const result =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && value.trim() !== '' && value.length < 400
        ? Number(value)
        : value instanceof Timestamp
          ? value.ms / 1000
          : Number.NaN;
  if (!Number.isFinite(result))
    throw new CelError(`${name} cannot convert ${JSON.stringify(value ?? null).slice(0, 60)}`);
  return result;
}

function toText(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value instanceof Timestamp) return new Date(value.ms).toISOString();
  if (value instanceof Duration) return `${value.ms / 1000}s`;
  throw new CelError(`string cannot convert ${typeName(value)}`);
}

function toBool(value: CelValue | undefined): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new CelError(`bool cannot convert ${JSON.stringify(value ?? null).slice(0, 60)}`);
}

function join(list: CelValue | undefined, separator: string, budget: Budget): string {
  if (!Array.isArray(list)) throw new CelError(`join takes a list, not ${typeName(list ?? null)}`);
  const texts = list.map(item => text(item, 'join'));
  spend(
    budget,
    texts.reduce((sum, item) => sum + 1 + ((item.length + separator.length) >> 3), 0),
  );
  return texts.join(separator);
}

function clock(part: (date: Date) => number, ms: (value: Duration) => number): CelFunction['call'] {
  return ([value]) => {
    if (value instanceof Timestamp) return part(new Date(value.ms));
    if (value instanceof Duration) return ms(value);
    throw new CelError(`a timestamp expected, not ${typeName(value ?? null)}`);
  };
}
const noDuration = (): never => {
  throw new CelError('a timestamp expected, not duration');
};
const charge = (budget: Budget, ...texts: string[]): void => {
  for (const item of texts) spend(budget, item.length >> 3);
};
const onText =
  (name: string, apply: (value: string, other: string) => CelValue): CelFunction['call'] =>
  ([value, other], budget) => {
    const a = text(value, name);
    const b = other === undefined ? '' : text(other, name);
    charge(budget, a, b);
    return apply(a, b);
  };

/** `f(x)`. */
export const globalFunctions: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ['size', { arity: [1], call: ([value], budget) => size(value, budget) }],
  ['string', { arity: [1], call: ([value = null]) => toText(value) }],
  ['int', { arity: [1], call: ([value]) => Math.trunc(toNumber(value, 'int')) }],
  ['uint', { arity: [1], call: ([value]) => Math.trunc(toNumber(value, 'uint')) }],
  ['double', { arity: [1], call: ([value]) => toNumber(value, 'double') }],
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

function matches([value, source]: CelValue[], budget: Budget): boolean {
  const subject = text(value, 'matches');
  const regex = text(source, 'matches');
  // Linear in both, but with a larger constant than anything else here.
  spend(budget, subject.length * Math.max(1, regex.length >> 2) + regex.length * 10);
  return pattern(regex).matcher(subject).find();
}

function substring([value, from, to]: CelValue[], budget: Budget): string {
  const subject = text(value, 'substring');
  charge(budget, subject);
  const start = number(from, 'substring');
  const end = to === undefined ? subject.length : number(to, 'substring');
  if (start < 0 || end > subject.length || start > end) throw new CelError('substring is out of range');
  return subject.slice(start, end);
}

function replace([value, search, by]: CelValue[], budget: Budget): string {
  const subject = text(value, 'replace');
  const needle = text(search, 'replace');
  const replacement = text(by, 'replace');
  // The worst case: one replacement for each character.
  spend(budget, (subject.length * Math.max(1, replacement.length)) >> (needle === '' ? 0 : 3));
  return subject.split(needle).join(replacement);
}

/** `x.f(y)`: the receiver is the first argument. */
export const methods: ReadonlyMap<string, CelFunction> = new Map<string, CelFunction>([
  ['size', { arity: [1], call: ([value], budget) => size(value, budget) }],
  ['contains', { arity: [2], call: onText('contains', (value, other) => value.includes(other)) }],
  ['startsWith', { arity: [2], call: onText('startsWith', (value, other) => value.startsWith(other)) }],
  ['endsWith', { arity: [2], call: onText('endsWith', (value, other) => value.endsWith(other)) }],
  ['indexOf', { arity: [2], call: onText('indexOf', (value, other) => value.indexOf(other)) }],
  ['matches', { arity: [2], call: matches }],
  ['lowerAscii', { arity: [1], call: onText('lowerAscii', value => value.toLowerCase()) }],
  ['upperAscii', { arity: [1], call: onText('upperAscii', value => value.toUpperCase()) }],
  ['trim', { arity: [1], call: onText('trim', value => value.trim()) }],
  ['substring', { arity: [2, 3], call: substring }],
  ['replace', { arity: [3], call: replace }],
  [
    'split',
    {
      arity: [2],
      call: ([value, separator], budget) => {
        const parts = text(value, 'split').split(text(separator, 'split'));
        spend(budget, parts.length + (text(value, 'split').length >> 3));
        return parts;
      },
    },
  ],
  ['join', { arity: [1, 2], call: ([list, separator = ''], budget) => join(list, text(separator, 'join'), budget) }],
  ['getFullYear', { arity: [1], call: clock(date => date.getUTCFullYear(), noDuration) }],
  ['getMonth', { arity: [1], call: clock(date => date.getUTCMonth(), noDuration) }],
  ['getDate', { arity: [1], call: clock(date => date.getUTCDate(), noDuration) }],
  ['getDayOfMonth', { arity: [1], call: clock(date => date.getUTCDate() - 1, noDuration) }],
  ['getDayOfWeek', { arity: [1], call: clock(date => date.getUTCDay(), noDuration) }],
  [
    'getHours',
    {
      arity: [1],
      call: clock(
        date => date.getUTCHours(),
        value => Math.trunc(value.ms / 3_600_000),
      ),
    },
  ],
  [
    'getMinutes',
    {
      arity: [1],
      call: clock(
        date => date.getUTCMinutes(),
        value => Math.trunc(value.ms / 60_000),
      ),
    },
  ],
  [
    'getSeconds',
    {
      arity: [1],
      call: clock(
        date => date.getUTCSeconds(),
        value => Math.trunc(value.ms / 1000),
      ),
    },
  ],
  [
    'getMilliseconds',
    {
      arity: [1],
      call: clock(
        date => date.getUTCMilliseconds(),
        value => Math.trunc(value.ms % 1000),
      ),
    },
  ],
]);

/** Keys or elements: what a macro loops over. */
export function iterate(value: CelValue, budget: Budget): CelValue[] {
  const items = Array.isArray(value) ? value : isMap(value) ? Object.keys(value as CelMap) : undefined;
  if (!items) throw new CelError(`a list or map expected, not ${typeName(value)}`);
  spend(budget, items.length);
  return items;
}
