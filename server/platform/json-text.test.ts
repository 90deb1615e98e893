import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalNumber, JsonNumberError, markNumbers, parseJson, readJson, reviveNumbers } from './json-text.ts';

/** Integers that a double rounds, at the limits of 2^53, 2^63 and 2^64. */
const LARGE = [
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '7615917337495251231',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '18446744073709551615',
];
const TOO_LARGE = ['18446744073709551616', '-9223372036854775809', '1'.repeat(400), '123456789012345678901234567890'];
const OVERFLOWING = ['1e400', '-1e309', '1.5E+999'];

const problemOf = (text: string): { path: string; problem: string } | null => {
  try {
    parseJson(text);
    return null;
  } catch (error) {
    if (error instanceof JsonNumberError) return { path: error.path, problem: error.problem };
    throw error;
  }
};

describe('parseJson', () => {
  test.each(LARGE)('keeps the digits of %s', digits => {
    expect(parseJson(digits)).toBe(BigInt(digits));
    const text = `{"a":[1,{"id":${digits}}],"b":"${digits}"}`;
    expect(JSON.stringify(parseJson(text))).toBe(text);
    expect(JSON.stringify(readJson(text))).toBe(text);
  });

  test('keeps every other number as a number', () => {
    const values = '[0,-0,1,9007199254740991,-9007199254740991,0.1234567890123456789,1e3,1E-7,12345678901234.5]';
    expect(parseJson(values)).toEqual(JSON.parse(values));
    expect(parseJson('12')).toBe(12);
  });

  test('reads an integer that is written with an exponent as its stored text is read', () => {
    for (const text of ['1e17', '9.223372036854776e18', '123456789012345e2']) {
      const value = parseJson(text);
      expect(typeof value).toBe('bigint');
      expect(readJson(JSON.stringify(value))).toBe(value);
    }
    expect(parseJson('1e20')).toBe(1e20);
    expect(parseJson(JSON.stringify(parseJson('[1e20]')))).toEqual([1e20]);
  });

  test.each(TOO_LARGE)('refuses %s with its path, and never rounds it', digits => {
    const refused = problemOf(`{"a":[1,{"id":${digits}}]}`);
    expect(refused?.path).toBe('a[1].id');
    expect(refused?.problem).toMatch(/^is the integer -?\d+…?, which has more than 64 bits; send it as text$/);
    expect(problemOf(digits)?.path).toBe('');
    // What was stored before this rule remains readable.
    expect(readJson(`[${digits}]`)).toEqual([Number(digits)]);
  });

  test.each(OVERFLOWING)('refuses %s, which no double holds', text => {
    expect(problemOf(`{"params":{"x":${text}}}`)).toEqual({
      path: 'params.x',
      problem: `is the number ${text}, which is too large for a double`,
    });
  });

  test('throws a SyntaxError for text that is not JSON', () => {
    for (const text of [
      '',
      '{',
      '[1234567890123456789',
      '{"a":01234567890123456789}',
      '{"a":"1234567890123456789}',
      '[1e400',
    ])
      expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test('never changes texts and keys', () => {
    const text = JSON.stringify({
      '1234567890123456789': '[9007199254740993, "x"]',
      '\\"9007199254740993': '\\\\"',
      __proto__x: ':9007199254740993,',
      marked: markNumbers('[9007199254740993]'),
      '\0mark': '\0mark:9007199254740993',
    });
    expect(JSON.stringify(parseJson(text))).toBe(text);
    const own = parseJson('{"__proto__":9007199254740993}');
    expect(Object.entries(own ?? {})).toEqual([['__proto__', 9007199254740993n]]);
    expect(Object.getPrototypeOf(own)).toBe(Object.prototype);
  });

  test('reads any JSON as JSON.parse does, except large integers', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }).map(canonicalNumber),
    );
    const leaf = fc.oneof(
      number,
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '\\', ':1e9', ',1234567890123456789'),
    );
    const { value } = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf.map(each => (typeof each === 'number' ? canonicalNumber(each) : each)),
        fc.array(tie('value')),
        fc.dictionary(fc.string({ unit: 'binary' }), tie('value')),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (each, indent) => {
        const text = JSON.stringify(each, null, indent);
        expect(JSON.stringify(parseJson(text), null, indent)).toBe(text);
        expect(parseJson(text)).toEqual(readJson(text));
      }),
    );
  });

  test('is not recursive, and takes linear time', () => {
    const deep = `${'['.repeat(2_000)}9007199254740993${']'.repeat(2_000)}`;
    expect(problemOf(deep)).toBeNull();
    const long = `[${'"\\\\\\"",'.repeat(100_000)}9007199254740993]`;
    expect((parseJson(long) as unknown[]).at(-1)).toBe(9007199254740993n);
  });
});

test('reviveNumbers restores marked numbers in place after another parser', () => {
  const marked: { a: string; list: string[] } = JSON.parse(markNumbers('{"a":9007199254740993,"list":[1e400]}'));
  expect(reviveNumbers(marked)).toEqual({ a: 9007199254740993n, list: [Number.POSITIVE_INFINITY] });
});
