import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonMap } from '../../core/index.ts';
import { CelError, expression } from './index.ts';

const input: JsonMap = {
  id: 7615917337495251231n,
  large: 18446744073709551615n,
  n: 9007199254740991,
  small: 1,
  f: 1.5,
};
const evaluate = (text: string) =>
  expression(text).evaluate({ input, result: () => null, ancestors: () => new Set<string>() });

describe('64-bit integers', () => {
  test.each([
    'input.id == 7615917337495251231',
    'input.id != 7615917337495251000',
    'input.id in [1, 7615917337495251231]',
    'input.large == 18446744073709551615u && 18446744073709551615 == input.large',
    'input.n + 2 == 9007199254740993',
    'input.n + 2 != 9007199254740992',
    'input.n * 1000 == 9007199254740991000',
    'input.id - input.id == 0 && type(input.id - input.id) == "int"',
    'input.id + 1 > input.id && input.id < input.large && -input.id < input.small',
    'input.id > 1.5 && input.f < input.id',
    'input.id % 10 == 1',
    'input.id / input.id == 1',
    '3 * 3000000000000000001 / 3 == 3000000000000000001',
    '7 / 2 == 3.5 && 9007199254740993 / 2 == 4503599627370496.5',
    '-9223372036854775808 < 0 && -9223372036854775808 == int("-9223372036854775808")',
    'string(input.id) == "7615917337495251231"',
    'int("7615917337495251231") == input.id && uint("18446744073709551615") == input.large',
    'double(input.id) > 7.6e18 && double(input.id) < 7.7e18',
    'type(input.id) == "int" && type(input.large) == "uint"',
    'dyn(input.id) == input.id',
    '{"a": input.id} == {"a": 7615917337495251231}',
    '!has(input.list) && !(input.id in {"a": 1})',
  ])('%s is true', text => expect(evaluate(text)).toBe(true));

  test.each([
    ['input.large + 1', 'more than 64 bits'],
    ['input.id * input.id', 'more than 64 bits'],
    ['-input.large', 'more than 64 bits'],
    ['input.id % 0', 'division by zero'],
    ['input.id / 0', 'division by zero'],
    ['int(input.large)', 'out of the range of int'],
    ['uint(-1)', 'out of the range of uint'],
    ['int("18446744073709551616")', 'int cannot convert'],
    ['1e300 * 1e300', 'not a finite number'],
    ['[1][input.id]', 'there is no'],
    ['input.id + "x"', 'int + string is not defined'],
  ])('%s fails and says why', (text, message) => {
    expect(() => evaluate(text)).toThrow(CelError);
    expect(() => evaluate(text)).toThrow(message);
  });

  test('calculate exactly, or fail', () => {
    const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(integer, integer, fc.constantFrom('+', '-', '*'), (a, b, operator) => {
        const exact = operator === '+' ? a + b : operator === '-' ? a - b : a * b;
        const fits = exact >= -(2n ** 63n) && exact <= 2n ** 64n - 1n;
        const literal = (value: bigint) => (value < 0n ? `(${value})` : String(value));
        // -9223372036854775809 and lower numbers are not literals.
        if (fits) expect(evaluate(`string(${literal(a)} ${operator} ${literal(b)})`)).toBe(String(exact));
        else expect(() => evaluate(`${literal(a)} ${operator} ${literal(b)}`)).toThrow('more than 64 bits');
      }),
    );
  });
});
