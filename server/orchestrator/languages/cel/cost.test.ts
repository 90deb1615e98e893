import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encoders } from './encoders.ts';
import { type CelFunction, globalFunctions, iterate, methods } from './functions.ts';
import { expression, SMALL_UNITS } from './index.ts';
import { arithmetic, Budget, Bytes, CelError, type CelValue, compare, equal, Timestamp } from './values.ts';

/**
 * The cost of an evaluation bounds its time. Every function and operator gets the largest and most repetitive arguments
 * possible, and none may take more time per unit than the limits of expression.ts assume. Measured is the CPU time of
 * this process, and the least of ten tries, so that neither other load nor garbage collection counts.
 */
const MAX_US_PER_UNIT = 1;
/** A function may scan its arguments before it knows their cost, but only once and for at most this time. */
const MAX_UNCHARGED_MS = 30;

const functions: [string, CelFunction][] = [
  ...[...globalFunctions].map(([name, found]): [string, CelFunction] => [name, found]),
  ...[...methods].map(([name, found]): [string, CelFunction] => [`.${name}`, found]),
  ...encoders,
  ['+', { arity: [2], call: ([a = null, b = null], budget) => arithmetic('+', a, b, budget) }],
  ['==', { arity: [2], call: ([a = null, b = null], budget) => equal(a, b, budget) }],
  ['<', { arity: [2], call: ([a = null, b = null], budget) => compare(a, b, '<', budget) }],
  ['iterate', { arity: [1], call: ([a = null], budget) => iterate(a, budget) }],
];

const long = 'a'.repeat(500_000);
const extremes: CelValue[] = [
  long,
  `${'a'.repeat(499_999)}b`,
  `aa${'b'}${'a'.repeat(10_000)}`,
  'a'.repeat(60_000),
  ' '.repeat(500_000),
  '\u{1f600}'.repeat(100_000),
  '',
  'a',
  'a'.repeat(30),
  '(?:.?){1000}'.repeat(80),
  '(a?){400}b',
  '(?i)\\pL{1000}',
  '[^\\pL]'.repeat(160),
  Array.from({ length: 200_000 }, () => 'a'),
  Array.from({ length: 50 }, () => long),
  Array.from({ length: 100_000 }, (_, n) => [n]),
  Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n])),
  1,
  new Bytes(Buffer.alloc(500_000, 'a')),
  new Bytes(Buffer.alloc(500_000, 0xff)),
  new Timestamp(0),
  'Europe/Berlin',
  'YWJj'.repeat(125_000),
];

/** Values for a third argument. */
const few: CelValue[] = [long, '', 'a', 1];

/** Returns all combinations of this many extreme values. */
function* combinations(count: number): Generator<CelValue[]> {
  if (count === 0) yield [];
  else
    for (const rest of combinations(count - 1)) for (const value of count > 2 ? few : extremes) yield [...rest, value];
}

/** Returns the cost of a call in ms of CPU time and in units. A refused call counts as the whole budget. */
function measure(call: CelFunction['call'], args: CelValue[], units: number): { ms: number; units: number } {
  const budget = new Budget(units);
  const before = process.cpuUsage();
  let isRefused = false;
  try {
    call(args, budget);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    isRefused = error.code === 'expression_too_costly';
  }
  const { user, system } = process.cpuUsage(before);
  expect(budget.left).toBeLessThanOrEqual(units);
  return { ms: (user + system) / 1000, units: isRefused ? units : units - budget.left };
}

describe('the cost of', () => {
  test.each(functions)('%s bounds its time', (name, { arity, call }) => {
    const allowed = (units: number) => MAX_UNCHARGED_MS + (units * MAX_US_PER_UNIT) / 1000;
    for (const args of arity.flatMap(count => [...combinations(count)])) {
      const tries = () => measure(call, args, SMALL_UNITS);
      let spent = tries();
      for (let again = 0; again < 9 && spent.ms > allowed(spent.units); again++) spent = tries();
      if (spent.ms > allowed(spent.units)) {
        const shown = args.map(arg => JSON.stringify(arg).slice(0, 20)).join(', ');
        expect.fail(`${name}(${shown}) takes ${spent.ms} ms for ${spent.units} units`);
      }
    }
  });

  test('texts is exact and never negative, whatever their lengths', () => {
    const length = fc.integer({ min: 0, max: 2 ** 40 });
    fc.assert(
      fc.property(length, characters => {
        const budget = new Budget(2 ** 50);
        budget.spendText(characters);
        expect(2 ** 50 - budget.left).toBe(Math.ceil(characters / 8));
      }),
    );
  });

  test.each([-1, Number.NaN])('%s costs nothing', units => {
    expect(() => new Budget(10).spend(units)).toThrow(RangeError);
  });

  test('a replacement whose length does not fit in 32 bits is refused before it is made', () => {
    const input = { long: 'a'.repeat(131_072), by: 'b'.repeat(32_768) };
    const scope = { input, result: () => null, ancestors: () => new Set<string>() };
    expect(() => expression('input.long.replace("a", input.by) == ""').evaluate(scope)).toThrow(
      expect.objectContaining({ code: 'expression_too_costly' }),
    );
  });
});

describe('the limits of an evaluation', () => {
  test('hold at, below and above the units', () => {
    new Budget(10).spend(10);
    expect(() => new Budget(10).spend(11)).toThrow(CelError);
    const budget = new Budget(10);
    for (let n = 0; n < 10; n++) budget.spend(1);
    expect(() => budget.spend(1)).toThrow(CelError);
  });

  test('include a deadline, which is checked during evaluation', () => {
    const budget = new Budget(1_000_000, -1);
    expect(() => {
      for (let n = 0; n < 2_000; n++) budget.spend(1);
    }).toThrow(expect.objectContaining({ code: 'expression_too_costly' }));
  });
});
